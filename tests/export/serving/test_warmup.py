"""The warm-up requests as TF Serving's own package reads them."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_vit.export.serving.warmup import MOST, RECORDS, read_warmup, write_warmup
from keras_vit.layers import Preprocessing

PREPROCESSING = Preprocessing(image_size=(5, 7))


class Signature:
    """Has what `write_warmup` looks at."""

    def __init__(self, *spec):
        self.input_signature = [tf.TensorSpec(*spec)]


SIGNATURES = {
    "serving_default": Signature((None, 5, 7, 3), "float32", "images"),
    "serving_uint8": Signature((None, 5, 7, 3), "uint8", "images"),
    "serving_bytes": Signature((None,), "string", "image_bytes"),
    "classify": Signature((None,), "string", "inputs"),
    "serving_xla_3": Signature((3, 5, 7, 3), "float32", "images"),
}


def test_every_signature_has_a_request_of_every_batch_size(tmp_path):
    path = tmp_path / "assets.extra" / "records"
    assert write_warmup(path, "digits", PREPROCESSING, SIGNATURES, (1, 200)) == 9
    found = {}
    for name, inputs in read_warmup(path):
        ((key, tensor),) = inputs.items()
        found.setdefault(name, []).append((key, tensor.dtype.name, tensor.shape.as_list()))
    assert found == {
        "serving_default": [("images", "float32", [n, 5, 7, 3]) for n in (1, 200)],
        "serving_uint8": [("images", "uint8", [n, 5, 7, 3]) for n in (1, 200)],
        "serving_bytes": [("image_bytes", "string", [n]) for n in (1, 200)],
        "classify": [("inputs", "string", [n]) for n in (1, 200)],
        "serving_xla_3": [("images", "float32", [3, 5, 7, 3])],
    }


def test_they_name_the_model_and_are_canonical_protobuf(tmp_path):
    write_warmup(tmp_path / "records", "digits", PREPROCESSING, SIGNATURES, (2,))
    for record in tf.data.TFRecordDataset(str(tmp_path / "records")).as_numpy_iterator():
        log = prediction_log_pb2.PredictionLog.FromString(record)
        (_, kind) = log.ListFields()[0]
        assert kind.request.model_spec.name == "digits"
        assert log.SerializeToString(deterministic=True) == record


def test_pictures_and_examples_hold_a_grey_picture(tmp_path):
    write_warmup(tmp_path / "records", "digits", PREPROCESSING, SIGNATURES, (2,))
    found = {
        name: next(iter(inputs.values())) for name, inputs in read_warmup(tmp_path / "records")
    }
    example = tf.train.Example.FromString(found["classify"][1].numpy())
    picture = example.features.feature["image/encoded"].bytes_list.value[0]
    assert picture == found["serving_bytes"][1].numpy()
    grey = np.full((5, 7, 3), 127)
    np.testing.assert_array_equal(tf.io.decode_png(picture), grey)
    np.testing.assert_array_equal(found["serving_uint8"][1], grey)


def test_the_file_is_small_whatever_the_batch(tmp_path):
    write_warmup(tmp_path / "records", "digits", PREPROCESSING, SIGNATURES, (1, 512))
    assert (tmp_path / "records").stat().st_size < 250 * 512


def test_more_than_tf_serving_reads_are_refused(tmp_path):
    with pytest.raises(ValueError, match=f"at most {MOST} records.*Received: 1001"):
        write_warmup(tmp_path / RECORDS, "digits", PREPROCESSING, SIGNATURES, range(1, 251))
