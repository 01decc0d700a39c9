"""KerasHub's ViT, DeiT and DINOv2 as models of ours, and ours as KerasHub's."""

import dataclasses
import logging

import keras
import numpy as np
from keras import ops

from keras_vit.layers.extras import require
from keras_vit.layers.sizes import patch_grid
from keras_vit.models import DeiT, ViTConfig
from keras_vit.weights.archives import Archive
from keras_vit.weights.archives.precision import widened
from keras_vit.weights.checkpoint import Checkpoint
from keras_vit.weights.hub_families import FAMILIES, family_for
from keras_vit.weights.hub_preprocessing import converter_arguments, preprocessing_of
from keras_vit.weights.loading import POSITION, fill
from keras_vit.weights.sources import SOURCES
from keras_vit.weights.tables.keras_hub import TRAINED_POSITIONS
from keras_vit.weights.targets.target import in_the_way, own_attention

logger = logging.getLogger("keras_vit")
# What holds no weights may be given up; the rest would leave weights without a place.
GIVEN_UP_FROM = ("activation", "dropout", "dropout_rate", "drop_path_rate", "preprocessor")
GIVEN_UP_TO = (
    "activation",
    "attention_dropout",
    "drop_path",
    "dropout",
    "norm_epsilon",
    "preprocessing",
)


def from_keras_hub(model, image_size=None, *, accept=()):
    """Makes a model of ours from KerasHub's ViT, DeiT or DINOv2, with its weights and conventions.

    A backbone gives a model without a head that returns what the backbone returns: all tokens
    after the final norm (`pooling="none"`). KerasHub's DeiT has one head, on the class token: it
    becomes a `ViT` whose one register is the distillation token, whose position is added to it.
    Where KerasHub says nothing of preprocessing, mean and std are those of the published weights;
    resizing is always antialiased here. What was done is in `model.weights_report`.

    Args:
        model: a `ViTBackbone`, `ViTImageClassifier`, `DeiTBackbone`, `DeiTImageClassifier` or
            `DINOV2Backbone` of `keras_hub.models`.
        image_size: side in pixels, or (height, width), of the new model; KerasHub's by default.
            Positions are resized from the size that `model` has, bicubically as in PyTorch,
            where the weights come from (KerasHub's own numbers depend on Keras's backend).
        accept: arguments of KerasHub's to give up where our models have nothing like it:
            `"dropout"`, `"dropout_rate"`, `"drop_path_rate"`, `"activation"` of the head (our
            output is then its logits), `"preprocessor"`.

    Returns:
        A `ViT`, or a `DINOv2`, of the same dtype policy.

    Raises:
        ImportError: if KerasHub is not installed.
        ValueError: if the model is none of these, or has something that our models have not; the
            message names it.
    """
    backbone, family = _opened(model)
    lost = {**family.lost_from(backbone), **_head_lost(model, backbone)}
    fields = {**family.fields(backbone), **_head_fields(model, backbone)}
    preprocessing, reason, remark = preprocessing_of(model, fields["channels"])
    lost |= in_the_way(preprocessor=reason)
    _require_nothing_lost(lost, accept, GIVEN_UP_FROM, "KerasHub's model cannot be one of ours")
    if preprocessing is None and fields["channels"] == 3:
        published = SOURCES[family.source].preprocessing
        preprocessing = {name: published[name] for name in ("mean", "std")}
    config = ViTConfig(**fields, preprocessing=preprocessing)
    size = config.image_size if image_size is None else image_size
    ours = family.model_class(
        dataclasses.replace(config, image_size=size), dtype=backbone.dtype_policy
    )
    resize = "bicubic_antialias" if getattr(backbone, "antialias_in_interpolation", 0) else None
    report = fill(ours, _checkpoint(model, family, config), resize=resize)
    notes = report.notes + ((remark,) if remark else ())
    ours.weights_report = dataclasses.replace(report, source="keras_hub", notes=notes)
    for line in ours.weights_report.remarks:
        logger.warning("%s: %s", ours.name, line)
    return ours


def to_keras_hub(model, *, accept=()):
    """Makes KerasHub's ViT, DeiT or DINOv2 from a model of ours, with its weights.

    LayerScale makes it a DINOv2, a register without LayerScale a DeiT, else it is a ViT. Classes
    make it an image classifier with the model's preprocessing; without them it is a backbone,
    which returns all tokens after the final norm, whatever the pooling. A token without a position
    of its own gets one of zero.

    Args:
        model: a model of this package.
        accept: fields of the config to give up where KerasHub has nothing like it: `"dropout"`,
            `"attention_dropout"`, `"drop_path"`, `"preprocessing"`, and, with other outputs than
            the model's, `"activation"` and `"norm_epsilon"`.

    Returns:
        A backbone, or an image classifier, of `keras_hub.models`, of the same dtype policy.

    Raises:
        ImportError: if KerasHub is not installed.
        ValueError: if KerasHub's model cannot compute what the model computes; the message names
            the fields.
    """
    hub = require("keras_hub", extra="hub")
    config, family = model.config, family_for(model.config)
    arguments, reason = converter_arguments(config)
    lost = {
        **family.lost_to(config),
        **in_the_way(
            position=config.position != "learned" and "KerasHub's positions are a learned table",
            head_distillation=isinstance(model, DeiT)
            and "KerasHub's DeiT has one head, on the class token",
            preprocessing=config.num_classes and reason,
        ),
        **({} if config.num_classes else _pooling_lost(config)),
        **own_attention(config),
    }
    _require_nothing_lost(lost, accept, GIVEN_UP_TO, "This model cannot be one of KerasHub's")
    backbone = getattr(hub.models, family.backbone)
    theirs = backbone(**family.arguments(config), dtype=model.policy)
    if config.num_classes:
        theirs = _classifier(hub, family, theirs, config, arguments)
    _write(model, theirs, family)
    return theirs


