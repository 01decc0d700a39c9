"""Parts of a model's layers, found and exchanged in place."""

import keras


def parts(model, kind):
    """Returns each sublayer of a class with its owner, in the order of the model.

    Args:
        model: a Keras model or layer.
        kind: class, or tuple of classes.

    Returns:
        A list of (layer that holds it, name of the attribute, sublayer).
    """
    found = []
    for owner in model._flatten_layers():
        for name, value in list(vars(owner).items()):
            if isinstance(value, kind) and isinstance(value, keras.layers.Layer):
                found.append((owner, name, value))
    return found


def exchange(owner, name, part):
    """Puts another sublayer in the place of a built layer's own."""
    # Keras locks what a built layer holds, since an optimizer may know its variables already:
    # here none does.
    owner._tracker.unlock()
    delattr(owner, name)
    setattr(owner, name, part)
    owner._tracker.lock()
