"""The plain Vision Transformer.

Dosovitskiy et al., *An Image is Worth 16x16 Words: Transformers for Image Recognition at
Scale*, 2020, arXiv 2010.11929 (table 1: B, L, H); Zhai et al., *Scaling Vision Transformers*,
2021, arXiv 2106.04560 (table 2: g, G); Ti and S from Touvron et al., arXiv 2012.12877; M and
So400m as big_vision defines them.
"""

import dataclasses

import keras

from keras_vit.layers import (
    AttentionPooling,
    LayerNorm,
    MeanPooling,
    PatchEncoder,
    Patches,
    Preprocessing,
    TokenAndMeanPooling,
    TokenPooling,
    TransformerBlock,
)
from keras_vit.layers.attention import head_dim
from keras_vit.layers.choices import check_choice
from keras_vit.layers.patch_encoder import POSITIONS
from keras_vit.layers.sizes import pair, patch_grid
from keras_vit.layers.transformer_block import mlp_named
from keras_vit.models.base import (
    ImageModel,
    check_count,
    check_shared,
    classifier,
    fitted_preprocessing,
    image_input,
)
from keras_vit.models.blocks import blocks
from keras_vit.models.merging import merge_counts, merging_blocks

# The MLP width is stored, not a ratio: it is not 4 for So400m, g and G.
VARIANTS = {
    "Ti": {"width": 192, "depth": 12, "num_heads": 3, "mlp_dim": 768},
    "S": {"width": 384, "depth": 12, "num_heads": 6, "mlp_dim": 1536},
    "M": {"width": 512, "depth": 12, "num_heads": 8, "mlp_dim": 2048},
    "B": {"width": 768, "depth": 12, "num_heads": 12, "mlp_dim": 3072},
    "L": {"width": 1024, "depth": 24, "num_heads": 16, "mlp_dim": 4096},
    "So400m": {"width": 1152, "depth": 27, "num_heads": 16, "mlp_dim": 4304},
    "H": {"width": 1280, "depth": 32, "num_heads": 16, "mlp_dim": 5120},
    "g": {"width": 1408, "depth": 40, "num_heads": 16, "mlp_dim": 6144},
    "G": {"width": 1664, "depth": 48, "num_heads": 16, "mlp_dim": 8192},
}
PATCH_SIZES = (8, 14, 16, 32)
SIZE_NAMES = {"G": "gigantic"}  # lower case must tell g and G apart
# The kind of attention of a block, and the kernel of a Performer's.
ATTENTION = {
    "softmax": ("softmax", None),
    "performer": ("performer", "exponential"),
    "performer_relu": ("performer", "relu"),
}
# Name -> fields of the config.
NAMES = {
    f"vit_{SIZE_NAMES.get(size, size.lower())}{patch}": {"patch_size": patch, **fields}
    for size, fields in VARIANTS.items()
    for patch in PATCH_SIZES
}