def _opened(model):
    """The model's backbone and its family."""
    models = require("keras_hub", extra="hub").models
    for family in FAMILIES.values():
        backbone = getattr(models, family.backbone)
        if isinstance(model, backbone):
            return model, family
        if family.classifier and isinstance(model, getattr(models, family.classifier)):
            if isinstance(model.backbone, backbone):
                return model.backbone, family
    names = [name for f in FAMILIES.values() for name in (f.backbone, f.classifier) if name]
    raise ValueError(
        f"`model` must be one of KerasHub's {', '.join(names)}. Received: {type(model).__name__}."
    )


def _head_fields(model, backbone):
    if model is backbone:
        return {"num_classes": 0, "pooling": "none"}
    # KerasHub's DeiT has no layer between the backbone and the head.
    width = getattr(model, "intermediate_dim", None)
    return {
        "num_classes": model.num_classes,
        # What our models cannot pool is refused before this is looked at.
        "pooling": "gap" if model.pooling == "gap" else "token",
        "representation_size": width,
    }


def _head_lost(model, backbone):
    if model is backbone:
        return {}
    linear = keras.activations.get(model.activation) is keras.activations.linear
    with_token = getattr(backbone, "use_class_token", True)
    pooling = {"token": with_token, "gap": not with_token}
    return in_the_way(
        activation=not linear and "our models give logits",
        dropout=model.dropout and "our models have no dropout before the head",
        pooling=not pooling.get(model.pooling, False)
        and "our models take the class token, or average the patch tokens alone",
    )


def _pooling_lost(config):
    return in_the_way(
        pooling=config.pooling == "map" and "KerasHub has no attention pooling",
        representation_size=config.representation_size and "KerasHub has it before a head only",
    )


def _require_nothing_lost(lost, accept, choices, sentence):
    unknown = sorted(set(accept) - set(choices))
    if unknown:
        raise ValueError(f"`accept` may hold {', '.join(choices)}. Received: {unknown[0]!r}.")
    lost = {name: reason for name, reason in lost.items() if name not in accept}
    if lost:
        lines = "".join(f"\n  {name}: {reason}" for name, reason in lost.items())
        free = [name for name in lost if name in choices]
        hint = f"\nTo do without: accept={tuple(free)!r}." if free else ""
        raise ValueError(f"{sentence}:{lines}{hint}")


def _checkpoint(model, family, config):
    """The model as weights to be filled in: its variables under the table's names."""
    variables = _variables(model)
    archive = Archive(
        f"KerasHub's {model.name}",
        {name: tuple(variable.shape) for name, variable in variables.items()},
        lambda name: widened(np.asarray(ops.convert_to_numpy(variables[name])), name),
    )
    fields = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    grid = patch_grid(config.image_size, config.patch_size)
    rows = family.position_rows(config)
    return Checkpoint(archive, family.source, fields, rows, grid, family.table)


def _variables(model):
    """Variable by name: the part that holds it, and its path in there."""
    backbone = getattr(model, "backbone", model)
    # After the input; a user's own name for the backbone is in the names of these layers.
    parts = dict(zip(("embeddings", "encoder", "layernorm"), backbone.layers[1:], strict=False))
    if model is not backbone:
        parts["predictions"] = model.output_dense
        if getattr(model, "intermediate_dim", None):
            parts["pre_logits"] = model.intermediate_layer
    return {
        f"{part}/{variable.path.split(f'{layer.name}/', 1)[1]}": variable
        for part, layer in parts.items()
        for variable in layer.weights
    }


def _classifier(hub, family, backbone, config, arguments):
    names = family.classifier, f"{family.classifier}Preprocessor"
    classifier, preprocessor = (getattr(hub.models, name) for name in names)
    converter = preprocessor.image_converter_cls(**arguments)
    representation = {"intermediate_dim": config.representation_size}
    return classifier(
        backbone=backbone,
        num_classes=config.num_classes,
        preprocessor=preprocessor(image_converter=converter),
        pooling=config.pooling,
        **(representation if config.representation_size else {}),
    )


def _write(model, theirs, family):
    config, variables = model.config, _variables(theirs)
    ours = {variable.path: ops.convert_to_numpy(variable) for variable in model.weights}
    ours[POSITION] = _with_rows(ours[POSITION], config, family.position_rows(config))
    for entry in family.table.entries(config):
        names, layout = entry.options[0]
        for name, array in zip(names, layout.to_theirs(ours[entry.ours]), strict=True):
            variables[name].assign(array)
    if TRAINED_POSITIONS in variables:  # the model is built at the size of its positions
        variables[TRAINED_POSITIONS].assign(ours[POSITION])


def _with_rows(table, config, rows):
    """The position table with zeros, which add nothing, for tokens that have no row in ours."""
    has_rows = int(config.class_token and config.class_position)
    zeros = np.zeros((1, rows - has_rows, config.width), table.dtype)
    return np.concatenate([table[:, :has_rows], zeros, table[:, has_rows:]], axis=1)
