"""How much a model wants to keep each patch token."""

import keras
from keras import ops

from keras_vit.layers.activations import gelu
from keras_vit.layers.base import Layer
from keras_vit.layers.kept_tokens import mean_of_kept
from keras_vit.layers.layer_norm import LayerNorm


@keras.saving.register_keras_serializable(package="keras_vit")
class TokenScorer(Layer):
    """The prediction module of DynamicViT: keep or drop, for each patch token.

    `z = GELU(Dense(norm(x)))`; the second half of its channels is replaced by its mean over the
    tokens that are kept, so that each token knows of the picture; then three Dense layers of half,
    a quarter of the width and two channels, with GELUs between.

    Args:
        prefix: number of tokens in front (class token, registers) that are not scored.
        norm_epsilon: epsilon of the norm.

    Call arguments:
        tokens: `[b, prefix + n, width]`; the width is a multiple of 4.
        kept: `[b, n, 1]`, 1 for patch tokens that are kept so far; all are where it is left out.

    Returns:
        Logarithms of the probabilities of (keep, drop), `[b, n, 2]`, at least in float32: near
        ones would be equal in half precision.

    Raises:
        ValueError: if 4 does not divide the width.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034. Keep is the first channel, as in the code;
        the paper's text says the second.

    Example:

    >>> TokenScorer(prefix=1)(keras.ops.ones((2, 5, 8))).shape
    TensorShape([2, 4, 2])
    """

    def __init__(self, prefix=1, norm_epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.prefix = prefix
        self.norm = LayerNorm(norm_epsilon, name="norm", dtype=self.dtype_policy)

    def build(self, tokens_shape, kept_shape=None):
        width = tokens_shape[-1]
        if width % 4:
            raise ValueError(f"The `width` of scored tokens must be a multiple of 4: {width}.")
        self.norm.build(tokens_shape)
        self.enter = self._dense(width, width, "enter")
        self.half = self._dense(width, width // 2, "half")
        self.quarter = self._dense(width // 2, width // 4, "quarter")
        self.decide = self._dense(width // 4, 2, "decide")

    def _dense(self, before, width, name):
        dense = keras.layers.Dense(
            width,
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            name=name,
            dtype=self.dtype_policy,
        )
        dense.build((None, None, before))
        return dense

    def call(self, tokens, kept=None):
        features = gelu(self.enter(self.norm(tokens[:, self.prefix :])))
        local, of_picture = ops.split(features, 2, axis=-1)
        if kept is None:
            mean = ops.mean(of_picture, axis=1, keepdims=True)
        else:
            mean = mean_of_kept(of_picture, kept)
        mean = ops.broadcast_to(mean, ops.shape(local))
        features = ops.concatenate([local, mean], axis=-1)
        logits = self.decide(gelu(self.quarter(gelu(self.half(features)))))
        exact = keras.backend.result_type(logits.dtype, "float32")
        return ops.log_softmax(ops.cast(logits, exact), axis=-1)

    def compute_output_spec(self, tokens, kept=None):
        exact = keras.backend.result_type(self.compute_dtype, "float32")
        batch, count, _ = tokens.shape
        return keras.KerasTensor((batch, count - self.prefix, 2), exact)
