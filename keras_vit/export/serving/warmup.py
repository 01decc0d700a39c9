"""Warm-up requests: what TF Serving computes before a version takes its first client.

A record is a `PredictionLog` of the package tensorflow-serving-api. Its few fields that a request
needs are all messages, strings or bytes, which protobuf writes alike: so they are written here, and
exporting a model needs no package of a server. The tests read them by the real one.
"""

import numpy as np
import tensorflow as tf

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


def _values(spec, preprocessing, size):
    """(name, values): grey pictures. One value says them all: TensorFlow repeats the last."""
    if spec.dtype != tf.string:
        shape = (size, *spec.shape[1:])
        return spec.name, tf.make_tensor_proto(GREY, spec.dtype, shape)
    picture = np.full((*preprocessing.image_size, preprocessing.channels), GREY, "uint8")
    encoded = tf.io.encode_png(picture).numpy()
    if spec.name == "inputs":
        feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded]))
        features = tf.train.Features(feature={"image/encoded": feature})
        return spec.name, [tf.train.Example(features=features)] * size
    return spec.name, tf.make_tensor_proto([encoded], spec.dtype, (size,))


def _log(name, signature, values):
    key, value = values
    spec = _field(1, name.encode()) + _field(3, signature.encode())
    if isinstance(value, list):  # ClassificationRequest in a ClassifyLog
        examples = b"".join(_field(1, example.SerializeToString()) for example in value)
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
