"""Swin: attention inside windows, over a pyramid of four maps.

Liu et al., *Swin Transformer: Hierarchical Vision Transformer using Shifted Windows*, 2021, arXiv
2103.14030 (section 3.3 gives the sizes).
"""

import dataclasses

import keras

from keras_vit.layers import (
    LayerNorm,
    MeanPooling,
    PatchEncoder,
    Patches,
    PatchMerging,
    Preprocessing,
    TransformerBlock,
    drop_path_rates,
)
from keras_vit.layers.attention import head_dim
from keras_vit.layers.sizes import pair
from keras_vit.layers.windows import fitted_window
from keras_vit.models.base import (
    ImageModel,
    check_count,
    check_shared,
    classifier,
    fitted_preprocessing,
    image_input,
    stage_taps,
)

VARIANTS = {
    "T": {"width": 96, "depths": (2, 2, 6, 2), "num_heads": (3, 6, 12, 24)},
    "S": {"width": 96, "depths": (2, 2, 18, 2), "num_heads": (3, 6, 12, 24)},
    "B": {"width": 128, "depths": (2, 2, 18, 2), "num_heads": (4, 8, 16, 32)},
    "L": {"width": 192, "depths": (2, 2, 18, 2), "num_heads": (6, 12, 24, 48)},
}
# The authors' images: at 224 pixels cut from a larger one, at 384 squashed.
AT_224 = Preprocessing(
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
    resize="crop",
    crop=0.9,
    interpolation="bicubic",
)
AT_384 = dataclasses.replace(AT_224, crop=1.0)
# Name -> fields of the config.
NAMES = {
    f"swin_{size.lower()}": {"preprocessing": AT_224, **fields} for size, fields in VARIANTS.items()
} | {
    f"swin_{size.lower()}_384": {
        "image_size": 384,
        "window_size": 12,
        "preprocessing": AT_384,
        **VARIANTS[size],
    }
    for size in ("B", "L")
}


