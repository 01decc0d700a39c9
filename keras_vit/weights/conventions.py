"""The rule that loading never alters a graph: where a model differs from what weights need."""

import dataclasses

from keras_vit.layers import Preprocessing
from keras_vit.models import NAMES

# Weights of another size do not fit at all.
SIZES = (
    "width",
    "depth",
    "depths",
    "units",
    "stages",
    "root_width",
    "stem_width",
    "num_heads",
    "head_dim",
    "mlp_dim",
    "mlp_ratio",
    "expansion",
    "squeeze",
    "mlp",
    "space_time",
    "channels",
    "decoder_width",
    "decoder_depth",
    "decoder_num_heads",
    "decoder_mlp_dim",
    "text_width",
    "text_depth",
    "text_num_heads",
    "text_mlp_dim",
    "embedding_dim",
    "vocabulary_size",
    "context_length",
)
# These would fit, and give other numbers.
CONVENTIONS = (
    "activation",
    "norm_epsilon",
    "class_token",
    "class_position",
    "registers",
    "position",
    "attention",
    "layer_scale",
    "logit_bias",
    "end_token",
    "pooling",
    "representation_size",
    "group_norm_epsilon",
    "batch_norm_epsilon",
    "standardisation",
    "pool",
    "stride_in",
    "preprocessing",
)


class ConventionsDiffer(ValueError):
    """A model's graph is not the one that the weights were made for.

    Args:
        differences: field -> (the model's value, the weights' value).
        call: the `create_model` call that fits.
    """

    def __init__(self, message, differences, call):
        super().__init__(message)
        self.differences = differences
        self.call = call


def require_same(model, checkpoint, accept, asked):
    """Checks that a model's config is what a checkpoint needs.

    Args:
        model: a model with a `config`.
        checkpoint: a `Checkpoint`.
        accept: names of fields that may differ.
        asked: arguments of `create_model` that the user has told, for the call in the message.

    Raises:
        ConventionsDiffer: if it differs in a field that is not in `accept`.
    """
    unknown = sorted(set(accept) - set(CONVENTIONS))
    if unknown:
        raise ValueError(f"`accept` may hold {', '.join(CONVENTIONS)}. Received: {unknown[0]!r}.")
    found = differences(model.config, checkpoint.fields)
    refused = {name: pair for name, pair in found.items() if name not in accept}
    if not refused:
        return
    accepted = {name: _argument(name, model.config) for name in found if name in accept}
    call = fitting_call(model, checkpoint.fields, {**asked, **accepted})
    lines = [
        f"  {name}: the model has {ours!r}, the weights need {theirs!r}"
        for name, (ours, theirs) in refused.items()
    ]
    raise ConventionsDiffer(
        f"{checkpoint.archive.origin} does not fit this model, which stays as it was:\n"
        + "\n".join(lines)
        + f"\nA model that fits: {call}"
        + _remedy(refused),
        refused,
        call,
    )


def _remedy(refused):
    if not set(refused) <= set(CONVENTIONS):
        return ""
    return f"\nTo load all the same: load(..., accept={tuple(refused)})"


def differences(config, fields):
    """Returns field -> (the model's value, the weights' value) of all that differ."""
    found = {}
    for name in SIZES + CONVENTIONS:
        # A file without that layer tells by not having it.
        told = name in fields or name == "representation_size" and hasattr(config, name)
        if not told:
            continue
        ours, theirs = _compared(name, config, fields.get(name))
        if ours != theirs:
            found[name] = (ours, theirs)
    return found


def _compared(name, config, theirs):
    ours = getattr(config, name)
    # Only whether there is one: its value is a start value.
    if name in ("layer_scale", "logit_bias"):
        return ours is not None, theirs is not None
    if name == "class_position" and not config.class_token:
        return None, None
    if name == "preprocessing":
        theirs = Preprocessing(**theirs) if isinstance(theirs, dict) else theirs
        return _picture_steps(ours), _picture_steps(theirs)
    return ours, theirs


def _argument(name, config):
    value = getattr(config, name)
    return _picture_steps(value) if name == "preprocessing" else value


def _picture_steps(preprocessing):
    names = ("mean", "std", "resize", "crop", "interpolation")
    return {name: getattr(preprocessing, name) for name in names}


def fitting_call(model, fields, asked):
    """The `create_model` call that builds the model these weights need, as text.

    Args:
        model: the model that does not fit: its class, image size and patch size are kept.
        fields: the config that the weights need.
        asked: other arguments of the call.
    """
    own = {name: getattr(model.config, name) for name in sizes_of(type(model))}
    sizes = {**own, **{size: fields[size] for size in SIZES if size in fields}}
    name, variant = _closest(type(model), sizes)
    wanted = {size: value for size, value in sizes.items() if getattr(variant, size) != value}
    if model.config.image_size != fields.get("image_size", variant.image_size):
        wanted["image_size"] = model.config.image_size
    arguments = [f"{argument}={value!r}" for argument, value in {**asked, **wanted}.items()]
    return f"create_model({', '.join([repr(name), *arguments])})"


def sizes_of(model_class):
    """The fields of a model class's config that say how large the model is, and the patch."""
    fields = {field.name for field in dataclasses.fields(model_class.config_class)}
    return [size for size in (*SIZES, "patch_size") if size in fields]


def _closest(model_class, sizes):
    """(name, config) of the published model of a class that has the most of these sizes."""
    classes = {published for published, _ in NAMES.values()}
    family = next(base for base in model_class.__mro__ if base in classes)
    configs = {
        name: published.config_class(**variant)
        for name, (published, variant) in NAMES.items()
        if published is family
    }
    hits = {
        name: sum(getattr(config, size) == value for size, value in sizes.items())
        for name, config in configs.items()
    }
    best = max(hits, key=hits.get)
    return best, configs[best]
