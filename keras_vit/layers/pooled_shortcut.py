"""The shortcut past a block that halves a map or changes its width."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.choices import check_choice

POOLS = {"average": ops.average_pool, "max": ops.max_pool}


def halved(images, pool):
    """Returns maps of half the sides, by 2 x 2 pooling.

    Args:
        images: maps `[b, h, w, c]` with even sides.
        pool: one of `POOLS`.
    """
    return POOLS[pool](images, 2, 2)


def halved_shape(shape):
    """Returns the shape of `halved` maps.

    Raises:
        ValueError: if a side is odd.
    """
    batch, height, width, channels = shape
    if height % 2 or width % 2:
        raise ValueError(
            f"A block that halves its map needs even sides. Received: a map of {height} x {width}."
        )
    return batch, height // 2, width // 2, channels


@keras.saving.register_keras_serializable(package="keras_vit")
class PooledShortcut(Layer):
    """Pools where the map is halved, and projects where the width changes; else the identity.

    Args:
        width: number of output channels.
        halve: whether the sides, which must then be even, are halved.
        pool: one of `POOLS`: `"average"` (timm, MaxViT) or `"max"` (the CoAtNet paper).

    Call arguments:
        images: maps `[b, h, w, c]`.

    Returns:
        `[b, h, w, width]`, or half of the sides.

    Raises:
        ValueError: for an unknown `pool`, or an odd side to halve.
    """

    def __init__(self, width, halve=False, pool="average", **kwargs):
        super().__init__(**kwargs)
        check_choice("pool", pool, POOLS)
        self.width = width
        self.halve = halve
        self.pool = pool
        self.project = None

    def build(self, input_shape):
        pooled = halved_shape(input_shape) if self.halve else input_shape
        if input_shape[-1] != self.width:
            self.project = keras.layers.Conv2D(
                self.width, 1, name="project", dtype=self.dtype_policy
            )
            self.project.build(pooled)

    def call(self, images):
        x = halved(images, self.pool) if self.halve else images
        return x if self.project is None else self.project(x)

    def compute_output_shape(self, input_shape):
        shape = halved_shape(input_shape) if self.halve else tuple(input_shape)
        return (*shape[:-1], self.width)
