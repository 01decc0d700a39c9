"""Positions that are weights, so that files hold them, and that are not trained."""

import keras
import numpy as np
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.patch_encoder import PatchEncoder
from keras_vit.layers.positions import sincos2d
from keras_vit.layers.sizes import pair


def mae_positions(grid, width):
    """Returns MAE's table: a row of zeros for the class token, then sines and cosines.

    Args:
        grid: (rows, columns) of the patches.
        width: size of a token, a multiple of 4.

    Returns:
        float64 array `[1, 1 + rows * columns, width]`.
    """
    table = sincos2d(grid, width, last_frequency=False)
    return np.concatenate([np.zeros((1, width)), table])[None]


def _fixed_weight(layer, grid, width):
    table = mae_positions(grid, width)
    return layer.add_weight(
        name="position",
        shape=table.shape,
        initializer=lambda shape, dtype: ops.convert_to_tensor(table, dtype),
        trainable=False,
    )


@keras.saving.register_keras_serializable(package="keras_vit")
class FixedPatchEncoder(PatchEncoder):
    """A `PatchEncoder` with class token, whose table of positions is MAE's and is not trained.

    Args:
        width, grid: as in `PatchEncoder`.

    Call arguments and returns are those of `PatchEncoder`.
    """

    def __init__(self, width, grid, **kwargs):
        super().__init__(width, grid, **kwargs)
        # As a matrix, whatever the patch: MAE's own start.
        self.projection.kernel_initializer = keras.initializers.GlorotUniform()

    def _token_weight(self, name, count, initializer):
        if name == "position":
            return _fixed_weight(self, self.grid, self.width)
        normal = keras.initializers.RandomNormal(stddev=0.02)
        return super()._token_weight(name, count, normal)


@keras.saving.register_keras_serializable(package="keras_vit")
class FixedPositions(Layer):
    """Adds MAE's positions, which are not trained, to a class token and patches.

    Args:
        grid: (rows, columns) of the patches.

    Call arguments:
        tokens: `[b, 1 + rows * columns, d]`.

    Returns:
        A tensor of the same shape.
    """

    def __init__(self, grid, **kwargs):
        super().__init__(**kwargs)
        self.grid = pair("grid", grid)

    def build(self, input_shape):
        self.position = _fixed_weight(self, self.grid, input_shape[-1])

    def call(self, tokens):
        return tokens + ops.cast(self.position, tokens.dtype)

    def compute_output_shape(self, input_shape):
        return input_shape
