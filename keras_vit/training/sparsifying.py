"""DynamicViT's recipe: a trained ViT learns which patch tokens it can do without."""

import dataclasses

import keras
from keras import ops

from keras_vit.models import DynamicViTTrainer
from keras_vit.objectives import DynamicViTLoss
from keras_vit.step import exact
from keras_vit.training.fitting import fit
from keras_vit.training.optimizers import AdamW, decays
from keras_vit.training.schedules import warmup_cosine

# The authors' code does not train these.
STILL = ("patch_encoder/class_token", "patch_encoder/position")


@dataclasses.dataclass(frozen=True)
class Sparsifying:
    """How a ViT learns to leave tokens behind; the values are those of the paper for DeiT-S.

    Args:
        keep_ratios, stage_blocks: of the `DynamicViTConfig`.
        epochs: passes over the training images.
        batch_size: images a step.
        learning_rate: of the scores, the highest rate after the warm-up.
        backbone_factor: what the rate of all other weights is multiplied by.
        frozen_epochs: epochs in which the scores alone learn.
        warmup_epochs: epochs of linear warm-up.
        min_learning_rate: the rate at the end of the cosine.
        weight_decay: decay on kernels.
        clip_norm: bound on the global norm of the gradients, or None.
        ema: factor of the moving average of the weights, or None.
        ratio_weight: of the loss that holds the ratios; the authors take 5 for DeiT-B.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034, and their code.
    """

    keep_ratios: float | tuple = 0.7
    stage_blocks: tuple | None = None
    epochs: int = 30
    batch_size: int = 1024
    learning_rate: float = 1e-3
    backbone_factor: float = 0.01
    frozen_epochs: int = 5
    warmup_epochs: int = 5
    min_learning_rate: float = 1e-6
    weight_decay: float = 0.05
    clip_norm: float | None = None
    ema: float | None = 0.9999
    ratio_weight: float = 2.0


# For `vit_fashion_mnist`, whose 16 patch tokens become 11 and 7. Few steps want a faster backbone.
SMALL = Sparsifying(
    stage_blocks=(1, 2),
    epochs=10,
    batch_size=128,
    backbone_factor=0.1,
    frozen_epochs=1,
    warmup_epochs=1,
    clip_norm=1.0,
    ema=None,
)


@keras.saving.register_keras_serializable(package="keras_vit")
class LateAdamW(AdamW):
    """`AdamW` whose weights with a factor stay as they are for a number of steps.

    Args:
        *arguments, **options: those of `AdamW`.
        frozen_steps: how many steps. The moments go on meanwhile.
    """

    def __init__(self, *arguments, frozen_steps=0, **options):
        super().__init__(*arguments, **options)
        self.frozen_steps = frozen_steps

    def update_step(self, gradient, variable, learning_rate):
        if self._trainable_variables[self._get_variable_index(variable)].path in self.factors:
            moving = ops.cast(self.iterations >= self.frozen_steps, learning_rate.dtype)
            learning_rate = learning_rate * moving
        super().update_step(gradient, variable, learning_rate)

    def get_config(self):
        return {**super().get_config(), "frozen_steps": self.frozen_steps}


def compiled(trainer, recipe, steps_per_epoch):
    """Compiles a `DynamicViTTrainer` for a `Sparsifying`, and returns it."""
    factors = {
        weight.path: 0.0 if weight.path in STILL else recipe.backbone_factor
        for weight in trainer.trainable_variables
        if not weight.path.startswith("score_")
    }
    rate = warmup_cosine(
        recipe.learning_rate,
        recipe.epochs * steps_per_epoch,
        recipe.warmup_epochs * steps_per_epoch,
        recipe.min_learning_rate,
    )
    optimizer = LateAdamW(
        rate,
        weight_decay=recipe.weight_decay,
        epsilon=1e-8,
        factors=factors,
        frozen_steps=recipe.frozen_epochs * steps_per_epoch,
        name="adamw",
    )
    kept = [variable for variable in trainer.trainable_variables if not decays(variable)]
    optimizer.exclude_from_weight_decay(var_list=kept)
    optimizer.build(trainer.trainable_variables)
    exact(trainer, clip_norm=recipe.clip_norm, ema=recipe.ema)
    trainer.compile(
        optimizer,
        DynamicViTLoss(trainer.config.keep_ratios, recipe.ratio_weight),
        metrics=[keras.metrics.CategoricalAccuracy("accuracy")],
    )
    return trainer


def sparsified(model, batches, steps_per_epoch, recipe=SMALL, **options):
    """Fine-tunes a trained ViT into a `DynamicViT`.

    Args:
        model: a `ViT` with classes; its weights stay as they are.
        batches: as `keras_vit.training.fit` takes them, with targets `[b, num_classes]`.
        steps_per_epoch: batches of an epoch.
        recipe: a `Sparsifying`.
        **options: of `fit`, such as `backup`, `validation_data` or `verbose`. Validation is that
            of the model that comes out: the highest scores are kept.

    Returns:
        The `DynamicViT`, of the last step's weights.

    Example:

    >>> import tensorflow as tf
    >>> from keras_vit.models import ViT, ViTConfig
    >>> vit = ViT(ViTConfig(image_size=32, width=12, depth=3, num_heads=3, mlp_dim=8,
    ...                     num_classes=2))
    >>> data = tf.data.Dataset.from_tensors((tf.ones((2, 32, 32, 3)), tf.eye(2))).repeat()
    >>> recipe = Sparsifying(stage_blocks=(1,), keep_ratios=0.5, epochs=2, warmup_epochs=0)
    >>> sparsified(vit, data, 1, recipe, verbose=0).config.kept
    (2,)
    """
    trainer = DynamicViTTrainer.from_image_model(
        model, stage_blocks=recipe.stage_blocks, keep_ratios=recipe.keep_ratios
    )
    compiled(trainer, recipe, steps_per_epoch)
    fit(trainer, batches, recipe.epochs, steps_per_epoch, **options)
    return trainer.pruned()
