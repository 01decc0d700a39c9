"""MODEL on the command line: a file, a folder or a registered name."""

from pathlib import Path


def open_predictor(model):
    """Opens a trained model in its own runtime.

    Args:
        model: path of a `.keras` file, a SavedModel folder or a `.tflite` file.

    Returns:
        A `Predictor`.

    Raises:
        ValueError: for the name of a registered model: it has no trained weights.
        FileNotFoundError: if nothing is there.
    """
    from keras_vit import runtime

    if _is_name(model):
        raise ValueError(
            f"{model} is a model without trained weights. Train one with `keras-vit train` and "
            "give its model.keras."
        )
    return runtime.open(model)


def is_clip(predictor):
    """Tells whether a predictor runs a whole CLIP, both towers."""
    from keras_vit.models import CLIP

    return isinstance(getattr(predictor, "model", None), CLIP)


def require_classes(predictor):
    """Refuses a CLIP where a model with classes is needed.

    Raises:
        ValueError: for a CLIP; names the remedy.
    """
    if is_clip(predictor):
        raise ValueError(
            f"{predictor.path} is a CLIP, and has no classes: name some with `keras-vit zero-shot "
            '--labels "A,B"`.'
        )


def open_any(model, dtype=None):
    """Opens a model to look at its speed or its size: names get random weights.

    Args:
        model: what `open_predictor` takes, or a registered name.
        dtype: dtype policy of a registered model.

    Returns:
        A `Predictor`.

    Raises:
        ValueError: if `dtype` is given for a file, whose own is fixed.
    """
    from keras_vit import runtime
    from keras_vit.factory import create_model

    if _is_name(model):
        return runtime.open(create_model(str(model), dtype=dtype))
    if dtype is not None:
        raise ValueError(f"`dtype` is for registered models only. Received: {dtype}, for {model}.")
    return runtime.open(model)


def open_keras(model):
    """Opens a Keras model: a `.keras` file, or a registered name with random weights.

    Raises:
        ValueError: for a file of another kind.
        FileNotFoundError: if nothing is there.
    """
    predictor = open_any(model)
    if predictor.kind != "keras":
        raise ValueError(
            f"A Keras model is needed here: a .keras file. Received: {model}, a {predictor.kind}."
        )
    return predictor.model


def _is_name(model):
    from keras_vit.factory import list_models

    return str(model) in list_models() and not Path(model).exists()
