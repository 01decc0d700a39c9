"""Recipes: all that a training run is, as short values."""

import ast
import dataclasses
import difflib

from keras_vit.data import AUGMENTATIONS

PRECISIONS = ("float32", "mixed_bfloat16", "mixed_float16")


def _check_choice(name, value, choices):
    if value not in choices:
        close = difflib.get_close_matches(str(value), [str(choice) for choice in choices], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"There is no {name} {value!r}.{hint} Valid: {', '.join(map(str, choices))}."
        )


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A training run, the data apart.

    Args:
        model: one of `keras_vit.list_models()`.
        config: fields of the model's config to change.
        preprocessing: fields of `Preprocessing` to change (`resize`, `crop`, `mean`, …).
        weights: what the model starts from, as `create_model` takes it, or None: a name from
            `keras_vit.weights.list_weights()`, a file or a folder. Its conventions, and its
            preprocessing, are then the model's.
        weights_format: the format of `weights`, where the file does not say.
        frozen_blocks: how many blocks, from the input on, are not trained, patch encoder
            included.
        layer_decay: factor on the learning rate from one block to the one before it, or None.
        epochs: passes over the training images.
        batch_size: images a step.
        learning_rate: the highest rate, after the warm-up; cosine from there.
        warmup_epochs: epochs of linear warm-up, may be a fraction.
        min_learning_rate: the rate at the end.
        weight_decay: AdamW's decay on kernels, multiplied by the learning rate.
        clip_norm: bound on the global norm of the gradients, or None.
        label_smoothing: share of the target spread over all classes, in [0, 1).
        augment: names of augmentations, in order; see `keras_vit.data.AUGMENTATIONS`.
        precision: `"float32"`, `"mixed_bfloat16"` or `"mixed_float16"`.
        held_out: share of each class kept for validation where the data has no split of its
            own, in (0, 1).
        seed: fixes the split, the order, the augmentation and the weights.

    Raises:
        ValueError: for values outside these rules.
    """

    model: str
    config: dict = dataclasses.field(default_factory=dict)
    preprocessing: dict = dataclasses.field(default_factory=dict)
    weights: str | None = None
    weights_format: str | None = None
    frozen_blocks: int = 0
    layer_decay: float | None = None
    epochs: int = 100
    batch_size: int = 128
    learning_rate: float = 1e-3
    warmup_epochs: float = 5.0
    min_learning_rate: float = 0.0
    weight_decay: float = 0.05
    clip_norm: float | None = 1.0
    label_smoothing: float = 0.0
    augment: tuple = ()
    precision: str = "float32"
    held_out: float = 0.2
    seed: int = 0

    def __post_init__(self):
        for name in ("epochs", "batch_size", "learning_rate"):
            if getattr(self, name) <= 0:
                raise ValueError(f"`{name}` must be positive. Received: {getattr(self, name)}.")
        if not 0 <= self.warmup_epochs < self.epochs:
            raise ValueError(
                "`warmup_epochs` must be at least 0 and below `epochs`; set both for a short run. "
                f"Received: warmup_epochs={self.warmup_epochs}, epochs={self.epochs}."
            )
        if not 0 < self.held_out < 1:
            raise ValueError(f"`held_out` must be between 0 and 1. Received: {self.held_out}.")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(
                f"`label_smoothing` must be in [0, 1). Received: {self.label_smoothing}."
            )
        if not isinstance(self.weights, str | None):
            raise ValueError(
                f"`weights` must be a name or path as text. Received: {self.weights!r}."
            )
        if self.frozen_blocks < 0:
            raise ValueError(f"`frozen_blocks` must be at least 0. Received: {self.frozen_blocks}.")
        if self.layer_decay is not None and not 0 < self.layer_decay <= 1:
            raise ValueError(f"`layer_decay` must be in (0, 1]. Received: {self.layer_decay}.")
        _check_choice("precision", self.precision, PRECISIONS)
        for name in self.augment:
            _check_choice("augment", name, AUGMENTATIONS)


# A ViT for small grey pictures that two cores can train.
_SMALL = {
    "width": 64,
    "depth": 6,
    "num_heads": 4,
    "mlp_dim": 128,
    "channels": 1,
    # Averaging the patches learns faster from few pictures than a class token does.
    "pooling": "gap",
    "class_token": False,
}
_GREY = {"mean": (0.5,), "std": (0.5,)}

RECIPES = {
    # scikit-learn's 8 x 8 digits, in a minute and a half on two cores.
    "digits": Recipe(
        "vit_ti16",
        config={
            **_SMALL,
            "image_size": 8,
            "patch_size": 2,
            "depth": 3,
            "activation": "gelu_tanh",
            "position": "sincos2d",
        },
        preprocessing=_GREY,
        epochs=100,
        batch_size=64,
        learning_rate=4e-3,
        augment=("shift",),
        label_smoothing=0.1,
    ),
    # 28 x 28 clothes, made for 45 minutes on two cores. Measured there: three blocks on 16 wide
    # tokens learn more in a minute than six, or than 49 narrow tokens, whose attention is slow;
    # moves of three pixels cost more epochs than there are; the exact GELU's gradient takes a
    # quarter of a step.
    "vit_fashion_mnist": Recipe(
        "vit_ti16",
        config={
            **_SMALL,
            "image_size": 28,
            "patch_size": 7,
            "width": 128,
            "depth": 3,
            "mlp_dim": 256,
            "activation": "gelu_tanh",
            "position": "sincos2d",
        },
        preprocessing={"mean": (0.286,), "std": (0.353,)},
        epochs=44,
        learning_rate=2e-3,
        warmup_epochs=1.0,
        augment=("flip", "small_shift"),
        label_smoothing=0.1,
    ),
    # One's own pictures from published weights: small steps, smaller ones in the early blocks, as
    # in BEiT's and MAE's fine-tuning. Not measured here: the weights have to be downloaded.
    "fine_tune": Recipe(
        "vit_s16",
        weights="vit_s16_augreg_i21k",
        epochs=20,
        batch_size=64,
        learning_rate=3e-4,
        warmup_epochs=2.0,
        layer_decay=0.75,
        augment=("inception_crop", "flip"),
        label_smoothing=0.1,
    ),
    # One's own pictures from scratch, after DeiT's settings without its mixing of images.
    "from_scratch": Recipe(
        "vit_ti16",
        config={"drop_path": 0.1},
        preprocessing={"resize": "crop", "crop": 0.875},
        augment=("inception_crop", "flip"),
        label_smoothing=0.1,
    ),
}


def recipe(name, changes=None):
    """Returns the recipe called `name`, with fields changed.

    Args:
        name: one of `RECIPES`.
        changes: dict of field name to value; a value given as text is read as a Python
            literal. `config.FIELD` and `preprocessing.FIELD` reach into those.

    Raises:
        ValueError: for an unknown recipe or field (the error lists the valid ones), or a
            value of the wrong kind.

    Example:

    >>> recipe("digits", {"epochs": "30", "config.depth": "2"}).epochs
    30
    """
    _check_choice("recipe", name, RECIPES)
    # Together: the rules hold between fields, whatever the order in which they are given.
    fields = {}
    for key, value in (changes or {}).items():
        _change(fields, RECIPES[name], key, value)
    return dataclasses.replace(RECIPES[name], **fields)


def _change(fields, recipe, key, value):
    """Puts a changed field into `fields`."""
    field, _, inner = key.partition(".")
    _check_choice("field", field, [f.name for f in dataclasses.fields(Recipe)])
    value = _literal(value)
    if inner:
        if field not in ("config", "preprocessing"):
            raise ValueError(f"`{field}` has no parts. Received: {key!r}.")
        value = {**fields.get(field, getattr(recipe, field)), inner: value}
    _check_kind(field, value, getattr(recipe, field))
    if field == "augment":
        value = (value,) if isinstance(value, str) else tuple(value)
    fields[field] = value


def _literal(value):
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def _check_kind(field, value, current):
    stated = {field.name: field.type for field in dataclasses.fields(Recipe)}[field]
    wider = {float: int | float, float | None: int | float | None, tuple: tuple | list | str}
    wanted = wider.get(stated, stated)
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise ValueError(f"`{field}` must be like {current!r}. Received: {value!r}.")