@dataclasses.dataclass(frozen=True)
class ViTConfig:
    """Everything that defines a ViT.

    Args:
        image_size: side in pixels, or (height, width); the patch divides it.
        patch_size: side in pixels, or (height, width).
        channels: number of channels of the images.
        width: size of a token.
        depth: number of transformer blocks.
        num_heads: attention heads; divides the width.
        mlp_dim: hidden width of the MLPs.
        num_classes: number of classes; 0 leaves the head out, the output is then the pooled
            vector (or the tokens, for `pooling="none"`).
        pooling: one of `POOLING`. `"token"` takes the class token; `"gap"` averages the patch
            tokens after the final norm (JAX, big_vision); `"gap_then_norm"` averages first and
            norms the mean (timm's `avg`, MAE fine-tuning); `"map"` is attention pooling
            of the patch tokens; `"token_and_mean"` puts class token and mean of the patch
            tokens side by side (DINOv2's heads); `"none"` keeps all tokens.
        class_token: whether there is a class token.
        class_position: whether the class token has a position of its own.
        registers: number of register tokens.
        position: `"learned"`, `"sincos2d"`, `"relative"` (a bias by the offset of two tokens in
            each block) or `"none"`.
        attention: one of `ATTENTION`: `"softmax"`, or `"performer"` and `"performer_relu"`, whose
            cost grows linearly with the number of tokens.
        random_features: of a Performer: number of features, `d * ln(d)` for heads of size `d`
            where None.
        representation_size: width of a tanh layer before the head, or None.
        dropout: rate after the positions, after attention and in the MLPs.
        attention_dropout: rate on the attention probabilities.
        drop_path: stochastic depth of the last block; it rises linearly from 0.
        layer_scale: start value of LayerScale, or None.
        activation: one of `keras_vit.layers.ACTIVATIONS`; JAX weights need `"gelu_tanh"`.
        norm_epsilon: epsilon of the norms.
        mlp: one of `keras_vit.layers.MLPS`: `"mlp"` or `"swiglu"`.
        head_bias: start value of the head's bias; -10 or -6.9 for sigmoid losses.
        merged: how many patch tokens each block merges into others (see `merge_tokens`): a number,
            or one a block.
        remat: whether the blocks compute their values twice in training instead of keeping them.
        preprocessing: a `Preprocessing`; its image size is always the model's. None stands
            for mean and std 0.5.

    Raises:
        ValueError: for sizes that do not fit one another, or names that do not exist.
    """

    image_size: tuple = (224, 224)
    patch_size: tuple = (16, 16)
    channels: int = 3
    width: int = 768
    depth: int = 12
    num_heads: int = 12
    mlp_dim: int = 3072
    num_classes: int = 1000
    pooling: str = "token"
    class_token: bool = True
    class_position: bool = True
    registers: int = 0
    position: str = "learned"
    attention: str = "softmax"
    random_features: int | None = None
    representation_size: int | None = None
    dropout: float = 0.0
    attention_dropout: float = 0.0
    drop_path: float = 0.0
    layer_scale: float | None = None
    activation: str = "gelu"
    norm_epsilon: float = 1e-6
    mlp: str = "mlp"
    head_bias: float = 0.0
    remat: bool = False
    merged: int | tuple = 0
    preprocessing: Preprocessing | None = None

    def __post_init__(self):
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        fix("image_size", pair("image_size", self.image_size))
        fix("patch_size", pair("patch_size", self.patch_size))
        patch_grid(self.image_size, self.patch_size)
        check_shared(self)
        for name in ("width", "num_heads", "mlp_dim"):
            check_count(name, getattr(self, name))
        for name in ("depth", "registers"):
            check_count(name, getattr(self, name), least=0)
        head_dim(self.width, self.num_heads)
        mlp_named(self.mlp)
        check_choice("pooling", self.pooling, POOLING)
        check_choice("position", self.position, POSITIONS)
        _check_attention(self)
        fix("merged", merge_counts(self))
        if self.pooling in ("token", "token_and_mean") and not self.class_token:
            raise ValueError(
                f"`pooling` {self.pooling!r} needs `class_token`. Received: class_token=False."
            )
        fix("preprocessing", fitted_preprocessing(self))

    @property
    def num_prefix(self):
        """Number of tokens before the patches."""
        return int(self.class_token) + self.registers

    @property
    def bias_grids(self):
        """Path of a table of offsets -> (rows, columns) of the tokens it is for."""
        if self.position != "relative":
            return {}
        grid = patch_grid(self.image_size, self.patch_size)
        return {f"block_{index}/attention/relative_bias": grid for index in range(self.depth)}

    @property
    def projection_size(self):
        """(height, width) of what the projection to tokens is a kernel over."""
        return self.patch_size


def _check_attention(config):
    check_choice("attention", config.attention, ATTENTION)
    softmax = config.attention == "softmax"
    if config.random_features is not None:
        check_count("random_features", config.random_features)
    if softmax and config.random_features is not None:
        raise ValueError("`random_features` needs a Performer. Received: attention='softmax'.")
    if not softmax and (config.position == "relative" or config.attention_dropout):
        raise ValueError(
            "A Performer has no scores: `position` must not be 'relative', `attention_dropout` "
            f"must be 0. Received: attention={config.attention!r}, position={config.position!r}, "
            f"attention_dropout={config.attention_dropout}."
        )


