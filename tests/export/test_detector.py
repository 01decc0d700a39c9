import dataclasses
import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit import create_model, runtime
from keras_vit.export import detector as exporting
from keras_vit.export.audit import audit
from keras_vit.export.detector import export_detector
from keras_vit.runtime.detector import is_detector, open_detector
from tests.tiny_detector import tiny_detector

PIXELS = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3)).astype("float32")


@pytest.fixture(scope="module")
def detector():
    return tiny_detector()


@pytest.fixture(scope="module")
def served(detector, tmp_path_factory):
    return export_detector(detector, "server", tmp_path_factory.mktemp("served") / "1")


def encoded(picture):
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG")
    return stream.getvalue()


def test_a_saved_model_suppresses_as_we_do(detector, served):
    signature = tf.saved_model.load(str(served)).signatures["serving_default"]
    answers = {name: x.numpy() for name, x in signature(images=tf.constant(PIXELS)).items()}
    assert {name: x.shape for name, x in answers.items()} == {
        "boxes": (3, 100, 4), "labels": (3, 100), "scores": (3, 100), "count": (3,)
    }  # fmt: skip
    for place, ours in enumerate(open_detector(detector).detect(PIXELS)):
        count = answers["count"][place]
        assert count == len(ours) > 0
        np.testing.assert_allclose(answers["scores"][place, :count], ours.scores, atol=1e-5)
        np.testing.assert_allclose(answers["boxes"][place, :count], ours.boxes, atol=1e-4)
        np.testing.assert_array_equal(answers["labels"][place, :count], ours.labels)
        assert not answers["boxes"][place, count:].any()


@pytest.mark.prove
def test_bytes_give_boxes_in_shares_of_the_picture(tmp_path):
    """A wide picture, of which the model sees the middle."""
    model = tiny_detector()
    crop = dataclasses.replace(model.preprocessing, resize="crop")
    model = type(model)(dataclasses.replace(model.config, preprocessing=crop))
    path = export_detector(model, "server", tmp_path / "m")
    picture = np.random.default_rng(1).integers(0, 256, (40, 80, 3), "uint8")
    (tmp_path / "a.png").write_bytes(encoded(picture))
    signature = tf.saved_model.load(str(path)).signatures["serving_bytes"]
    found = signature(image_bytes=tf.constant([encoded(picture)]))
    (ours,) = open_detector(path).detect_files([tmp_path / "a.png"])
    count = int(found["count"][0])
    assert count == len(ours)
    np.testing.assert_allclose(found["boxes"][0][:count], ours.boxes, atol=1e-5)
    assert count == 0 or (ours.boxes[:, 0] >= 0.2).all()


def test_it_is_opened_as_what_it_is(detector, served):
    assert is_detector(served)
    predictor = runtime.open(served)
    assert predictor.kind == "saved_model" and predictor.class_names == ("cat", "dog")
    boxes, scores = predictor.answers(PIXELS)
    ours = open_detector(detector).answers(PIXELS)
    np.testing.assert_allclose(boxes, ours[0], atol=1e-5)
    np.testing.assert_allclose(scores, ours[1], atol=1e-5)


@pytest.mark.parametrize("profile", ["float32", pytest.param("cpu", marks=pytest.mark.prove)])
def test_a_tflite_file_holds_boxes_and_scores(detector, tmp_path, profile):
    path = export_detector(detector, profile, tmp_path / "detector.tflite")
    assert not audit(path).custom
    predictor = runtime.open(path)
    assert predictor.kind == "tflite" and is_detector(path)
    boxes, scores = predictor.answers(PIXELS)
    ours = open_detector(detector).answers(PIXELS)
    bound = exporting.BOUNDS[profile]
    np.testing.assert_allclose(boxes, ours[0], atol=bound)
    np.testing.assert_allclose(scores, ours[1], atol=bound)


@pytest.mark.prove
def test_what_answers_otherwise_is_not_written(detector, tmp_path, monkeypatch):
    monkeypatch.setitem(exporting.BOUNDS, "server", -1.0)
    with pytest.raises(ValueError, match="was refused and nothing was written"):
        export_detector(detector, "server", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_wrong_arguments(detector, tmp_path):
    with pytest.raises(ValueError, match="must be one of server, float32, cpu, gpu"):
        export_detector(detector, "npu", tmp_path / "x.tflite")
    with pytest.raises(ValueError, match="a file that ends in `.tflite` for `float32`"):
        export_detector(detector, "float32", tmp_path / "x")
    with pytest.raises(TypeError, match="must be a Detector. Received: ViT"):
        export_detector(create_model("vit_ti16", image_size=16, depth=1), "server", tmp_path / "x")
