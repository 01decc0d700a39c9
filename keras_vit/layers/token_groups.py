"""Which token stands for each patch: the record of merging, begun and read."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.gathering import gather_tokens


@keras.saving.register_keras_serializable(package="keras_vit")
class TokenGroups(Layer):
    """Begins the record: each patch token stands for its own patch.

    Args:
        prefix: number of tokens in front.

    Call arguments:
        tokens: `[b, prefix + n, width]`.

    Returns:
        int32 `[b, n]`, as `MergingBlock` takes it.
    """

    def __init__(self, prefix=1, **kwargs):
        super().__init__(**kwargs)
        self.prefix = prefix

    def call(self, tokens):
        count = tokens.shape[1] - self.prefix
        return ops.broadcast_to(ops.arange(count, dtype="int32"), (ops.shape(tokens)[0], count))

    def compute_output_spec(self, tokens):
        shape = (tokens.shape[0], tokens.shape[1] - self.prefix)
        return keras.KerasTensor(shape, "int32")


@keras.saving.register_keras_serializable(package="keras_vit")
class Unmerge(Layer):
    """Puts, in the place of each patch, the token that stands for it.

    What follows then sees as many tokens as without merging: a mean over them is one weighted by
    the sizes of the merged ones.

    Args:
        prefix: number of tokens in front.

    Call arguments:
        tokens: `[b, prefix + n, width]`.
        groups: int32 `[b, p]`, as `MergingBlock` gives it.

    Returns:
        `[b, prefix + p, width]`.
    """

    def __init__(self, prefix=1, **kwargs):
        super().__init__(**kwargs)
        self.prefix = prefix

    def call(self, tokens, groups):
        patches = gather_tokens(tokens[:, self.prefix :], groups)
        return ops.concatenate([tokens[:, : self.prefix], patches], axis=1)

    def compute_output_shape(self, tokens_shape, groups_shape):
        return tokens_shape[0], self.prefix + groups_shape[1], tokens_shape[2]
