"""How much arithmetic a model is: the products of one image, counted from its config alone.

A multiplication and its addition are two operations. Norms, softmax, activations and the optimizer
are left out: on a B/16 they are one percent.
"""

from keras_vit.layers.random_features import default_count
from keras_vit.layers.sizes import patch_grid
from keras_vit.models import family_flops
from keras_vit.models.clip import CLIPConfig
from keras_vit.models.coatnet import CoAtNetConfig
from keras_vit.models.detector import DetectorConfig
from keras_vit.models.detector_flops import pyramid_and_heads
from keras_vit.models.dynamic_vit import DynamicViTConfig
from keras_vit.models.hybrid import HybridConfig
from keras_vit.models.mae import MAEConfig
from keras_vit.models.merging import token_counts
from keras_vit.models.swin import SwinConfig
from keras_vit.models.timesformer import TimeSformerConfig

# Products of a token with a matrix `width x mlp_dim`, by the kind of MLP.
MLP_PRODUCTS = {"mlp": 2, "swiglu": 3}


def forward_flops(config):
    """Returns the operations of the forward pass of one image.

    Args:
        config: a model's config. The second head of a distilled DeiT is not in it.

    Returns:
        An integer.

    Example: B/16 at 224 pixels, 17.6 billion multiplications with their additions.

    >>> from keras_vit.models import ViTConfig
    >>> round(forward_flops(ViTConfig()) / 2e9, 1)
    17.6
    """
    products, _ = PRODUCTS.get(type(config), (_vit, None))
    return 2 * products(config)


def training_flops(config):
    """Returns the operations of a training step for one image, without rematerialisation.

    The backward pass is two products for each of the forward pass: the gradient of the weights
    and that of the inputs. Nothing needs the gradient of the pixels.

    Args:
        config: a model's config.

    Returns:
        An integer.
    """
    _, first = PRODUCTS.get(type(config), (None, _projection))
    return 3 * forward_flops(config) - 2 * first(config)


def _vit(config):
    blocks = sum(_block(config, *tokens) for tokens in token_counts(config))
    return _projection(config) + blocks + _pool(config) + _head(config)


def _dynamic_vit(config):
    tokens, products = _patches(config), _projection(config) + _pool(config) + _head(config)
    for index in range(config.depth):
        if index in config.stage_blocks:
            products += _score(config.width) * tokens
            tokens = config.kept[config.stage_blocks.index(index)]
        products += _block(config, config.num_prefix + tokens)
    return products


def _score(width):
    """The prediction module's products for one token."""
    half, quarter = width // 2, width // 4
    return width * (width + half) + half * quarter + 2 * quarter


def _detector(config):
    return forward_flops(config.backbone_config) // 2 + pyramid_and_heads(config)


def _detector_stem(config):
    _, first = PRODUCTS.get(type(config.backbone_config), (None, _projection))
    return first(config.backbone_config)


def _hybrid(config):
    return family_flops.resnet(config) + _vit(config)


def _timesformer(config):
    blocks = TIMESFORMER_BLOCKS[config.space_time](config)
    return _timesformer_projection(config) + config.depth * blocks + _head(config)


def _timesformer_projection(config):
    return config.frames * _projection(config)


def _divided_block(config):
    count, frames, width = _patches(config), config.frames, config.width
    tokens = frames * count
    # Over time: query, key, value, out and the projection after it.
    time = 5 * tokens * width**2 + 2 * tokens * frames * width
    space = frames * (4 * (count + 1) * width**2 + 2 * (count + 1) ** 2 * width)
    return time + space + 2 * (tokens + 1) * width * config.mlp_dim


def _joint_block(config):
    return _block(config, config.frames * _patches(config) + 1)


def _space_only_block(config):
    return config.frames * _block(config)


def _patches(config):
    rows, columns = patch_grid(config.image_size, config.patch_size)
    return rows * columns


def _projection(config):
    rows, columns = config.projection_size
    channels = getattr(config, "map_width", config.channels)
    return _patches(config) * rows * columns * channels * config.width


def _block(config, tokens=None, in_mlp=None):
    tokens = tokens or _patches(config) + config.num_prefix
    projections = 4 * tokens * config.width**2  # query, key, value, out
    mlp = MLP_PRODUCTS[config.mlp] * (in_mlp or tokens) * config.width * config.mlp_dim
    return projections + _attention(config, tokens) + mlp


def _attention(config, tokens):
    if config.attention == "softmax":
        return 2 * tokens**2 * config.width  # scores and values
    count = config.random_features or default_count(config.width // config.num_heads)
    # Features of queries and keys, the sum over keys, the products with it; and the normaliser's.
    return 4 * tokens * count * config.width + tokens * count * config.num_heads


def _pool(config):
    if config.pooling != "map":
        return 0
    tokens = _patches(config)
    projections = (2 + 2 * tokens) * config.width**2  # query and out; key and value
    return projections + 2 * tokens * config.width + 2 * config.width * config.mlp_dim


def _head(config):
    outputs = _patches(config) + config.num_prefix if config.pooling == "none" else 1
    inputs = 2 * config.width if config.pooling == "token_and_mean" else config.width
    products = 0
    if config.representation_size:
        products += inputs * config.representation_size
        inputs = config.representation_size
    return outputs * (products + inputs * config.num_classes)


# How a TimeSformer attends -> what counts the products of a block.
TIMESFORMER_BLOCKS = {
    "divided": _divided_block,
    "joint": _joint_block,
    "space_only": _space_only_block,
}
# Config -> what counts all products, and what those of the layer that sees the pixels.
PRODUCTS = {
    DetectorConfig: (_detector, _detector_stem),
    SwinConfig: (family_flops.swin, family_flops.swin_stem),
    CLIPConfig: (family_flops.clip, family_flops.clip_stem),
    MAEConfig: (family_flops.mae, family_flops.clip_stem),
    DynamicViTConfig: (_dynamic_vit, _projection),
    CoAtNetConfig: (family_flops.coatnet, family_flops.coatnet_stem),
    HybridConfig: (_hybrid, family_flops.resnet_stem),
    TimeSformerConfig: (_timesformer, _timesformer_projection),
}
