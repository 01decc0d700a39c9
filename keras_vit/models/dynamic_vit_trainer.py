"""A DynamicViT in training: all tokens stay, and what is kept is a decision with a gradient.

Rao et al., *DynamicViT*, 2021, arXiv 2106.02034.
"""

import dataclasses

import keras
from keras import ops

from keras_vit.layers import KeptBlock, LayerNorm, Patches, TokenDecision, TransformerBlock
from keras_vit.layers.kept_tokens import KEPT_POOLING, kept_distances
from keras_vit.models.base import ImageModel, classifier, copy_by_path, image_input
from keras_vit.models.blocks import block_layers
from keras_vit.models.dynamic_vit import (
    DynamicViT,
    DynamicViTConfig,
    dynamic_config,
    score,
)
from keras_vit.models.vit import ViT, ViTConfig, encoded

TEACHER = "teacher"


@keras.saving.register_keras_serializable(package="keras_vit")
class DynamicViTTrainer(ImageModel):
    """A DynamicViT that learns, with the frozen ViT that it began as.

    In training each patch token is kept or dropped at random by its score, with the gradient of a
    Gumbel-softmax; a dropped one stays dropped, and no other token attends to it any more. Without
    `training` the highest scores are kept, as a `DynamicViT` keeps them. It is trained with
    `keras_vit.objectives.DynamicViTLoss`; `pruned()` then gives the model to use.

    Args:
        config: a `DynamicViTConfig`.
        name: the model's name.
        dtype: dtype or policy.

    Call arguments:
        images: normalised float images `[b, h, w, c]`.
        training: whether decisions are drawn and the dropouts are on.

    Returns:
        A dict: `logits` and `teacher_logits` `[b, num_classes]`; `kept` `[b, stages]`, the share
        of patch tokens that is kept from each stage on; `distances` `[b]`, the squared distances
        of the last stage's kept tokens from the teacher's, summed over tokens and channels; and
        `distance_counts` `[b]`, how many numbers those are.

    Example:

    >>> vit = ViT(ViTConfig(image_size=32, width=12, depth=2, num_heads=3, mlp_dim=8))
    >>> trainer = DynamicViTTrainer.from_image_model(vit, stage_blocks=[1], keep_ratios=0.5)
    >>> trainer(keras.ops.ones((2, 32, 32, 3)))["kept"].numpy().tolist()
    [[0.5], [0.5]]
    """

    config_class = DynamicViTConfig

    def __init__(self, config, name="dynamic_vit_trainer", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)
        self.get_layer(TEACHER).trainable = False

    @classmethod
    def from_image_model(cls, model, **fields):
        """Builds the trainer of a ViT: student and teacher begin with its weights.

        Args:
            model: a trained `ViT`.
            **fields: `stage_blocks` and `keep_ratios` of the config; others must stay.

        Raises:
            ValueError: for stages and ratios that do not fit, or a model without classes.
        """
        trainer = cls(dynamic_config(model, **fields), dtype=model.policy)
        copy_by_path(model, trainer)
        teacher = trainer.get_layer(TEACHER)
        teacher.set_weights(model.get_weights())
        return trainer

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """As in Keras: the metrics that the model is compiled with are of the logits."""
        return super().compute_metrics(x, y, y_pred["logits"], sample_weight)

    def pruned(self):
        """Returns the `DynamicViT` with what was learned."""
        model = DynamicViT(self.config, dtype=self.policy)
        copy_by_path(self, model)
        return model

    @staticmethod
    def build_graph(config, policy):
        if not config.num_classes:
            raise ValueError("A DynamicViT learns from its teacher's logits: it needs classes.")
        images = image_input(config, policy)
        tokens, decisions = _decided(images, config, policy)
        taps = _pooled(tokens, decisions[-1], config, policy)
        teacher = _teacher(config, policy)(images)
        distances, counts = kept_distances(taps["tokens"], teacher["tokens"], decisions[-1])
        shares = [ops.mean(kept, axis=1) for kept in decisions]
        outputs = {
            "logits": classifier(taps["pooled"], config, policy),
            "teacher_logits": teacher["logits"],
            "kept": ops.concatenate(shares, axis=-1),
            "distances": distances,
            "distance_counts": counts,
        }
        return images, outputs, taps


def _decided(images, config, policy):
    """The tokens after the last block, and what is kept from each stage on."""
    patches = Patches(config.patch_size, name="patches", dtype=policy)(images)
    tokens, decisions, first = encoded(patches, config, policy), [], config.stage_blocks[0]
    kinds = [TransformerBlock if i < first else KeptBlock for i in range(config.depth)]
    for index, block in enumerate(block_layers(config, policy, kinds, mlp=config.mlp)):
        if index in config.stage_blocks:
            stage, before = len(decisions), decisions[-1:]
            scores = score(stage, config, policy)(tokens, *before)
            decide = TokenDecision(config.kept[stage], name=f"decide_{stage}", dtype=policy)
            decisions.append(decide(scores, *before))
        tokens = block(tokens, *decisions[-1:])
    return tokens, decisions


def _pooled(tokens, kept, config, policy):
    """The taps of a ViT, whose mean is over kept patch tokens only."""
    normed = LayerNorm(config.norm_epsilon, name="norm", dtype=policy)(tokens)
    prefix, patches = normed[:, : config.num_prefix], normed[:, config.num_prefix :]
    pooled = KEPT_POOLING[config.pooling](normed, kept)
    return {"tokens": patches, "prefix": prefix, "pooled": pooled}


def _teacher(config, policy):
    """The frozen ViT, a model of its own whose weights' paths begin with its name."""
    names = [field.name for field in dataclasses.fields(ViTConfig)]
    fields = {name: getattr(config, name) for name in names}
    still = {"dropout": 0.0, "attention_dropout": 0.0, "drop_path": 0.0}
    with keras.name_scope(TEACHER):
        images, logits, taps = ViT.build_graph(ViTConfig(**{**fields, **still}), policy)
    return keras.Model(images, {"logits": logits, "tokens": taps["tokens"]}, name=TEACHER)
