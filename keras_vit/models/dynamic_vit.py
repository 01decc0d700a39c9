"""DynamicViT: a ViT that leaves patch tokens behind on the way, those that each image needs least.

Rao et al., *DynamicViT: Efficient Vision Transformers with Dynamic Token Sparsification*, 2021,
arXiv 2106.02034 (table 1: DeiT-S with keep ratios of 0.5 to 0.9, DeiT-B; the width of 256 from
their code).
"""

import dataclasses

import keras

from keras_vit.layers import Patches, TokenScorer, TopTokens, TransformerBlock
from keras_vit.layers.choices import check_choice
from keras_vit.layers.kept_tokens import KEPT_POOLING
from keras_vit.layers.sizes import patch_grid
from keras_vit.models.base import NamedVariants, copy_by_path, image_input
from keras_vit.models.blocks import block_layers
from keras_vit.models.deit import COMMON as DEIT
from keras_vit.models.vit import VARIANTS as VIT_VARIANTS
from keras_vit.models.vit import ViT, ViTConfig, classified, encoded

# Sizes of DeiT; the plain one, with a class token alone.
COMMON = {"patch_size": 16, "preprocessing": DEIT["preprocessing"]}
VARIANTS = {
    "ti": VIT_VARIANTS["Ti"],
    "w256": {"width": 256, "depth": 12, "num_heads": 4, "mlp_dim": 1024},
    "s": VIT_VARIANTS["S"],
    "b": VIT_VARIANTS["B"],
}
# Name -> fields of the config. Without a number the ratio is 0.7.
NAMES = {
    **{
        f"dynamic_deit_{size}16": {**COMMON, **fields, "keep_ratios": 0.7}
        for size, fields in VARIANTS.items()
    },
    **{
        f"dynamic_deit_s16_{round(100 * ratio)}": {
            **COMMON,
            **VARIANTS["s"],
            "keep_ratios": ratio,
        }
        for ratio in (0.5, 0.6, 0.8, 0.9)
    },
}


@dataclasses.dataclass(frozen=True)
class DynamicViTConfig(ViTConfig):
    """Everything that defines a DynamicViT: the fields of `ViTConfig`, and those of its stages.

    Args:
        stage_blocks: the blocks before which patch tokens are left behind, in rising order; by
            default after each quarter of the blocks: 3, 6 and 9 of 12.
        keep_ratios: share of all patch tokens that is kept from each stage on, none above the one
            before it. A number `r` stands for `r, r ** 2, r ** 3, ...`.
    """

    stage_blocks: tuple | None = None
    keep_ratios: float | tuple = 0.7

    def __post_init__(self):
        super().__post_init__()
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        quarter = self.depth // 4
        default = tuple(range(quarter, 3 * quarter + 1, quarter)) if quarter else (1,)
        fix("stage_blocks", tuple(default if self.stage_blocks is None else self.stage_blocks))
        ratios = self.keep_ratios
        if isinstance(ratios, int | float):
            ratios = tuple(float(ratios) ** (stage + 1) for stage in range(len(self.stage_blocks)))
        fix("keep_ratios", tuple(ratios))
        _check_stages(self)
        _check_ratios(self)
        check_choice("pooling", self.pooling, KEPT_POOLING)
        plain = self.attention == "softmax" and self.position != "relative" and not self.merged
        if not plain or self.width % 4:
            raise ValueError(
                "A DynamicViT has the softmax, no bias by offsets, no merging, and a `width` that "
                f"is a multiple of 4. Received: attention={self.attention!r}, "
                f"position={self.position!r}, merged={self.merged}, width={self.width}."
            )

    @property
    def num_patches(self):
        """Number of patch tokens before the first stage."""
        rows, columns = patch_grid(self.image_size, self.patch_size)
        return rows * columns

    @property
    def kept(self):
        """Number of patch tokens from each stage on: the ratios of all, rounded down.

        Raises:
            ValueError: if none is left.
        """
        kept = tuple(int(self.num_patches * ratio) for ratio in self.keep_ratios)
        if not kept[-1]:
            raise ValueError(
                "`keep_ratios` must leave a token. Received: "
                f"keep_ratios={self.keep_ratios}, which leave {kept} of {self.num_patches}."
            )
        return kept