@keras.saving.register_keras_serializable(package="keras_vit")
class ViT(ImageModel):
    """A Vision Transformer: normalised float images in, logits out.

    The graph is flat: `patches`, `patch_encoder`, `block_0` …, `norm`, `pool`, `head` are layers
    whose outputs are taken by name, as in `model.get_layer("block_3").output`.

    Args:
        config: a `ViTConfig`.
        name: the model's name.
        dtype: dtype or policy such as `"mixed_bfloat16"`; Keras's global policy by default.

    Call arguments:
        images: float images `[b, h, w, c]`, normalised as `model.preprocessing` says.
        training: whether the dropouts are on.

    Returns:
        Logits `[b, num_classes]`, float32 under a mixed policy.

    Example:

    >>> config = ViTConfig(image_size=32, width=48, depth=2, num_heads=3, mlp_dim=96)
    >>> ViT(config).output_shape
    (None, 1000)
    """

    config_class = ViTConfig

    def __init__(self, config, name="vit", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @classmethod
    def from_variant(cls, variant, dtype=None, **fields):
        """Builds a published size, for example `ViT.from_variant("B/16", num_classes=10)`.

        Args:
            variant: size and patch, `"Ti/16"`, `"So400m/14"`, `"g/14"`, `"G/14"` (g and G
                differ).
            dtype: as in the constructor.
            **fields: any field of `ViTConfig`.

        Raises:
            ValueError: if there is no such variant.
        """
        return cls(variant_config(variant, **fields), dtype=dtype)

    @staticmethod
    def build_graph(config, policy):
        images = image_input(config, policy)
        return images, *transformer(images, config, policy)


def variant_config(variant, **fields):
    """Returns the `ViTConfig` of a published size, such as `"B/16"`, with `fields` changed.

    Raises:
        ValueError: if there is no such variant.
    """
    size, _, patch = variant.partition("/")
    if size not in VARIANTS or not patch.isdigit():
        names = ", ".join(VARIANTS)
        raise ValueError(
            f"`variant` must be a size ({names}) and a patch, like 'B/16'. Received: {variant!r}."
        )
    return ViTConfig(**{"patch_size": int(patch), **VARIANTS[size], **fields})


def transformer(images, config, policy):
    """Returns the logits and the taps of a ViT whose patches are cut from `images`.

    These may be a map of features: patches are of `config.projection_size`.
    """
    x = Patches(config.projection_size, name="patches", dtype=policy)(images)
    return classified(transformed(encoded(x, config, policy), config, policy), config, policy)


def transformed(tokens, config, policy):
    """Returns the tokens after the blocks of a ViT."""
    if config.merged:
        return merging_blocks(tokens, config, policy)
    if config.position == "relative":
        grid = patch_grid(config.image_size, config.patch_size)
        attention, options = "relative", {"grid": grid, "prefix": config.num_prefix}
    else:
        attention, kernel = ATTENTION[config.attention]
        options = kernel and {"kernel": kernel, "random_features": config.random_features}
    return blocks(
        tokens,
        config,
        policy,
        TransformerBlock,
        mlp=config.mlp,
        attention=attention,
        attention_options=options,
    )


def encoded(patches, config, policy):
    """Returns the tokens of patches, with positions, class token and registers."""
    x = PatchEncoder(
        config.width,
        patch_grid(config.image_size, config.patch_size),
        position=config.position,
        class_token=config.class_token,
        registers=config.registers,
        class_position=config.class_position,
        name="patch_encoder",
        dtype=policy,
    )(patches)
    if config.dropout:
        x = keras.layers.Dropout(config.dropout, name="dropout", dtype=policy)(x)
    return x


def classified(tokens, config, policy):
    """Returns the logits and the taps of what the last block gave."""
    normed, pooled = POOLING[config.pooling](tokens, config, policy)
    taps = {
        "tokens": normed[:, config.num_prefix :],
        "prefix": normed[:, : config.num_prefix],
        "pooled": pooled,
    }
    return classifier(pooled, config, policy), taps


def _norm(config, policy):
    return LayerNorm(config.norm_epsilon, name="norm", dtype=policy)


def _pool_token(tokens, config, policy):
    normed = _norm(config, policy)(tokens)
    return normed, TokenPooling(name="pool", dtype=policy)(normed)


def _pool_mean(tokens, config, policy):
    normed = _norm(config, policy)(tokens)
    return normed, MeanPooling(config.num_prefix, name="pool", dtype=policy)(normed)


def _pool_mean_then_norm(tokens, config, policy):
    norm = _norm(config, policy)
    pooled = norm(MeanPooling(config.num_prefix, name="pool", dtype=policy)(tokens))
    return norm(tokens), pooled


def _pool_attention(tokens, config, policy):
    normed = _norm(config, policy)(tokens)
    pool = AttentionPooling(
        config.num_heads,
        config.mlp_dim,
        config.activation,
        config.norm_epsilon,
        name="pool",
        dtype=policy,
    )
    return normed, pool(normed[:, config.num_prefix :] if config.num_prefix else normed)


def _pool_token_and_mean(tokens, config, policy):
    normed = _norm(config, policy)(tokens)
    return normed, TokenAndMeanPooling(config.num_prefix, name="pool", dtype=policy)(normed)


def _pool_none(tokens, config, policy):
    normed = _norm(config, policy)(tokens)
    return normed, normed


# From the last block's tokens to (normed tokens, pooled vector).
POOLING = {
    "token": _pool_token,
    "gap": _pool_mean,
    "gap_then_norm": _pool_mean_then_norm,
    "map": _pool_attention,
    "token_and_mean": _pool_token_and_mean,
    "none": _pool_none,
}
