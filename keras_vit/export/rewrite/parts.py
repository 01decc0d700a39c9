"""Parts of a model's graph and layers, found and exchanged."""

import keras


def parts(model, kind):
    """Returns each sublayer of a class with its owner, in the order of the model.

    Args:
        model: a Keras model.
        kind: class, or tuple of classes.

    Returns:
        A list of (layer that holds it, name of the attribute, sublayer).
    """
    return [
        (owner, name, part)
        for owner in model._flatten_layers(include_self=False)
        for name, part in list(vars(owner).items())
        if isinstance(part, kind)
    ]


def exchange(owner, name, part):
    """Puts another sublayer, or None, in the place of a built layer's own."""
    # Keras locks what a built layer holds, since an optimizer may know its variables already:
    # here none does.
    owner._tracker.unlock()
    owner._tracker.untrack(getattr(owner, name))
    setattr(owner, name, part)
    owner._tracker.lock()


def replaced(model, layers):
    """Returns a model whose graph goes through other layers; all the rest is shared with `model`.

    Args:
        model: a functional Keras model.
        layers: dict of a layer's name to the layer that takes its place.
    """
    return keras.models.clone_model(
        keras.Model(model.inputs[0], model.outputs[0], name=model.name),
        input_tensors=model.inputs[0],
        clone_function=lambda layer: layers.get(layer.name, layer),
    )


class Wrapped(keras.layers.Layer):
    """A layer that computes with the parts of another one, of the same name."""

    def __init__(self, inner):
        super().__init__(name=inner.name, dtype="float32")
        self.inner = inner
        self.built = True

    def compute_output_shape(self, input_shape):
        return self.inner.compute_output_shape(input_shape)
