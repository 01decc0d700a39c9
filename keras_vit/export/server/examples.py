"""`tf.Example`s in, classes and scores out: the part of Classify that both protocols share."""

import numpy as np
import tensorflow as tf

from keras_vit.export.server.errors import Refused

METHOD = "tensorflow/serving/classify"
INPUT, CLASSES, SCORES = "inputs", "classes", "scores"


def serialized(message):
    """Returns the examples of an `Input` message as bytes, the shared context merged into each.

    Args:
        message: TF Serving's `Input`.

    Returns:
        An array of bytes objects.

    Raises:
        Refused: if it holds none.
    """
    kind = message.WhichOneof("kind")
    examples = list(getattr(message, kind).examples) if kind else []
    if not examples:
        raise Refused("INVALID_ARGUMENT", "Input is empty.")
    if kind == "example_list_with_context":
        examples = [_with_context(example, message) for example in examples]
    return np.array([example.SerializeToString() for example in examples], dtype=object)


def _with_context(example, message):
    merged = tf.train.Example()
    merged.CopyFrom(example)
    for name, feature in message.example_list_with_context.context.features.feature.items():
        if name not in merged.features.feature:
            merged.features.feature[name].CopyFrom(feature)
    return merged


def check(definition):
    """Checks that a signature classifies.

    Raises:
        Refused: if not, in TF Serving's words.
    """
    if definition.method_name != METHOD:
        raise Refused(
            "INVALID_ARGUMENT",
            f"Expected classification signature method_name to be {METHOD}. "
            f"Was: {definition.method_name}",
        )
    if set(definition.inputs) != {INPUT} or not {CLASSES, SCORES} & set(definition.outputs):
        raise Refused(
            "FAILED_PRECONDITION",
            f"A classification signature must have the input `{INPUT}` and the outputs "
            f"`{CLASSES}`, `{SCORES}` or both.",
        )


def wanted(definition):
    """Returns the names of the outputs that make a classification."""
    return [name for name in (CLASSES, SCORES) if name in definition.outputs]


def fill(result, outputs):
    """Fills a `ClassificationResult` message.

    Args:
        result: the message.
        outputs: dict of `classes`, bytes `[b, k]`, and `scores`, float `[b, k]`, or one of them.
    """
    for index in range(len(next(iter(outputs.values())))):
        row = result.classifications.add()
        labels = outputs[CLASSES][index] if CLASSES in outputs else None
        scores = outputs[SCORES][index] if SCORES in outputs else None
        for place in range(len(scores if labels is None else labels)):
            one = row.classes.add()
            if labels is not None:
                one.label = labels[place].decode("utf-8", "replace")
            if scores is not None:
                one.score = scores[place]
