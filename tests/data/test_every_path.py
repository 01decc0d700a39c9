"""The same photographs in every orientation, mode and format, through every path."""

import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit import create_model, runtime
from keras_vit.data import evaluation_batches, open_images, training_batches
from keras_vit.data.targets import Classes
from keras_vit.export.rewrite import patch_convolution
from keras_vit.export.serving.signatures import Pixels
from keras_vit.layers import Preprocessing
from keras_vit.training import evaluate
from tests.data.pictures import as_rgb, in_every_form, photograph

# Some 70 files by five roads.
pytestmark = pytest.mark.prove

SQUASH = Preprocessing(image_size=(32, 24))
CROP = Preprocessing(image_size=32, resize="crop", crop=0.875)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photographs")
    for number, size in enumerate([(61, 47), (40, 67)]):
        for name, encoded in in_every_form(photograph(*size, seed=number)).items():
            (folder / f"{number} {name}.png").write_bytes(encoded)
    return sorted(folder.iterdir())


def by_pillow(path, value):
    """What the model should see, by Pillow alone."""
    image = Image.fromarray(as_rgb(path.read_bytes()))
    (high, wide), (height, width) = value.image_size, (image.height, image.width)
    kernel = Image.Resampling[value.interpolation.upper()]
    if value.resize == "squash":
        return np.asarray(image.resize((wide, high), kernel), "float32")
    short = int(high / value.crop)
    size = (width * short // min(width, height), height * short // min(width, height))
    left, top = (round((side - high) / 2) for side in size)
    return np.asarray(
        image.resize(size, kernel).crop((left, top, left + wide, top + high)), "float32"
    )


def evaluated(files, value):
    return np.concatenate([x for x, *_ in evaluation_batches(open_images(files), value, 16)])


def trained(cache_bytes):
    def images(files, value):
        """Training images, normalised, brought back to pixels and to the files' order."""
        count = len(files)
        records = dataclasses.replace(
            open_images(files), targets=Classes(range(count), range(count))
        )
        batches = training_batches(records, value, count, seed=3, cache_bytes=cache_bytes)
        ((images, labels),) = itertools.islice(batches.as_numpy_iterator(), 1)
        pixels = (images * value.std + value.mean) * 255
        return pixels[np.argsort(labels.argmax(axis=1))]

    return images


def predicted(files, value):
    import keras

    model = keras.Sequential([keras.Input((*value.image_size, 3)), keras.layers.Flatten()])
    model.preprocessing = value
    predictor = runtime.open(model)
    return np.stack([predictor._pixels(path) for path in files])


def served(files, value, tmp_path):
    """What the bytes signature hands to a model, after a round through a SavedModel, as pixels."""
    import keras

    graph = keras.Sequential([keras.Input((*value.image_size, 3)), keras.layers.Flatten()])
    graph.preprocessing = value
    bytes_of_pictures = {"serving_bytes": Pixels(graph).of_pictures()}
    tf.saved_model.save(tf.Module(), str(tmp_path), signatures=bytes_of_pictures)
    serve = tf.saved_model.load(str(tmp_path)).signatures["serving_bytes"]
    logits = serve(image_bytes=tf.constant([path.read_bytes() for path in files]))["logits"]
    images = logits.numpy().reshape(-1, *value.image_size, 3)
    return (images * value.std + value.mean) * 255


@pytest.mark.parametrize("value", [SQUASH, CROP], ids=["squash", "crop"])
def test_pixels_are_pillows(files, value, tmp_path):
    expected = np.stack([by_pillow(path, value) for path in files])
    paths = {
        "evaluation": evaluated(files, value),
        "training from files": trained(0)(files, value),
        "training from memory": trained(2**30)(files, value),
        "prediction": predicted(files, value),
        "serving": served(files, value, tmp_path),
    }
    for name, got in paths.items():
        apart = np.abs(got - expected).max(axis=(1, 2, 3))
        wrong = [(path.stem, float(d)) for path, d in zip(files, apart, strict=True) if d > 2]
        assert not wrong, (name, wrong)
    # The photographs are not so plain that a wrong turn would pass.
    turned = {path.stem: image for path, image in zip(files, expected, strict=True)}
    assert np.abs(turned["0 jpeg 1"] - turned["0 jpeg 3"]).mean() > 10


def test_top_1_is_the_same(files):
    value = dataclasses.replace(CROP, class_names=tuple("abcdefg"))
    model = create_model(
        "vit_ti16", image_size=32, depth=1, num_classes=7, preprocessing=dataclasses.asdict(value)
    )
    predictor = runtime.open(model)
    seen = np.stack([by_pillow(path, value) for path in files])
    expected = predictor.logits(seen).argmax(axis=1)
    count = len(files)
    records = dataclasses.replace(open_images(files), targets=Classes("abcdefg", [0] * count))
    assert evaluate(predictor, records).predictions.tolist() == expected.tolist()
    names = [answers[0][0] for answers in predictor.predict_files(files, top=1)]
    assert names == ["abcdefg"[number] for number in expected]
    graph = patch_convolution(model)
    graph.preprocessing = value
    serve = Pixels(graph).of_pictures()
    logits = serve(tf.constant([path.read_bytes() for path in files]))["logits"]
    assert logits.numpy().argmax(axis=1).tolist() == expected.tolist()
