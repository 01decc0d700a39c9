"""How much arithmetic a Swin, a CoAtNet, a CLIP or the ResNet of a hybrid is: multiplications.

As in `flops`, only products with weights and those of attention are counted. Padding is: what is
computed of it is computed.
"""

import math

from keras_vit.layers.mbconv import STRIDES
from keras_vit.layers.sizes import patch_grid
from keras_vit.layers.windows import fitted_window, padding


def swin(config):
    """The products of a Swin for one image."""
    products = swin_stem(config) + _head(config, config.widths[-1])
    for stage, (depth, grid) in enumerate(zip(config.depths, config.grids, strict=True)):
        width, tokens = config.widths[stage], math.prod(grid)
        window, _ = fitted_window(grid, config.window_size, False)
        padded = math.prod(
            side + more for side, more in zip(grid, padding(grid, window), strict=True)
        )
        attention = 4 * padded * width**2 + 2 * padded * math.prod(window) * width
        mlp = 2 * tokens * width * int(width * config.mlp_ratio)
        # The merging before: four tokens of half the width to one.
        products += depth * (attention + mlp) + (2 * tokens * width**2 if stage else 0)
    return products


def swin_stem(config):
    """The products of the patches' projection."""
    patch = math.prod(config.patch_size) * config.channels
    return math.prod(config.grids[0]) * patch * config.width


def coatnet(config):
    """The products of a CoAtNet for one image."""
    height, width = (side // 2 for side in config.image_size)
    pixels, before = height * width, config.stem_width
    products = coatnet_stem(config) + pixels * 9 * config.stem_width**2
    for grid, (kind, width, depth, _) in zip(config.grids, config.stages, strict=True):
        for _ in range(depth):
            sizes = config, pixels, math.prod(grid), before, width
            products += (_mbconv if kind == "conv" else _attention)(*sizes)
            products += math.prod(grid) * before * width if before != width else 0
            pixels, before = math.prod(grid), width
    return products + _head(config, before)


def coatnet_stem(config):
    """The products of the first convolution."""
    return (
        math.prod(side // 2 for side in config.image_size)
        * 9
        * config.channels
        * (config.stem_width)
    )


def clip(config):
    """The products of a CLIP for one pair."""
    rows, columns = patch_grid(config.image_size, config.patch_size)
    images = _tower(1 + rows * columns, config.depth, config.width, config.mlp_dim)
    count = config.context_length
    texts = _tower(count, config.text_depth, config.text_width, config.text_mlp_dim)
    vectors = (config.width + config.text_width + config.num_classes) * config.embedding_dim
    return clip_stem(config) + images + texts + vectors


def clip_stem(config):
    """The products of the patches' projection."""
    rows, columns = patch_grid(config.image_size, config.patch_size)
    patch = math.prod(config.patch_size) * config.channels
    return rows * columns * patch * config.width


def mae(config):
    """The products of a masked autoencoder, whose encoder sees a part of the patches."""
    (rows, columns), seen = config.grid, 1 + config.keep
    everything, pixels = 1 + rows * columns, math.prod(config.patch_size) * config.channels
    decoder = config.decoder_depth, config.decoder_width, config.decoder_mlp_dim
    between = (seen * config.width + everything * pixels) * config.decoder_width
    encoder = _tower(seen, config.depth, config.width, config.mlp_dim)
    return clip_stem(config) + encoder + between + _tower(everything, *decoder)


def _tower(tokens, depth, width, hidden):
    attention = 4 * tokens * width**2 + 2 * tokens**2 * width
    return depth * (attention + 2 * tokens * width * hidden)


def _mbconv(config, pixels_in, pixels, before, width):
    hidden = config.expansion * width
    expanded = pixels if STRIDES[config.stride_in][0] == 2 else pixels_in
    squeeze = 2 * hidden * int(config.squeeze * width)
    return expanded * before * hidden + pixels * (9 * hidden + hidden * width) + squeeze


def _attention(config, _, tokens, before, width):
    projections = tokens * (3 * before * width + width**2)
    mlp = 2 * tokens * width * config.expansion * width
    return projections + 2 * tokens**2 * width + mlp


def resnet(config):
    """The products of a hybrid's ResNet for one image."""
    height, width = (-(-side // 4) for side in config.image_size)
    products, before = resnet_stem(config), config.root_width
    for stage, depth in enumerate(config.units):
        pixels, inner = height * width, config.root_width * 2**stage
        if stage:
            height, width = -(-height // 2), -(-width // 2)
        for unit in range(depth):
            after = height * width
            products += pixels * before * inner + after * 13 * inner**2
            products += after * before * 4 * inner if not unit else 0
            pixels, before = after, 4 * inner
    return products


def resnet_stem(config):
    """The products of the first convolution."""
    pixels = math.prod(-(-side // 2) for side in config.image_size)
    return pixels * 49 * config.channels * config.root_width


def _head(config, width):
    hidden = config.representation_size
    products = width * hidden if hidden else 0
    return products + (hidden or width) * config.num_classes
