import json

import numpy as np
import pytest
from PIL import Image

from keras_vit import create_model, runtime
from keras_vit.runtime.detector import KerasDetector, is_detector, open_detector
from tests.tiny_detector import tiny_detector


@pytest.fixture(scope="module")
def detector():
    return tiny_detector()


def test_what_is_said_of_every_anchor(detector):
    predictor = runtime.open(detector)
    assert isinstance(predictor, KerasDetector) and predictor.class_names == ("cat", "dog")
    pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), "uint8")
    boxes, scores = predictor.answers(pixels)
    assert boxes.shape == (3, 20, 4) and scores.shape == (3, 20, 2)
    assert boxes.min() >= 0 and boxes.max() <= 1
    found = predictor.detect(pixels, least=0.2, most=7)
    assert len(found) == 3 and max(map(len, found)) <= 7
    assert all((np.diff(one.scores) <= 0).all() and one.scores.min() >= 0.2 for one in found)
    assert predictor.detect(pixels[:0]) == []
    with pytest.raises(ValueError, match="must have the shape"):
        predictor.answers(pixels[:, :16])
    with pytest.raises(ValueError, match="has no logits"):
        predictor.logits(pixels)


def test_boxes_of_files_are_in_shares_of_the_files(detector, tmp_path):
    picture = np.random.default_rng(0).integers(0, 256, (50, 90, 3), "uint8")
    Image.fromarray(picture).save(tmp_path / "a.png")
    predictor = open_detector(detector)
    (found,) = predictor.detect_files([tmp_path / "a.png"])
    pixels, size = predictor.pixels_and_size(tmp_path / "a.png")
    assert tuple(size) == (50, 90)
    (expected,) = predictor.detect(pixels[None])
    np.testing.assert_allclose(found.boxes, expected.boxes, atol=1e-6)  # squashed
    (tmp_path / "b.png").write_text("no picture")
    with pytest.raises(ValueError, match="cannot be decoded"):
        predictor.detect_files([tmp_path / "b.png"])


def test_a_keras_file(detector, tmp_path):
    detector.save(tmp_path / "detector.keras")
    assert is_detector(tmp_path / "detector.keras")
    predictor = runtime.open(tmp_path / "detector.keras")
    pixels = np.full((1, 32, 32, 3), 99, "uint8")
    ours, theirs = predictor.answers(pixels), open_detector(detector).answers(pixels)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-6)


def test_what_is_no_detector(tmp_path):
    model = create_model("vit_ti16", image_size=16, depth=1, num_classes=2)
    assert not is_detector(model)
    with pytest.raises(ValueError, match="is no detector, but a ViT"):
        open_detector(model)
    with pytest.raises(FileNotFoundError):
        open_detector(tmp_path / "x.keras")
    (tmp_path / "x.txt").write_text(json.dumps({}))
    with pytest.raises(ValueError, match="is no detector"):
        open_detector(tmp_path / "x.txt")


def test_a_damaged_saved_model_is_named(tmp_path):
    (tmp_path / "assets").mkdir()
    description = tiny_detector().preprocessing.to_json()
    (tmp_path / "assets" / "preprocessing.json").write_text(description, "utf-8")
    (tmp_path / "saved_model.pb").write_bytes(b"cut short")
    with pytest.raises(ValueError, match="cannot be loaded as a SavedModel"):
        open_detector(tmp_path)
