"""What runs before the first request."""

import shutil

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_vit.export.server.saved_model import SavedModel
from keras_vit.export.server.warm_up import RECORDS, warm_up


class Noted:
    """A runner that notes what it is asked."""

    def __init__(self, path):
        runner = SavedModel(path, 1000)
        self.definitions, self._runner, self.asked = runner.definitions, runner, []
        self.prepare = runner.prepare

    def run(self, signature, inputs):
        shapes = {name: array.shape for name, array in inputs.items()}
        self.asked.append((signature, shapes))
        return self._runner.run(signature, inputs)


def test_without_records_zeros_in_each_size(toy_model):
    noted = Noted(toy_model)
    assert warm_up(noted, toy_model, 6) == len(noted.asked) == 8
    sizes = [shapes["x"] for signature, shapes in noted.asked if signature == "serving_default"]
    assert sizes == [(1, 2), (2, 2), (4, 2), (6, 2)]
    assert {signature for signature, _ in noted.asked} == {"serving_default", "pair"}


def record(signature, **inputs):
    log = prediction_log_pb2.PredictionLog()
    log.predict_log.request.model_spec.signature_name = signature
    for name, value in inputs.items():
        log.predict_log.request.inputs[name].CopyFrom(tf.make_tensor_proto(value))
    return log.SerializeToString()


def classify_record(*values):
    log = prediction_log_pb2.PredictionLog()
    log.classify_log.request.model_spec.signature_name = "classify"
    example = log.classify_log.request.input.example_list.examples.add()
    example.features.feature["x"].float_list.value.extend(values)
    return log.SerializeToString()


@pytest.fixture
def recorded(toy_model, tmp_path):
    """Gives a copy of the model with these records."""

    def make(*records):
        path = tmp_path / "1"
        shutil.copytree(toy_model, path)
        (path / "assets.extra").mkdir()
        with tf.io.TFRecordWriter(str(path / RECORDS)) as writer:
            for one in records:
                writer.write(one)
        return path

    return make


def test_records_are_run(recorded):
    path = recorded(
        record("", x=np.ones((3, 2), "float32")),
        record("texts", text_bytes=[b"a", b"b"]),
        prediction_log_pb2.PredictionLog().SerializeToString(),
        classify_record(1.0, 2.0),
        record("", x=np.ones((17, 2), "float32")),  # more than will come
    )
    noted = Noted(path)
    assert warm_up(noted, path, 16) == 3
    assert noted.asked == [
        ("serving_default", {"x": (3, 2)}),
        ("texts", {"text_bytes": (2,)}),
        ("classify", {"inputs": (1,)}),
    ]


def test_a_record_that_fails_stops_the_version(recorded):
    path = recorded(record("", x=-np.ones((1, 2), "float32")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="x is negative"):
        warm_up(Noted(path), path, 16)
