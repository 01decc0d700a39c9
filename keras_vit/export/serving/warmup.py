"""Warm-up requests: what TF Serving computes before a version takes its first client.

A record is a `PredictionLog` of the package tensorflow-serving-api. Its few fields that a request
needs are all messages, strings or bytes, which protobuf writes alike: so they are written here, and
exporting a model needs no package of a server. The tests read them by the real one.
"""

import numpy as np
import tensorflow as tf

from keras_vit.export.serving.examples import example, png
from keras_vit.layers.extras import require

RECORDS = "assets.extra/tf_serving_warmup_requests"
BATCH_SIZES = (1, 2, 4, 8, 16, 32)
# TF Serving refuses more.
MOST = 1000
GREY = 127


def write_warmup(path, name, preprocessing, signatures, batch_sizes=BATCH_SIZES):
    """Writes one request for each signature and batch size.

    Args:
        path: the file; its folder is made if need be.
        name: the model's name.
        preprocessing: its `Preprocessing`.
        signatures: dict of name to `tf.function` with one input of the signature `[b, ...]`.
        batch_sizes: numbers of images; a signature whose batch is fixed gets its own alone.

    Returns:
        The number of records.

    Raises:
        ValueError: for more records than TF Serving reads.
    """
    records = [
        _log(name, signature, _values(spec, preprocessing, size))
        for signature, function in signatures.items()
        for spec in function.input_signature
        for size in ([spec.shape[0]] if spec.shape[0] else batch_sizes)
    ]
    if len(records) > MOST:
        raise ValueError(
            f"`batch_sizes` must lead to at most {MOST} records, the most that TF Serving reads. "
            f"Received: {len(records)}, of {len(batch_sizes)} batch sizes."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as file:
        for record in records:
            file.write(record)
    return len(records)


def read_warmup(path):
    """Reads a file of warm-up requests by TF Serving's own package.

    Args:
        path: the file.

    Yields:
        For each request (name of the signature, dict of inputs as tensors).

    Raises:
        ImportError: if `tensorflow-serving-api` is not installed.
    """
    logs = require("tensorflow_serving.apis.prediction_log_pb2", extra="serve")
    for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
        log = logs.PredictionLog.FromString(record)
        if log.WhichOneof("log_type") == "classify_log":
            request = log.classify_log.request
            examples = request.input.example_list.examples
            inputs = {"inputs": tf.constant([one.SerializeToString() for one in examples])}
        else:
            request = log.predict_log.request
            inputs = {key: tf.constant(tf.make_ndarray(p)) for key, p in request.inputs.items()}
        yield request.model_spec.signature_name, inputs


def _values(spec, preprocessing, size):
    """(name, values): grey pictures. One value says them all: TensorFlow repeats the last."""
    if spec.dtype != tf.string:
        shape = (size, *spec.shape[1:])
        return spec.name, tf.make_tensor_proto(GREY, spec.dtype, shape)
    encoded = png(np.full((*preprocessing.image_size, preprocessing.channels), GREY, "uint8"))
    if spec.name == "inputs":
        return spec.name, [example(encoded)] * size
    return spec.name, tf.make_tensor_proto([encoded], spec.dtype, (size,))


def _log(name, signature, values):
    key, value = values
    spec = _field(1, name.encode()) + _field(3, signature.encode())
    if isinstance(value, list):  # ClassificationRequest in a ClassifyLog
        examples = b"".join(_field(1, one.SerializeToString()) for one in value)
        return _field(2, _field(1, _field(1, spec) + _field(2, _field(1, examples))))
    # PredictRequest in a PredictLog
    tensor = _field(1, key.encode()) + _field(2, value.SerializeToString())
    return _field(6, _field(1, _field(1, spec) + _field(2, tensor)))


def _field(number, content):
    """A protobuf field that holds bytes: its key, its length, and them."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value):
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