@dataclasses.dataclass(frozen=True)
class SwinConfig:
    """Everything that defines a Swin.

    Args:
        image_size: side in pixels, or (height, width); any size: what patches, windows and
            merging do not divide is padded in the graph.
        patch_size: side in pixels, or (height, width).
        channels: number of channels of the images.
        width: size of a token in the first stage; each further stage doubles it.
        depths: blocks of each stage.
        num_heads: attention heads of each stage; they divide its width.
        window_size: side of a window in tokens, or (rows, columns).
        mlp_ratio: hidden width of the MLPs, in widths of their stage.
        num_classes: number of classes; 0 leaves the head out.
        representation_size: width of a tanh layer before the head, or None.
        dropout: rate after the patches, after attention and in the MLPs.
        attention_dropout: rate on the attention probabilities.
        drop_path: stochastic depth of the last block; it rises linearly from 0.
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        norm_epsilon: epsilon of the norms.
        head_bias: start value of the head's bias.
        remat: whether the blocks compute their values twice in training instead of keeping them.
        preprocessing: a `Preprocessing`; its image size is always the model's. None stands
            for mean and std 0.5.

    Raises:
        ValueError: for sizes that do not fit one another, or names that do not exist.
    """

    image_size: tuple = (224, 224)
    patch_size: tuple = (4, 4)
    channels: int = 3
    width: int = 96
    depths: tuple = (2, 2, 6, 2)
    num_heads: tuple = (3, 6, 12, 24)
    window_size: tuple = (7, 7)
    mlp_ratio: float = 4.0
    num_classes: int = 1000
    representation_size: int | None = None
    dropout: float = 0.0
    attention_dropout: float = 0.0
    drop_path: float = 0.0
    activation: str = "gelu"
    norm_epsilon: float = 1e-5
    head_bias: float = 0.0
    remat: bool = False
    preprocessing: Preprocessing | None = None

    def __post_init__(self):
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        for name in ("image_size", "patch_size", "window_size"):
            fix(name, pair(name, getattr(self, name)))
        for name in ("depths", "num_heads"):
            fix(name, tuple(getattr(self, name)))
        check_shared(self)
        check_count("width", self.width)
        if not self.depths or len(self.depths) != len(self.num_heads):
            raise ValueError(
                "`depths` and `num_heads` must have one number for each stage. "
                f"Received: depths={self.depths}, num_heads={self.num_heads}."
            )
        for width, heads in zip(self.widths, self.num_heads, strict=True):
            head_dim(width, heads)
        fix("preprocessing", fitted_preprocessing(self))

    @property
    def depth(self):
        """Number of blocks in all stages."""
        return sum(self.depths)

    @property
    def widths(self):
        """Size of a token in each stage."""
        return tuple(self.width * 2**stage for stage in range(len(self.depths)))

    @property
    def grids(self):
        """(rows, columns) of the tokens in each stage."""
        sides = zip(self.image_size, self.patch_size, strict=True)
        grids = [tuple(-(-pixels // patch) for pixels, patch in sides)]
        for _ in self.depths[1:]:
            grids.append(tuple(-(-side // 2) for side in grids[-1]))
        return tuple(grids)

    @property
    def projection_size(self):
        """(height, width) of what the projection to tokens is a kernel over."""
        return self.patch_size

    @property
    def bias_grids(self):
        """Weight path -> (rows, columns) of the tokens whose offsets it has an entry for."""
        grids, index = {}, 0
        for depth, grid in zip(self.depths, self.grids, strict=True):
            window, _ = fitted_window(grid, self.window_size, False)
            for _ in range(depth):
                grids[f"block_{index}/attention/relative_bias"] = window
                index += 1
        return grids


@keras.saving.register_keras_serializable(package="keras_vit")
class Swin(ImageModel):
    """A Swin Transformer: normalised float images in, logits out.

    Blocks are numbered through all stages, `block_0` …; `merge_1` stands before the blocks of
    stage 1, and so on. All of them take and give maps `[b, rows, columns, width]`. What
    `features` returns holds the map of each stage, too: `stage_0` … `stage_3`, before the merging
    of the next, which is what a feature pyramid starts from.

    Args:
        config: a `SwinConfig`.
        name: the model's name.
        dtype: dtype or policy such as `"mixed_bfloat16"`; Keras's global policy by default.

    Call arguments:
        images: float images `[b, h, w, c]`, normalised as `model.preprocessing` says.
        training: whether the dropouts are on.

    Returns:
        Logits `[b, num_classes]`, float32 under a mixed policy.

    Example:

    >>> config = SwinConfig(image_size=(30, 50), width=8, depths=(1, 2), num_heads=(1, 2))
    >>> model = Swin(config)
    >>> model.output_shape, model.get_layer("block_2").output.shape
    ((None, 1000), (None, 4, 7, 16))
    """

    config_class = SwinConfig

    def __init__(self, config, name="swin", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @staticmethod
    def build_graph(config, policy):
        images = image_input(config, policy)
        stages = _stages(_embedded(images, config, policy), config, policy)
        x = LayerNorm(config.norm_epsilon, name="norm", dtype=policy)(stages[-1])
        tokens = keras.layers.Reshape((-1, config.widths[-1]), name="tokens", dtype=policy)(x)
        pooled = MeanPooling(name="pool", dtype=policy)(tokens)
        taps = {
            "tokens": tokens,
            "prefix": tokens[:, :0],
            "pooled": pooled,
            **stage_taps(stages),
        }
        return images, classifier(pooled, config, policy), taps


def _embedded(images, config, policy):
    """Images to the map that the first stage gets."""
    bottom, right = (
        -pixels % patch for pixels, patch in zip(config.image_size, config.patch_size, strict=True)
    )
    x, grid = images, config.grids[0]
    if bottom or right:
        x = keras.layers.ZeroPadding2D(((0, bottom), (0, right)), name="pad", dtype=policy)(x)
    x = Patches(config.patch_size, name="patches", dtype=policy)(x)
    x = PatchEncoder(
        config.width,
        grid,
        position="none",
        class_token=False,
        name="patch_encoder",
        dtype=policy,
    )(x)
    x = LayerNorm(config.norm_epsilon, name="patch_norm", dtype=policy)(x)
    if config.dropout:
        x = keras.layers.Dropout(config.dropout, name="dropout", dtype=policy)(x)
    return keras.layers.Reshape((*grid, config.width), name="map", dtype=policy)(x)


def _stages(x, config, policy):
    """The map of each stage."""
    rates = iter(enumerate(drop_path_rates(config.drop_path, config.depth)))
    stages = []
    for stage, depth in enumerate(config.depths):
        if stage:
            x = PatchMerging(config.norm_epsilon, name=f"merge_{stage}", dtype=policy)(x)
        for turn in range(depth):
            index, drop_path = next(rates)
            shifted = turn % 2 == 1
            x = _block(config, stage, shifted, drop_path, f"block_{index}", policy)(x)
        stages.append(x)
    return stages


def _block(config, stage, shifted, drop_path, name, policy):
    window = {"size": config.grids[stage], "window": config.window_size, "shift": shifted}
    return TransformerBlock(
        config.num_heads[stage],
        int(config.widths[stage] * config.mlp_ratio),
        dropout=config.dropout,
        attention_dropout=config.attention_dropout,
        drop_path=drop_path,
        activation=config.activation,
        norm_epsilon=config.norm_epsilon,
        attention="window",
        attention_options=window,
        remat=config.remat,
        name=name,
        dtype=policy,
    )
