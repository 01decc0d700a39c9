"""The page of `keras-vit evaluate --html`."""

import numpy as np
import pytest

from keras_vit import create_model, runtime
from keras_vit.cli.evaluate_report import Pictures, check, write
from keras_vit.data import evaluation_batches, from_arrays, open_data
from keras_vit.training import evaluate


@pytest.fixture(scope="module")
def records(digits):
    return open_data(digits)


def test_pictures_are_what_the_model_gets(network, records):
    ((pixels, _),) = evaluation_batches(records, network.preprocessing, 200)
    pictures = Pictures(records, network.preprocessing)
    assert len(pictures) == 80
    np.testing.assert_allclose(pictures[7], pixels[7], atol=0.5)
    np.testing.assert_allclose(pictures[np.array([3, 1])], pixels.numpy()[[3, 1]], atol=0.5)


def test_the_page_shows_pictures_numbers_and_classes(network, records, tmp_path):
    predictor = runtime.open(network)
    result = evaluate(predictor, records)
    text = write(tmp_path / "p.html", predictor, records, result, "A & B").read_text("utf-8")
    assert "A &amp; B" in text
    assert f"<dt>Calibration error</dt><dd>{100 * result.calibration_error:.1f} %</dd>" in text
    right = result.predictions == result.labels
    assert text.count("<figure") == len(np.unique(result.labels[right])) + min(5, (~right).sum())
    assert "Class by class" in text and 'class="wall"' in text


def test_a_model_of_windows_has_a_page_without_attention(digits, records, tmp_path):
    names = [str(number) for number in range(10)]
    sizes = dict(width=8, depths=(1, 1), num_heads=(2, 2), window_size=2, num_classes=10)
    model = create_model("swin_t", image_size=32, **sizes, preprocessing={"class_names": names})
    predictor = runtime.open(model)
    few = records.select(np.arange(0, 80, 8))
    text = write(tmp_path / "p.html", predictor, few, evaluate(predictor, few), "t").read_text()
    assert "What it looks at" not in text and 'class="wall"' in text


def test_other_targets_cannot_be_shown(records):
    check(records)
    with pytest.raises(ValueError, match="one class each. Received: Tags"):
        check(from_arrays(np.zeros((2, 4, 4), "uint8"), np.eye(2)))
