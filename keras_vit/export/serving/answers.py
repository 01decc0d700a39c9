"""What a server says of a batch: logits, probabilities, and the best classes by name."""

import tensorflow as tf

TOP = 5
NO_CLASS = -1
# As `Preprocessing.probabilities` names them.
PROBABILITIES = {"softmax": tf.nn.softmax, "sigmoid": tf.nn.sigmoid}


def class_names(preprocessing, count):
    """Returns the names of the classes, numbers where the model has no names.

    Args:
        preprocessing: the model's `Preprocessing`.
        count: number of classes.
    """
    return list(preprocessing.class_names) or [str(index) for index in range(count)]


def answers(logits, names, kind="softmax"):
    """Returns the outputs of every signature that classifies.

    Args:
        logits: float32 `[b, num_classes]`.
        names: the classes' names.
        kind: key of `PROBABILITIES`: how logits become probabilities.

    Returns:
        A dict: `logits` and `probabilities` `[b, num_classes]`; of the best five classes in
        falling order `classes` (int64), `labels` (strings) and `scores` (probabilities),
        `[b, 5]`; and `error` `[b]`, a string that is empty for an image that was read.
    """
    probabilities = PROBABILITIES[kind](logits)
    scores, classes = tf.math.top_k(probabilities, k=min(TOP, len(names)))
    return {
        "logits": logits,
        "probabilities": probabilities,
        "classes": tf.cast(classes, tf.int64),
        "labels": tf.gather(tf.constant(names), classes),
        "scores": scores,
        "error": tf.fill(tf.shape(logits)[:1], ""),
    }


def without(outputs, readable, error):
    """Returns the outputs with those of some images taken back.

    Args:
        outputs: what `answers` gave.
        readable: bool `[b]`, False for images of which nothing can be said.
        error: what to say instead.

    Returns:
        The outputs; where nothing can be said, numbers are 0, classes -1, labels empty.
    """
    empty = {name: tf.zeros_like(tensor) for name, tensor in outputs.items()}
    empty["classes"] += NO_CLASS
    empty["error"] = tf.fill(tf.shape(readable), error)

    def chosen(name):
        mask = readable[:, None] if outputs[name].shape.rank == 2 else readable
        return tf.where(mask, outputs[name], empty[name])

    return {name: chosen(name) for name in outputs}
