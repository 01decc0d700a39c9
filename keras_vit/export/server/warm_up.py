"""Runs a model before its first client does: graphs are optimised and memory is taken then."""

import numpy as np
import tensorflow as tf

from keras_vit.export.server import examples
from keras_vit.export.server.signatures import DEFAULT, is_batched, shape_of, with_defaults
from keras_vit.layers.extras import require

RECORDS = "assets.extra/tf_serving_warmup_requests"
MOST_RECORDS = 1000  # TF Serving's own limit


def warm_up(runner, path, max_batch):
    """Runs the warm-up records of a version, or zeros where it has none.

    Args:
        runner: runs the version's signatures.
        path: its folder or file.
        max_batch: the largest batch that will come.

    Returns:
        The number of requests that were run.

    Raises:
        Exception: whatever a damaged model breaks.
    """
    file = path / RECORDS
    ran = 0
    for signature, inputs in _recorded(file) if file.is_file() else _zeros(runner, max_batch):
        definition = runner.definitions[signature]
        if is_batched(definition) and len(next(iter(inputs.values()))) > max_batch:
            continue  # such a batch will not come
        signature, inputs, _ = runner.prepare(signature, with_defaults(definition, inputs))
        runner.run(signature, inputs)
        ran += 1
    return ran


def _recorded(file):
    """The requests of a file of `PredictionLog` records."""
    logs = require("tensorflow_serving.apis.prediction_log_pb2", extra="serve")
    for record in tf.data.TFRecordDataset(str(file)).take(MOST_RECORDS).as_numpy_iterator():
        log = logs.PredictionLog.FromString(record)
        if log.HasField("predict_log"):
            request = log.predict_log.request
            inputs = {name: tf.make_ndarray(proto) for name, proto in request.inputs.items()}
            yield request.model_spec.signature_name or DEFAULT, inputs
        elif log.HasField("classify_log"):
            request = log.classify_log.request
            inputs = {examples.INPUT: examples.serialized(request.input)}
            yield request.model_spec.signature_name or DEFAULT, inputs


def _zeros(runner, max_batch):
    """Zeros for every signature of numbers whose shape is stated, in batches of 1, 2, 4, ..."""
    sizes = [1]
    while sizes[-1] < max_batch:
        sizes.append(min(2 * sizes[-1], max_batch))
    for signature, definition in runner.definitions.items():
        infos = definition.inputs
        shapes = {name: shape_of(info) for name, info in infos.items()}
        stated = all(shape and None not in shape[1:] for shape in shapes.values())
        is_text = any(info.dtype == tf.string.as_datatype_enum for info in infos.values())
        if not infos or not stated or is_text or not is_batched(definition):
            continue
        for size in sizes:
            yield (
                signature,
                {
                    name: np.zeros((size, *shape[1:]), tf.dtypes.as_dtype(infos[name].dtype).name)
                    for name, shape in shapes.items()
                },
            )
