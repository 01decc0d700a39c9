"""The transformer block of a model that learns which tokens it can do without."""

import keras
from keras import ops

from keras_vit.layers.remat import rematerialised
from keras_vit.layers.transformer_block import TransformerBlock


@keras.saving.register_keras_serializable(package="keras_vit")
class KeptBlock(TransformerBlock):
    """A `TransformerBlock` in which dropped tokens are seen by none but themselves.

    Its weights have the names of a `TransformerBlock`'s. No token leaves: training is not faster.

    Args are those of `TransformerBlock`; the attention is `"kept"`.

    Call arguments:
        tokens: `[b, m + n, width]`.
        kept: `[b, n, 1]`, 1 for each of the last `n` tokens that is kept and 0 for the others;
            those before are always kept.
        training: whether the dropouts are on.

    Returns:
        `[b, m + n, width]`.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034.

    Example:

    >>> kept = keras.ops.array([[[1.0], [0.0], [1.0], [1.0]]])
    >>> KeptBlock(num_heads=2, mlp_dim=32)(keras.ops.ones((1, 5, 8)), kept).shape
    TensorShape([1, 5, 8])
    """

    def __init__(self, num_heads, mlp_dim, attention="kept", **kwargs):
        super().__init__(num_heads, mlp_dim, attention=attention, **kwargs)

    def build(self, tokens_shape, kept_shape=None):
        super().build(tokens_shape)

    def call(self, tokens, kept, training=False):
        kept = ops.cast(kept[..., 0], tokens.dtype)
        before = tokens.shape[1] - kept.shape[1]
        kept = ops.pad(kept, ((0, 0), (before, 0)), constant_values=1)
        if not (self.remat and training):
            return self._seeing(tokens, kept, training)
        # One tensor, since both have a gradient.
        both = ops.concatenate([tokens, kept[..., None]], axis=-1)
        return rematerialised(
            self, lambda both: self._seeing(both[..., :-1], both[..., -1], True), both
        )

    def _seeing(self, tokens, kept, training):
        attended = self.attention(self.norm1(tokens), kept, training=training)
        tokens = tokens + self._branch(
            self.drop(attended, training=training), self.scale1, training
        )
        processed = self.mlp(self.norm2(tokens), training=training)
        return tokens + self._branch(processed, self.scale2, training)

    def compute_output_shape(self, tokens_shape, kept_shape):
        return tokens_shape
