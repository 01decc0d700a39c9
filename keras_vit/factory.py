"""Models by name."""

import dataclasses
import difflib

from keras_vit.models import vit

_SIZE_NAMES = {"G": "gigantic"}  # lower case must tell g and G apart


def _vit_names():
    for size in vit.VARIANTS:
        for patch in vit.PATCH_SIZES:
            yield f"vit_{_SIZE_NAMES.get(size, size.lower())}{patch}", (vit.ViT, f"{size}/{patch}")


# name -> (model class, variant)
MODELS = dict(_vit_names())


def list_models():
    """Returns the names that `create_model` knows.

    Example:

    >>> "vit_b16" in list_models()
    True
    """
    return list(MODELS)


def create_model(name, dtype=None, **fields):
    """Builds a model by name.

    Args:
        name: one of `list_models()`.
        dtype: dtype or policy, such as `"mixed_bfloat16"`; Keras's global one by default.
        **fields: fields of the model's config to change, such as `num_classes=10`,
            `image_size=(224, 320)`, `pooling="gap"`.

    Returns:
        A Keras model: normalised float images in, logits out.

    Raises:
        ValueError: for an unknown name or field; the error lists the valid ones.

    Example:

    >>> create_model("vit_ti16", image_size=32, depth=1, num_classes=10).output_shape
    (None, 10)
    """
    model_class, variant = _entry(name)
    known = [field.name for field in dataclasses.fields(model_class.config_class)]
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise ValueError(f"`{name}` has no field {unknown[0]!r}. Its fields: {', '.join(known)}.")
    return model_class.from_variant(variant, dtype=dtype, **fields)


def _entry(name):
    if name not in MODELS:
        close = difflib.get_close_matches(str(name), MODELS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"There is no model {name!r}.{hint} The models: {', '.join(list_models())}."
        )
    return MODELS[name]
