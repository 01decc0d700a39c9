"""What all predictors share: checks of the pixels, the best classes, picture files."""

import numpy as np
import pytest
from PIL import Image

from keras_vit.layers import Preprocessing
from keras_vit.runtime.predictor import BATCH_SIZE, Predictor, sigmoid, softmax


class MeanBrightness(Predictor):
    """Logits: the mean pixel and 100."""

    def _run(self, pixels):
        mean = pixels.mean(axis=(1, 2, 3))
        return np.stack([mean, np.full(len(mean), 100.0)], axis=1)


def predictor(class_names=("bright", "dark"), **fields):
    preprocessing = Preprocessing(
        (4, 6), mean=(0.5,), std=(0.5,), class_names=class_names, **fields
    )
    return MeanBrightness(None, preprocessing, 0)


def picture(path, level):
    Image.new("L", (20, 30), level).save(path)
    return path


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_logits_are_float32_whatever_the_pixels_are(dtype):
    logits = predictor().logits(np.full((3, 4, 6, 1), 7, dtype))
    assert logits.dtype == np.float32
    assert logits.tolist() == [[7, 100]] * 3


def test_no_image_gives_no_row():
    assert predictor().logits(np.zeros((0, 4, 6, 1))).shape == (0, 2)


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.zeros((4, 6, 1)), r"shape \[b, 4, 6, 1\]. Received: shape=\(4, 6, 1\)"),
        (np.zeros((1, 6, 4, 1)), "Received: shape"),
        (np.full((1, 4, 6, 1), -1.0), "raw values.*Received: values from -1.0 to -1.0"),
        (np.full((1, 4, 6, 1), 256), "from 256 to 256"),
        (np.full((1, 4, 6, 1), np.nan), "raw values"),
    ],
)
def test_wrong_pixels_are_refused(pixels, message):
    with pytest.raises(ValueError, match=message):
        predictor().logits(pixels)


def test_picture_files_in_several_batches(tmp_path):
    levels = [200, 0, 101, *[150] * BATCH_SIZE]
    paths = [picture(tmp_path / f"{i}.png", level) for i, level in enumerate(levels)]
    results = predictor().predict_files(paths)
    assert len(results) == len(paths)
    assert [rows[0][0] for rows in results[:3]] == ["bright", "dark", "bright"]
    assert results[2][0][1] == pytest.approx(1 / (1 + np.exp(-1)), rel=1e-5)
    assert sum(probability for _, probability in results[2]) == pytest.approx(1)


def test_the_top_classes_only_and_numbers_without_names(tmp_path):
    path = picture(tmp_path / "one.png", 250)
    assert len(predictor().predict_files([path], top=1)[0]) == 1
    assert predictor(class_names=()).predict_files([str(path)], top=9)[0][0][0] == "0"
    assert predictor().predict_files([]) == []
    with pytest.raises(ValueError, match="`top` must be at least 1. Received: 0"):
        predictor().predict_files([path], top=0)


def test_files_that_are_no_pictures_are_named(tmp_path):
    (tmp_path / "notes.jpg").write_text("not a picture")
    with pytest.raises(ValueError, match=r"notes\.jpg cannot be decoded as a picture"):
        predictor().predict_files([tmp_path / "notes.jpg"])
    with pytest.raises(FileNotFoundError, match="gone.png"):
        predictor().predict_files([tmp_path / "gone.png"])


def test_softmax_of_large_logits():
    np.testing.assert_allclose(softmax(np.array([[1e4, 1e4]], "float32")), [[0.5, 0.5]])


def test_of_several_classes_each_stands_for_itself(tmp_path):
    path = picture(tmp_path / "a.png", 100)
    ((first, second),) = predictor(probabilities="sigmoid").predict_files([path])
    assert first == ("bright", 1.0) and second == ("dark", 1.0)


def test_sigmoid_of_any_logit():
    logits = np.array([-1e4, -1.0, 0.0, 1.0, 1e4], "float32")
    expected = [0.0, 1 / (1 + np.e), 0.5, np.e / (1 + np.e), 1.0]
    np.testing.assert_allclose(sigmoid(logits), expected, rtol=1e-6)