def _check_stages(config):
    stages, depth = config.stage_blocks, config.depth
    whole = all(isinstance(stage, int) and 0 <= stage < depth for stage in stages)
    if not stages or not whole or list(stages) != sorted(set(stages)):
        raise ValueError(
            "`stage_blocks` must be numbers of blocks in rising order, from 0 to `depth` - 1. "
            f"Received: stage_blocks={stages}, depth={depth}."
        )


def _check_ratios(config):
    ratios = config.keep_ratios
    if len(ratios) != len(config.stage_blocks):
        raise ValueError(
            "`keep_ratios` must have one ratio for each of the `stage_blocks`. "
            f"Received: keep_ratios={ratios}, stage_blocks={config.stage_blocks}."
        )
    if not all(0 < ratio <= 1 for ratio in ratios) or list(ratios) != sorted(ratios, reverse=True):
        raise ValueError(
            "`keep_ratios` must be above 0, at most 1, and none above the one before it. "
            f"Received: keep_ratios={ratios}."
        )


@keras.saving.register_keras_serializable(package="keras_vit")
class DynamicViT(NamedVariants, ViT):
    """A ViT that keeps a fixed number of patch tokens from each stage on: those it scores highest.

    The others are really left behind: every shape is known, and the later blocks are the cheaper
    for it. Before the block of each stage stand the layers `score_0`, `select_0`, …. With ratios
    of 1 it is the `ViT`. It is trained as a `DynamicViTTrainer`.

    Args and call arguments are those of `ViT`, with a `DynamicViTConfig`.

    Returns:
        Logits `[b, num_classes]`. The `tokens` of `features` are those of the patches that are
        left, by falling score, `[b, kept, width]`.

    Example:

    >>> config = DynamicViTConfig(
    ...     image_size=64, width=12, depth=4, num_heads=3, mlp_dim=8, keep_ratios=0.5
    ... )
    >>> model = DynamicViT(config)
    >>> [model.get_layer(f"block_{index}").output.shape[1] for index in range(4)]
    [17, 9, 5, 3]
    """

    config_class = DynamicViTConfig
    variants = NAMES

    def __init__(self, config, name="dynamic_vit", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)
        for stage in range(len(config.stage_blocks)):
            # A choice has no gradient: scores learn in a `DynamicViTTrainer` only.
            self.get_layer(f"score_{stage}").trainable = False

    @classmethod
    def from_image_model(cls, model, **fields):
        """Builds a DynamicViT that begins with what a ViT has learned; its scores are new.

        Args:
            model: a `ViT`.
            **fields: `stage_blocks` and `keep_ratios`.

        Raises:
            ValueError: for stages and ratios that do not fit.
        """
        dynamic = cls(dynamic_config(model, **fields), dtype=model.policy)
        copy_by_path(model, dynamic)
        return dynamic

    @staticmethod
    def build_graph(config, policy):
        images = image_input(config, policy)
        patches = Patches(config.patch_size, name="patches", dtype=policy)(images)
        tokens = encoded(patches, config, policy)
        layers = block_layers(config, policy, TransformerBlock, mlp=config.mlp)
        for index, block in enumerate(layers):
            if index in config.stage_blocks:
                tokens = _selected(tokens, config.stage_blocks.index(index), config, policy)
            tokens = block(tokens)
        return images, *classified(tokens, config, policy)


def _selected(tokens, stage, config, policy):
    """The tokens that go on from a stage."""
    scores = score(stage, config, policy)(tokens)
    count, prefix = config.kept[stage], config.num_prefix
    return TopTokens(count, prefix, name=f"select_{stage}", dtype=policy)(tokens, scores)


def score(stage, config, policy):
    """Returns the layer that scores the patch tokens before a stage."""
    return TokenScorer(config.num_prefix, name=f"score_{stage}", dtype=policy)


def dynamic_config(model, **fields):
    """Returns the config of a DynamicViT that is made of a ViT.

    Raises:
        ValueError: if `model` is no plain ViT.
    """
    plain = getattr(model, "build_graph", None) is ViT.build_graph
    if not plain or type(model.config) is not ViTConfig:
        raise ValueError(
            "`model` must be a ViT or a DINOv2 of this package; a distilled DeiT has two heads. "
            f"Received: {type(model).__name__}."
        )
    names = [field.name for field in dataclasses.fields(ViTConfig)]
    return DynamicViTConfig(**{name: getattr(model.config, name) for name in names}, **fields)
