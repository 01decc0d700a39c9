"""Models by name."""

import dataclasses
import logging

from keras_vit.hints import did_you_mean
from keras_vit.models import NAMES as MODELS
from keras_vit.models import DeiT, Detector, DetectorConfig, DINOv2
from keras_vit.models.detector import OWN_FIELDS
from keras_vit.weights.adapted import FIELDS as FREE_FIELDS
from keras_vit.weights.conventions import sizes_of
from keras_vit.weights.load import find
from keras_vit.weights.loading import fill

logger = logging.getLogger("keras_vit")


def list_models():
    """Returns the names that `create_model` knows.

    Example:

    >>> "vit_b16" in list_models()
    True
    """
    return list(MODELS)


def create_model(
    name, weights=None, weights_format=None, weights_image_size=None, dtype=None, **fields
):
    """Builds a model by name, with published weights if asked.

    With `weights`, the model is built with the conventions of their source (epsilon, GELU, class
    position, preprocessing, number of classes, image size); `fields` that are given explicitly hold
    against them. Another `num_classes` gives a new head, another `image_size` or `patch_size`
    resizes what depends on it. What was done is in `model.weights_report`, and what is not plain
    filling is logged.

    Args:
        name: one of `list_models()`.
        weights: name from `keras_vit.weights.list_weights()`, or a path to a file or folder
            of another code: see `keras_vit.weights.load`.
        weights_format: what the file is, where it does not say: a key of
            `keras_vit.weights.SOURCES`.
        weights_image_size: (height, width) of the images that the file's position table is for,
            where neither the file nor a square table tells.
        dtype: dtype or policy, such as `"mixed_bfloat16"`; Keras's global one by default.
        **fields: fields of the model's config to change, such as `num_classes=10`,
            `image_size=(224, 320)`, `pooling="gap"`.

    Returns:
        A Keras model: normalised float images in, logits out.

    Raises:
        ValueError: for an unknown name or field (the error lists the valid ones), or weights that
            do not fit.

    Example:

    >>> create_model("vit_ti16", image_size=32, depth=1, num_classes=10).output_shape
    (None, 10)
    """
    model_class, variant = _entry(name)
    known = [field.name for field in dataclasses.fields(model_class.config_class)]
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise ValueError(f"`{name}` has no field {unknown[0]!r}. Its fields: {', '.join(known)}.")
    if weights is None:
        for argument, value in (
            ("weights_format", weights_format),
            ("weights_image_size", weights_image_size),
        ):
            if value is not None:
                raise ValueError(f"`{argument}` needs `weights`. Received: {value!r}.")
        return model_class(model_class.config_class(**{**variant, **fields}), dtype=dtype)
    checkpoint = find(weights, model_class, weights_format, weights_image_size)
    return _with_weights(name, checkpoint, dtype, fields)


def create_detector(name, weights=None, weights_format=None, dtype=None, **fields):
    """Builds a detector on a backbone by name, the backbone with published weights if asked.

    Args:
        name: one of `keras_vit.models.detector.BACKBONES`: a Swin, or a plain ViT of patches of 8
            or 16 pixels.
        weights, weights_format: of the backbone, as `create_model` takes them; its conventions and
            its mean and deviation of the pixels are then the detector's. Pyramid and heads are new.
        dtype: dtype or policy; Keras's global one by default.
        **fields: fields of the `DetectorConfig`, such as `num_classes=10`, `image_size=(640, 960)`.

    Returns:
        A `Detector`: normalised float images in, deltas and logits of all anchors out. Its loss is
        `keras_vit.objectives.DetectionLoss.of(model)`.

    Raises:
        ValueError: for an unknown name or field, or weights that do not fit.
        ImportError: if KerasHub, whose heads it has, is not installed.

    Example:

    >>> model = create_detector("swin_micro", num_classes=3, image_size=64, levels=(3, 5))
    >>> model.output["logits"].shape
    (None, 756, 3)
    """
    known = [field.name for field in dataclasses.fields(DetectorConfig)]
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise ValueError(f"A detector has no field {unknown[0]!r}. Its fields: {', '.join(known)}.")
    config = DetectorConfig(backbone=name, **fields)
    if weights is None:
        if weights_format is not None:
            raise ValueError(f"`weights_format` needs `weights`. Received: {weights_format!r}.")
        return Detector(config, dtype=dtype)
    sizes = {"image_size": config.image_size, "num_classes": 0}
    backbone = create_model(
        name, weights, weights_format, dtype=dtype, **{**config.backbone_fields, **sizes}
    )
    taken = {
        field.name: getattr(backbone.config, field.name)
        for field in dataclasses.fields(backbone.config)
        if field.name not in OWN_FIELDS
    }
    pixels = {field: getattr(backbone.preprocessing, field) for field in ("mean", "std")}
    preprocessing = dataclasses.replace(config.preprocessing, **pixels)
    model = Detector(
        dataclasses.replace(config, backbone_fields=taken, preprocessing=preprocessing), dtype=dtype
    )
    model.take_backbone(backbone)
    return model


def _with_weights(name, checkpoint, dtype, fields):
    model_class, variant = _entry(name)
    _require_size(name, variant, checkpoint, fields)
    preprocessing = dict(checkpoint.fields["preprocessing"])
    theirs = checkpoint.fields.get("num_classes", 0)
    if fields.get("num_classes", theirs) != theirs:
        preprocessing.pop("class_names", None)  # names of the head that is left behind
    if "preprocessing" in variant:  # no file tells how far the frames of a clip lie apart
        preprocessing.setdefault("stride", variant["preprocessing"].stride)
    asked = fields.get("preprocessing", {})
    if isinstance(asked, dict):
        # What is not changed stays the source's.
        fields = {**fields, "preprocessing": {**preprocessing, **asked}}
    config = model_class.config_class(**{**variant, **checkpoint.fields, **fields})
    model = model_class(config, dtype=dtype)
    asked = tuple(set(fields) - set(FREE_FIELDS))
    report = fill(model, checkpoint, "num_classes" in fields, accept=asked)
    for remark in report.remarks:
        logger.warning("%s: %s", name, remark)
    return model


def _require_size(name, variant, checkpoint, fields):
    """Checks that a file is of the size that the name stands for, unless told otherwise."""
    model_class, _ = _entry(name)
    sizes = [size for size in sizes_of(model_class) if size not in ("mlp", "space_time")]
    if model_class in (DeiT, DINOv2):
        sizes.append("registers")
    named = model_class.config_class(**variant)
    for field in sizes:
        ours, theirs = getattr(named, field), checkpoint.fields.get(field)
        if field in fields:
            if field == "patch_size":  # a kernel is resized, if that is asked
                continue
            ours = fields[field]
        if theirs is not None and theirs != ours:
            raise ValueError(
                f"{checkpoint.archive.origin} is no {name}: its {field} is {theirs}, that of "
                f"{name} is {ours}."
            )


def _entry(name):
    if name not in MODELS:
        raise ValueError(
            f"There is no model {name!r}.{did_you_mean(name, MODELS)} "
            f"The models: {', '.join(list_models())}."
        )
    return MODELS[name]
