"""A training run as a short value."""

import dataclasses

from keras_vit.data.augment import augmentations
from keras_vit.hints import did_you_mean
from keras_vit.training.class_weights import check_class_weight
from keras_vit.training.distillation import Distillation
from keras_vit.training.losses import LOSSES
from keras_vit.training.optimizers import OPTIMIZERS
from keras_vit.training.schedules import SCHEDULES

PRECISIONS = ("float32", "mixed_bfloat16", "mixed_float16")


def check_choice(name, value, choices):
    """Raises a ValueError, with the choices and the nearest one, if `value` is none of them."""
    if value not in choices:
        raise ValueError(
            f"There is no {name} {value!r}.{did_you_mean(value, choices)} "
            f"Valid: {', '.join(map(str, choices))}."
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
        weights_model: the model that `weights` are of, where it is another: a TimeSformer starts
            from an image model, such as `"vit_b16"`.
        frozen_blocks: how many blocks, from the input on, are not trained, patch encoder
            included.
        layer_decay: factor on the learning rate from one block to the one before it, or None.
        epochs: passes over the training images.
        batch_size: images a step.
        optimizer: one of `keras_vit.training.optimizers.OPTIMIZERS`: `"adamw"`, `"sgd"` (momentum
            0.9), `"lamb"`, or `"adamw_95"`, whose second moment decays by 0.95.
        learning_rate: the highest rate, after the warm-up.
        schedule: how it falls from there: `"cosine"`, `"linear"` or, in steps, `"tenths"`.
        warmup_epochs: epochs of linear warm-up, may be a fraction.
        min_learning_rate: the rate at the end.
        weight_decay: decay on kernels, multiplied by the learning rate: Keras's and PyTorch's
            figure. big_vision's, divided by its highest rate, is this one.
        clip_norm: bound on the global norm of the gradients, or None.
        loss: `"softmax"`, for images of one class each, or binary cross-entropy of every class:
            `"sigmoid"` adds the classes up, `"sigmoid_mean"` takes their mean. For images with a
            text each, `"contrastive"` or `"pair_sigmoid"`. For images with boxes, `"detection"`:
            the model is then the backbone of a detector, and `config` that of `DetectorConfig`.
        distillation: fields of `keras_vit.training.distillation.Distillation`, for a model that
            learns from a teacher; empty without one.
        class_weight: what an image counts in the loss by its class: a dict from class name to
            weight, 1 for those that are not in it; `"balanced"` for weights that make all classes
            count alike; or None. A mixed image counts as its labels are mixed. Where an image may
            have several classes, it is what a class counts where an image has it.
        label_smoothing: share of the target spread over all classes, in [0, 1).
        augment: names of augmentations, with or without arguments; see
            `keras_vit.data.AUGMENTATIONS`.
        repeats: how often an image comes in a row, each time augmented anew; an epoch then has
            1 / repeats of the images.
        precision: `"float32"`, `"mixed_bfloat16"` or `"mixed_float16"`.
        held_out: share of each class kept for validation where the data has no split of its
            own, in (0, 1).
        monitor: the number of an epoch that tells which is the best, such as `"val_accuracy"` or
            `"val_loss"`; a loss is best where it is lowest, all else where it is highest. None
            for that of the images: `val_accuracy`, `val_mAP` where an image has several classes,
            or `val_recall` where it has a text.
        patience: epochs without a better one after which training ends, or None.
        seed: fixes the split, the order, the augmentation and the weights.
        vocabulary: of the texts, as `keras_vit.data.Tokenizer` takes it; None for the official one.
        clean: how texts are cleaned, likewise; None for `"open_clip"`.
        source: the paper's table that the recipe is from, and what came of it there.

    Raises:
        ValueError: for values outside these rules.
    """

    model: str
    config: dict = dataclasses.field(default_factory=dict)
    preprocessing: dict = dataclasses.field(default_factory=dict)
    weights: str | None = None
    weights_format: str | None = None
    weights_model: str | None = None
    frozen_blocks: int = 0
    layer_decay: float | None = None
    epochs: int = 100
    batch_size: int = 128
    optimizer: str = "adamw"
    learning_rate: float = 1e-3
    schedule: str = "cosine"
    warmup_epochs: float = 5.0
    min_learning_rate: float = 0.0
    weight_decay: float = 0.05
    clip_norm: float | None = 1.0
    loss: str = "softmax"
    distillation: dict = dataclasses.field(default_factory=dict)
    class_weight: str | dict | None = None
    label_smoothing: float = 0.0
    augment: tuple = ()
    repeats: int = 1
    precision: str = "float32"
    held_out: float = 0.2
    monitor: str | None = None
    patience: int | None = None
    seed: int = 0
    vocabulary: str | None = None
    clean: str | None = None
    source: str = ""

    def __post_init__(self):
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        augmentations(self.augment)
        check_class_weight(self.class_weight)
        _check_distillation(self)
        _check_numbers(self)
        _check_start(self)


_CHOICES = {
    "optimizer": OPTIMIZERS,
    "schedule": SCHEDULES,
    "loss": LOSSES,
    "precision": PRECISIONS,
}


def _check_distillation(recipe):
    known = [field.name for field in dataclasses.fields(Distillation)]
    for name in recipe.distillation:
        check_choice("field of distillation", name, known)
    chosen = Distillation(**recipe.distillation)
    if chosen.logits and any(part.stage == "labelled" for part in augmentations(recipe.augment)):
        raise ValueError(
            "A teacher's kept logits are of single images: `augment` must not mix them. Leave out "
            f"`distillation.logits`, or the parts that mix. Received: {recipe.augment}."
        )
    if recipe.distillation and recipe.loss != "softmax":
        raise ValueError(f"`distillation` needs `loss='softmax'`. Received: loss={recipe.loss!r}.")


def _check_numbers(recipe):
    for name in ("epochs", "batch_size", "learning_rate", "repeats"):
        if getattr(recipe, name) <= 0:
            raise ValueError(f"`{name}` must be positive. Received: {getattr(recipe, name)}.")
    if not 0 <= recipe.warmup_epochs < recipe.epochs:
        raise ValueError(
            "`warmup_epochs` must be at least 0 and below `epochs`; set both for a short run. "
            f"Received: warmup_epochs={recipe.warmup_epochs}, epochs={recipe.epochs}."
        )
    if recipe.patience is not None and recipe.patience < 1:
        raise ValueError(f"`patience` must be at least 1. Received: {recipe.patience}.")
    if not 0 < recipe.held_out < 1:
        raise ValueError(f"`held_out` must be between 0 and 1. Received: {recipe.held_out}.")
    if not 0 <= recipe.label_smoothing < 1:
        raise ValueError(
            f"`label_smoothing` must be in [0, 1). Received: {recipe.label_smoothing}."
        )


def _check_start(recipe):
    """What a run starts from, and how much of it moves."""
    if not isinstance(recipe.weights, str | None):
        raise ValueError(f"`weights` must be a name or path as text. Received: {recipe.weights!r}.")
    if recipe.weights_model is not None and recipe.weights is None:
        raise ValueError(f"`weights_model` needs `weights`. Received: {recipe.weights_model!r}.")
    if recipe.frozen_blocks < 0:
        raise ValueError(f"`frozen_blocks` must be at least 0. Received: {recipe.frozen_blocks}.")
    if recipe.layer_decay is None:
        return
    if not 0 < recipe.layer_decay <= 1:
        raise ValueError(f"`layer_decay` must be in (0, 1]. Received: {recipe.layer_decay}.")
    if recipe.optimizer != "adamw":
        raise ValueError(
            f"`layer_decay` needs `optimizer='adamw'`. Received: {recipe.optimizer!r}."
        )
