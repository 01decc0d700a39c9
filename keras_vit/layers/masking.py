"""Masking of patches for a masked autoencoder: a fixed number stays, so that all shapes are known.

Everything follows from a number for each patch, the noise: those with the smallest stay.
"""

import keras
import numpy as np
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.gathering import gather_tokens

STILL = 20211111  # seed of the noise outside training


def masking(noise, keep):
    """Returns which patches stay, how to put all back into order, and which are gone.

    Args:
        noise: float `[b, n]`.
        keep: how many stay.

    Returns:
        int `[b, keep]`, the places of those that stay, by rising noise; int `[b, n]`, for each
        patch its place among all by rising noise; float32 `[b, n]`, 1 where a patch is gone.

    Example:

    >>> found = masking(keras.ops.array([[0.5, 0.1, 0.9, 0.3]]), 2)
    >>> [keras.ops.convert_to_numpy(part).tolist() for part in found]
    [[[1, 3]], [[2, 0, 3, 1]], [[1.0, 0.0, 1.0, 0.0]]]
    """
    order = ops.argsort(noise, axis=1)
    restore = ops.argsort(order, axis=1)
    return order[:, :keep], restore, ops.cast(restore >= keep, "float32")


class _ByNoise(Layer):
    """A layer that gets noise as it is: in half precision many patches would draw."""

    def __init__(self, keep, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.keep = keep


@keras.saving.register_keras_serializable(package="keras_vit")
class PatchNoise(Layer):
    """Draws a number in [0, 1) for each patch: anew in training, elsewhere always the same.

    So a loss on held-out images is over the same patches after every epoch.

    Args:
        seed: integer seed, or None for a random one.

    Call arguments:
        patches: `[b, n, ...]`.
        training: whether to draw anew.

    Returns:
        float32 `[b, n]`.
    """

    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def call(self, patches, training=False):
        batch, count = ops.shape(patches)[0], patches.shape[1]
        if training:
            shape = (batch, count)
            return keras.random.uniform(shape, dtype="float32", seed=self.seed_generator)
        # By numpy: the same with every backend and every size of a batch.
        still = np.random.RandomState(STILL).uniform(size=(1, count)).astype("float32")
        return ops.broadcast_to(ops.convert_to_tensor(still), (batch, count))

    def compute_output_spec(self, patches, training=False):
        return keras.KerasTensor(patches.shape[:2], "float32")


@keras.saving.register_keras_serializable(package="keras_vit")
class VisibleTokens(_ByNoise):
    """Keeps the class token and some of the patches.

    Args:
        keep: how many patches.

    Call arguments:
        tokens: `[b, 1 + n, d]`.
        noise: `[b, n]`, see `masking`.

    Returns:
        `[b, 1 + keep, d]`, the patches by rising noise.
    """

    def call(self, tokens, noise):
        kept, _, _ = masking(noise, self.keep)
        return ops.concatenate([tokens[:, :1], gather_tokens(tokens[:, 1:], kept)], axis=1)

    def compute_output_shape(self, tokens_shape, noise_shape):
        return tokens_shape[0], 1 + self.keep, tokens_shape[2]


@keras.saving.register_keras_serializable(package="keras_vit")
class RestoredTokens(_ByNoise):
    """Puts visible tokens back where they were, and a learned token, `mask_token`, elsewhere.

    Args:
        keep: how many patches are visible.

    Call arguments:
        tokens: `[b, 1 + keep, d]`, as `VisibleTokens` gives them.
        noise: `[b, n]`, the same.

    Returns:
        `[b, 1 + n, d]`.
    """

    def build(self, tokens_shape, noise_shape):
        self.mask_token = self.add_weight(
            name="mask_token",
            shape=(1, 1, tokens_shape[2]),
            initializer=keras.initializers.RandomNormal(stddev=0.02),
        )

    def call(self, tokens, noise):
        _, restore, _ = masking(noise, self.keep)
        batch, gone = ops.shape(tokens)[0], noise.shape[1] - self.keep
        token = ops.cast(self.mask_token, tokens.dtype)
        tokens_of_gone = ops.broadcast_to(token, (batch, gone, tokens.shape[2]))
        everything = ops.concatenate([tokens[:, 1:], tokens_of_gone], axis=1)
        return ops.concatenate([tokens[:, :1], gather_tokens(everything, restore)], axis=1)

    def compute_output_shape(self, tokens_shape, noise_shape):
        return tokens_shape[0], 1 + noise_shape[1], tokens_shape[2]


@keras.saving.register_keras_serializable(package="keras_vit")
class PatchMask(_ByNoise):
    """Tells which patches are gone.

    Args:
        keep: how many are visible.

    Call arguments:
        noise: `[b, n]`, see `masking`.

    Returns:
        `[b, n]`, 1 where a patch is gone.
    """

    def call(self, noise):
        return ops.cast(masking(noise, self.keep)[2], self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return input_shape
