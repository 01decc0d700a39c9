"""CoAtNet: convolution in the first stages, attention in the last.

Dai, Liu, Le, Tan, *CoAtNet: Marrying Convolution and Attention for All Data Sizes*, 2021, arXiv
2106.04803 (tables 3 and 15 give the sizes).
"""

import dataclasses

import keras

from keras_vit.layers import (
    ConvStem,
    LayerNorm,
    MBConv,
    PoolingBlock,
    Preprocessing,
    TransformerBlock,
    drop_path_rates,
)
from keras_vit.layers.choices import check_choice
from keras_vit.layers.mbconv import STRIDES
from keras_vit.layers.pooled_shortcut import POOLS
from keras_vit.layers.sizes import pair
from keras_vit.models.base import (
    ImageModel,
    check_count,
    check_shared,
    classifier,
    fitted_preprocessing,
    image_input,
    stage_taps,
)

CONV, ATTENTION = "conv", "attention"
KINDS = (CONV, ATTENTION)


def _four(*sizes):
    """Four stages of (width, blocks), each at half the sides of the one before."""
    kinds = (CONV, CONV, ATTENTION, ATTENTION)
    return tuple((kind, *size, True) for kind, size in zip(kinds, sizes, strict=True))


# The channels of the stem, the size of a head, and the stages.
VARIANTS = {
    "0": (64, 32, _four((96, 2), (192, 3), (384, 5), (768, 2))),
    "1": (64, 32, _four((96, 2), (192, 6), (384, 14), (768, 2))),
    "2": (128, 32, _four((128, 2), (256, 6), (512, 14), (1024, 2))),
    "3": (192, 32, _four((192, 2), (384, 6), (768, 14), (1536, 2))),
    "4": (192, 32, _four((192, 2), (384, 12), (768, 28), (1536, 2))),
    "5": (192, 64, _four((256, 2), (512, 12), (1280, 28), (2048, 2))),
    # Two thirds of the second stage's blocks are moved into the third, before its attention.
    "6": (
        192,
        128,
        (
            (CONV, 192, 2, True),
            (CONV, 384, 4, True),
            (CONV, 768, 8, True),
            (ATTENTION, 1536, 42, False),
            (ATTENTION, 2048, 2, True),
        ),
    ),
    "7": (
        192,
        128,
        (
            (CONV, 256, 2, True),
            (CONV, 512, 4, True),
            (CONV, 1024, 8, True),
            (ATTENTION, 2048, 42, False),
            (ATTENTION, 3072, 2, True),
        ),
    ),
}
# Name -> fields of the config. The head is timm's, which fits the published counts best.
NAMES = {
    f"coatnet_{size}": {
        "stem_width": stem,
        "head_dim": head,
        "stages": stages,
        "pooling": "gap_then_norm",
        "representation_size": stages[-1][1],
        "preprocessing": Preprocessing(resize="crop", crop=0.95, interpolation="bicubic"),
    }
    for size, (stem, head, stages) in VARIANTS.items()
}


