"""What an image counts in the loss, by its class, or what a tag does where it is."""

import numpy as np

from keras_vit.hints import did_you_mean

BALANCED = "balanced"


def check_class_weight(value):
    """Checks a recipe's `class_weight` as far as it can be without the images.

    Raises:
        ValueError: if it is neither None, `"balanced"` nor a dict of numbers of at least 0.
    """
    is_dict = isinstance(value, dict) and all(
        isinstance(weight, int | float) and not isinstance(weight, bool) and weight >= 0
        for weight in value.values()
    )
    if value not in (None, BALANCED) and not (is_dict and value):
        raise ValueError(
            "`class_weight` must be 'balanced', or a dict from class name to weight, at least 0. "
            f"Received: {value!r}."
        )


def class_weights(value, targets):
    """Returns the weight of each class.

    Args:
        value: a recipe's `class_weight`, not None.
        targets: the `Classes` of the training images.

    Returns:
        float32 `[num_classes]`. Balanced ones are scikit-learn's: the number of images, divided
        by that of the classes and by that of the class's images.

    Raises:
        ValueError: for the name of a class that there is not.
    """
    names, sizes = targets.class_names, targets.class_sizes
    if value == BALANCED:
        return (len(targets) / (len(names) * np.maximum(sizes, 1))).astype("float32")
    return _by_name(value, names)


def presence_weights(value, targets):
    """Returns what it counts that an image has a class, where that it has not counts 1.

    Args:
        value: a recipe's `class_weight`, not None.
        targets: the `Tags` of the training images.

    Returns:
        float32 `[num_classes]`. By `"balanced"` the images that have a class count as much as
        those that have not: it is the number of these, divided by that of those, as PyTorch's
        documentation of `pos_weight` has it; 1 for a class that no image has.

    Raises:
        ValueError: for the name of a class that there is not.
    """
    if value != BALANCED:
        return _by_name(value, targets.class_names)
    have = targets.class_sizes
    return np.where(have, (len(targets) - have) / np.maximum(have, 1), 1).astype("float32")


def _by_name(value, names):
    value = {str(name): weight for name, weight in value.items()}
    for name in value:
        if name not in names:
            raise ValueError(
                f"`class_weight` names a class that there is not: {name!r}."
                f"{did_you_mean(name, names)} The classes: {', '.join(names)}."
            )
    return np.array([value.get(name, 1.0) for name in names], "float32")


def weighted_batches(batches, weights):
    """Gives each image the weight of its class, of a mixed image that of the mixture.

    Args:
        batches: dataset of (images, labels), labels `[b, num_classes]` that sum up to one.
        weights: `[num_classes]`.

    Returns:
        A dataset of (images, labels, weights `[b]`).
    """
    import tensorflow as tf

    return batches.map(
        lambda images, labels: (images, labels, tf.linalg.matvec(labels, tf.constant(weights)))
    )
