"""A pyramid of maps out of a single one."""

import keras

from keras_vit.layers.layer_norm import LayerNorm


def simple_pyramid(x, levels, level, filters, policy):
    """Returns maps of a detector's levels, each made from the last map of a plain ViT alone.

    Finer maps by transposed convolutions, coarser ones by pooling; then a convolution of one cell
    and one of three, each with a norm.

    Args:
        x: symbolic map `[b, rows, columns, width]`.
        levels: (first, last); the first is at most two below `level`.
        level: that of `x`, whose cells are `2 ** level` pixels wide.
        filters: channels of the maps.
        policy: dtype policy of the layers.

    Returns:
        A dict: `P3`, `P4`, … to maps `[b, rows, columns, filters]`.

    Reference:
        Li et al., *Exploring Plain Vision Transformer Backbones for Object Detection*, 2022, arXiv
        2203.16527, section 3.
    """
    pyramid = {}
    for number in range(levels[0], levels[1] + 1):
        y, width, name = x, x.shape[-1], f"pyramid_P{number}"
        for turn in range(level - number):
            width //= 2
            if turn:
                y = LayerNorm(1e-6, name=f"{name}_up_norm", dtype=policy)(y)
                y = keras.layers.Activation("gelu", name=f"{name}_up_gelu", dtype=policy)(y)
            up = keras.layers.Conv2DTranspose(width, 2, 2, name=f"{name}_up_{turn}", dtype=policy)
            y = up(y)
        if number > level:
            side = 2 ** (number - level)
            y = keras.layers.MaxPooling2D(side, padding="same", name=f"{name}_pool", dtype=policy)(
                y
            )
        for turn, kernel in enumerate((1, 3)):
            y = keras.layers.Conv2D(
                filters,
                kernel,
                padding="same",
                use_bias=False,
                name=f"{name}_{turn}",
                dtype=policy,
            )(y)
            y = LayerNorm(1e-6, name=f"{name}_norm_{turn}", dtype=policy)(y)
        pyramid[f"P{number}"] = y
    return pyramid