@dataclasses.dataclass(frozen=True)
class CoAtNetConfig:
    """Everything that defines a CoAtNet.

    The paper and its followers differ in two choices, `pool` and `stride_in`. The defaults are
    those of timm and of the MaxViT code; the paper has `"max"` and `"expansion"`.

    Args:
        image_size: side in pixels, or (height, width): multiples of 2 for the stem, twice that for
            each stage that halves the map, 32 for the published sizes.
        channels: number of channels of the images.
        stem_width: channels of the two convolutions that come first.
        stages: for each stage its kind (`"conv"` or `"attention"`), width, number of blocks, and
            whether it halves the sides of the map.
        head_dim: size of an attention head; divides the widths of the stages with attention.
        expansion: hidden width of MBConvs and MLPs, in widths of their stage.
        squeeze: width inside squeeze and excitation, in widths of its stage.
        pool: how a map is halved, one of `keras_vit.layers.POOLS`: `"average"` or `"max"`.
        stride_in: which convolution of an MBConv strides: `"depthwise"` or `"expansion"`.
        num_classes: number of classes; 0 leaves the head out.
        pooling: `"gap"` averages the final map after its norm, `"gap_then_norm"` before.
        representation_size: width of a tanh layer before the head, or None.
        dropout: rate after attention and in the MLPs.
        attention_dropout: rate on the attention probabilities.
        drop_path: stochastic depth of the last block; it rises linearly from 0.
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        norm_epsilon: epsilon of the layer norms.
        batch_norm_epsilon: epsilon of the batch norms: 1e-5 in timm, 1e-3 in TensorFlow code.
        batch_norm_momentum: momentum of their moving statistics: 0.9, and 0.99.
        head_bias: start value of the head's bias.
        remat: whether the blocks compute their values twice in training instead of keeping them.
        preprocessing: a `Preprocessing`; its image size is always the model's. None stands
            for mean and std 0.5.

    Raises:
        ValueError: for sizes that do not fit one another, or names that do not exist.
    """

    image_size: tuple = (224, 224)
    channels: int = 3
    stem_width: int = 64
    stages: tuple = VARIANTS["0"][2]
    head_dim: int = 32
    expansion: int = 4
    squeeze: float = 0.25
    pool: str = "average"
    stride_in: str = "depthwise"
    num_classes: int = 1000
    pooling: str = "gap"
    representation_size: int | None = None
    dropout: float = 0.0
    attention_dropout: float = 0.0
    drop_path: float = 0.0
    activation: str = "gelu"
    norm_epsilon: float = 1e-6
    batch_norm_epsilon: float = 1e-5
    batch_norm_momentum: float = 0.9
    head_bias: float = 0.0
    remat: bool = False
    preprocessing: Preprocessing | None = None

    def __post_init__(self):
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        fix("image_size", pair("image_size", self.image_size))
        fix("stages", tuple(tuple(stage) for stage in self.stages))
        check_shared(self)
        for name in ("stem_width", "head_dim", "expansion"):
            check_count(name, getattr(self, name))
        check_choice("pool", self.pool, POOLS)
        check_choice("stride_in", self.stride_in, STRIDES)
        check_choice("pooling", self.pooling, POOLING)
        _check_stages(self)
        fix("preprocessing", fitted_preprocessing(self))

    @property
    def depth(self):
        """Number of blocks in all stages."""
        return sum(depth for _, _, depth, _ in self.stages)

    @property
    def stride(self):
        """Pixels of the image that a pixel of the final map stands for."""
        return 2 * 2 ** sum(halve for *_, halve in self.stages)

    @property
    def grids(self):
        """(rows, columns) of each stage's map."""
        grid, grids = tuple(side // 2 for side in self.image_size), []
        for *_, halve in self.stages:
            grid = tuple(side // 2 for side in grid) if halve else grid
            grids.append(grid)
        return tuple(grids)

    @property
    def bias_grids(self):
        """Weight path -> (rows, columns) of the tokens whose offsets it has an entry for."""
        grids, index = {}, 0
        for (kind, _, depth, _), grid in zip(self.stages, self.grids, strict=True):
            for _ in range(depth):
                if kind == ATTENTION:
                    grids[f"block_{index}/attention/relative_bias"] = grid
                index += 1
        return grids


def _check_stages(config):
    if not config.stages or any(len(stage) != 4 for stage in config.stages):
        raise ValueError(
            "`stages` must hold (kind, width, blocks, whether it halves the map) for each stage. "
            f"Received: {config.stages}."
        )
    for kind, width, depth, _ in config.stages:
        check_choice("stages", kind, KINDS)
        check_count("stages", width)
        check_count("stages", depth)
        if kind == ATTENTION and width % config.head_dim:
            raise ValueError(
                "`head_dim` must divide the widths of the stages with attention. "
                f"Received: head_dim={config.head_dim}, width={width}."
            )
    if any(side % config.stride for side in config.image_size):
        raise ValueError(
            f"`image_size` must be a multiple of {config.stride}, by which the stages divide it. "
            f"Received: image_size={config.image_size}."
        )


@keras.saving.register_keras_serializable(package="keras_vit")
class CoAtNet(ImageModel):
    """A CoAtNet: normalised float images in, logits out.

    After the `stem`, blocks are numbered through all stages, `block_0` …; all of them take and
    give maps `[b, rows, columns, width]`. What `features` returns holds the map of each stage,
    too: `stage_0` …

    Args:
        config: a `CoAtNetConfig`.
        name: the model's name.
        dtype: dtype or policy such as `"mixed_bfloat16"`; Keras's global policy by default.

    Call arguments:
        images: float images `[b, h, w, c]`, normalised as `model.preprocessing` says.
        training: whether the dropouts are on, and the batch norms use the batch.

    Returns:
        Logits `[b, num_classes]`, float32 under a mixed policy.

    Example:

    >>> stages = (("conv", 8, 1, True), ("attention", 16, 2, True))
    >>> config = CoAtNetConfig(image_size=(32, 48), stem_width=8, stages=stages, head_dim=8)
    >>> model = CoAtNet(config)
    >>> model.output_shape, model.get_layer("block_2").output.shape
    ((None, 1000), (None, 4, 6, 16))
    """

    config_class = CoAtNetConfig

    def __init__(self, config, name="coatnet", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @staticmethod
    def build_graph(config, policy):
        images = image_input(config, policy)
        stages = _stages(images, config, policy)
        normed, pooled = POOLING[config.pooling](stages[-1], config, policy)
        width = config.stages[-1][1]
        tokens = keras.layers.Reshape((-1, width), name="tokens", dtype=policy)(normed)
        taps = {
            "tokens": tokens,
            "prefix": tokens[:, :0],
            "pooled": pooled,
            **stage_taps(stages),
        }
        return images, classifier(pooled, config, policy), taps


def _stages(images, config, policy):
    """The map of each stage."""
    x = ConvStem(
        config.stem_width,
        activation=config.activation,
        norm_epsilon=config.batch_norm_epsilon,
        norm_momentum=config.batch_norm_momentum,
        name="stem",
        dtype=policy,
    )(images)
    rates = iter(enumerate(drop_path_rates(config.drop_path, config.depth)))
    stages = []
    for grid, (kind, width, depth, halve) in zip(config.grids, config.stages, strict=True):
        for turn in range(depth):
            index, drop_path = next(rates)
            options = {
                "drop_path": drop_path,
                "activation": config.activation,
                "remat": config.remat,
                "name": f"block_{index}",
                "dtype": policy,
            }
            x = BLOCKS[kind](config, grid, width, turn == 0, halve and turn == 0, options)(x)
        stages.append(x)
    return stages


def _conv_block(config, grid, width, first, halve, options):
    return MBConv(
        width,
        halve=halve,
        pool=config.pool,
        stride_in=config.stride_in,
        expansion=config.expansion,
        squeeze=config.squeeze,
        norm_epsilon=config.batch_norm_epsilon,
        norm_momentum=config.batch_norm_momentum,
        **options,
    )


def _attention_block(config, grid, width, first, halve, options):
    sizes = width // config.head_dim, config.expansion * width
    options = {
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "norm_epsilon": config.norm_epsilon,
        **options,
    }
    if first:
        return PoolingBlock(*sizes, grid, width, halve=halve, pool=config.pool, **options)
    return TransformerBlock(
        *sizes, attention="relative", attention_options={"grid": grid}, **options
    )


BLOCKS = {CONV: _conv_block, ATTENTION: _attention_block}


def _pool_normed(x, config, policy):
    normed = LayerNorm(config.norm_epsilon, name="norm", dtype=policy)(x)
    return normed, keras.layers.GlobalAveragePooling2D(name="pool", dtype=policy)(normed)


def _norm_pooled(x, config, policy):
    norm = LayerNorm(config.norm_epsilon, name="norm", dtype=policy)
    pooled = norm(keras.layers.GlobalAveragePooling2D(name="pool", dtype=policy)(x))
    return norm(x), pooled


# From the last map to (normed map, pooled vector).
POOLING = {"gap": _pool_normed, "gap_then_norm": _norm_pooled}
