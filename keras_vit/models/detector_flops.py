"""How much arithmetic the pyramid and the heads of a detector are: multiplications.

As in `flops`, only products with weights are counted, for one image.
"""

import math

from keras_vit.models.swin import SwinConfig


def pyramid_and_heads(config):
    """The products of a detector for one image, without its backbone's."""
    first, last = config.levels
    cells = {level: _cells(config, level) for level in range(first, last + 1)}
    pyramid = (_of_swin if isinstance(config.backbone_config, SwinConfig) else _of_vit)(
        config, cells
    )
    own = config.scales * len(config.aspects) * (4 + config.num_classes)
    head = 2 * config.head_depth * 9 * config.filters**2 + 9 * config.filters * own
    return pyramid + sum(cells.values()) * head


def _cells(config, level):
    return math.prod(-(-side // 2**level) for side in config.image_size)


def _of_swin(config, cells):
    """A projection and a convolution a level; of the levels above 5 a convolution."""
    widths = config.backbone_config.widths
    products = sum(count * 9 * config.filters**2 for count in cells.values())
    lateral = [count * widths[level - 2] for level, count in cells.items() if level <= 5]
    return products + sum(lateral) * config.filters


def _of_vit(config, cells):
    """The transposed convolutions of the finer levels, and two convolutions each."""
    backbone = config.backbone_config
    start = int(math.log2(backbone.patch_size[0]))
    products = 0
    for level, count in cells.items():
        width = backbone.width
        for turn in range(start - level):
            # Each cell of the map becomes four.
            products += _cells(config, start - turn) * 4 * width * (width // 2)
            width //= 2
        products += count * (width * config.filters + 9 * config.filters**2)
    return products
