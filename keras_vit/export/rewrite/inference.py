"""The float32 twin of a model, without what only training needs."""

import contextlib

import keras

# Arguments of layers that switch training's randomness on. At 0 a layer owns no seed state, which
# would otherwise be one more variable in the exported file.
RATES = ("dropout", "attention_dropout", "drop_path", "rate")


def inference_model(model, replace=None, inputs=None):
    """Returns a float32 copy of a model in which every dropout and stochastic depth is gone.

    A mixed-precision graph cannot be exported as it is: float16 becomes Flex ops or fails on the
    exact GELU. Its weights are float32 all the same, and in a float32 graph they export cleanly.

    Args:
        model: a functional Keras model.
        replace: dict of layer name to a function from the layer to the layer that takes its
            place. A replaced layer's weights are left as they are made.
        inputs: symbolic Keras input of the copy; by default like the model's, in float32.

    Returns:
        A plain functional `keras.Model` with the weights of `model`, matched by their paths.

    Raises:
        ValueError: if `model` is not functional or has several inputs or outputs, or if a weight
            of the copy has no counterpart.
    """
    replace = replace or {}
    plain = _plain(model)
    if inputs is None:
        inputs = keras.Input(plain.inputs[0].shape[1:], dtype="float32", name="images")

    def substitute(layer):
        if layer.name in replace:
            return replace[layer.name](layer)
        return _in_float32(layer) if isinstance(layer, keras.layers.Layer) else layer

    with _scope(plain):
        copy = keras.models.clone_model(plain, input_tensors=inputs, clone_function=substitute)
    kept = [layer for layer in copy.layers if layer.name not in replace]
    copy_weights(model.weights, [weight for layer in kept for weight in layer.weights])
    return copy


def copy_weights(sources, targets):
    """Gives each target weight the value of the source weight that has its path.

    Raises:
        ValueError: if a target has no counterpart of its shape.
    """
    by_path = {weight.path: weight for weight in sources}
    for target in targets:
        source = by_path.get(target.path)
        if source is None or source.shape != target.shape:
            found = "nothing" if source is None else f"the shape {tuple(source.shape)}"
            raise ValueError(
                f"The weight `{target.path}` of the exported graph needs one of the shape "
                f"{tuple(target.shape)} in the model. Received: {found}."
            )
        target.assign(source)


def _plain(model):
    """The model's graph without its class: a clone then needs no constructor of that class."""
    inputs, outputs = getattr(model, "inputs", None), getattr(model, "outputs", None)
    if not isinstance(model, keras.Model) or not inputs or not outputs:
        raise ValueError(
            "`model` must be a functional Keras model, such as `create_model` gives. "
            f"Received: {type(model).__name__}."
        )
    if len(inputs) != 1 or len(outputs) != 1:
        raise ValueError(
            "`model` must have one input and one output. "
            f"Received: {len(inputs)} inputs, {len(outputs)} outputs."
        )
    # Named, since names get into exported files: a counter would make each one different.
    return keras.Model(inputs[0], outputs[0], name=model.name)


def _scope(model):
    """The scope that a model's layers were made in: that of a CLIP's image tower is `image`."""
    scopes = {layer.path.removesuffix(layer.name) for layer in model.layers if layer.weights}
    scope = scopes.pop().rstrip("/") if len(scopes) == 1 else ""
    return keras.name_scope(scope) if scope else contextlib.nullcontext()


def _in_float32(layer):
    config = layer.get_config()
    config.update({rate: 0.0 for rate in RATES if rate in config})
    return type(layer).from_config({**config, "dtype": "float32"})
