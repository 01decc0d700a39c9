"""The ways in which tokens become one vector."""

import keras
from keras import ops

from keras_vit.layers.attention import HeadProjection, attention_probabilities, merge_heads
from keras_vit.layers.base import Layer
from keras_vit.layers.layer_norm import LayerNorm
from keras_vit.layers.mlp import Mlp


@keras.saving.register_keras_serializable(package="keras_vit")
class TokenPooling(Layer):
    """Takes the class token, which comes first: `[b, n, width]` to `[b, width]`."""

    def call(self, tokens):
        return tokens[:, 0]

    def compute_output_shape(self, input_shape):
        return input_shape[0], input_shape[2]


@keras.saving.register_keras_serializable(package="keras_vit")
class MeanPooling(Layer):
    """Averages the patch tokens (global average pooling): `[b, n, width]` to `[b, width]`.

    Args:
        prefix: number of tokens in front that are left out (class token, registers).
    """

    def __init__(self, prefix=0, **kwargs):
        super().__init__(**kwargs)
        self.prefix = prefix

    def call(self, tokens):
        return ops.mean(tokens[:, self.prefix :], axis=1)

    def compute_output_shape(self, input_shape):
        return input_shape[0], input_shape[2]


@keras.saving.register_keras_serializable(package="keras_vit")
class TokenAndMeanPooling(Layer):
    """Class token and mean of the patch tokens side by side: `[b, n, width]` to `[b, 2 * width]`.

    Args:
        prefix: number of tokens in front that the mean leaves out (class token, registers).
    """

    def __init__(self, prefix=1, **kwargs):
        super().__init__(**kwargs)
        self.prefix = prefix

    def call(self, tokens):
        mean = ops.mean(tokens[:, self.prefix :], axis=1)
        return ops.concatenate([tokens[:, 0], mean], axis=-1)

    def compute_output_shape(self, input_shape):
        return input_shape[0], 2 * input_shape[2]


@keras.saving.register_keras_serializable(package="keras_vit")
class ProbeAttention(Layer):
    """Multi-head attention of a few learned queries over all tokens.

    Args:
        num_heads: number of heads; divides the width.

    Call arguments:
        probe: `[b, m, width]`, the queries.
        tokens: `[b, n, width]`, keys and values.

    Returns:
        `[b, m, width]`.
    """

    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        dtype = self.dtype_policy
        self.query = HeadProjection(num_heads, parts=1, name="query", dtype=dtype)
        self.key_value = HeadProjection(num_heads, parts=2, name="key_value", dtype=dtype)
        self.num_heads = num_heads

    def build(self, probe_shape, tokens_shape):
        width = tokens_shape[-1]
        self.query.build(probe_shape)
        self.key_value.build(tokens_shape)
        self.out = keras.layers.Dense(width, name="out", dtype=self.dtype_policy)
        self.out.build(probe_shape)

    def call(self, probe, tokens):
        (query,) = self.query(probe)
        key, value = self.key_value(tokens)
        return self.out(merge_heads(ops.matmul(attention_probabilities(query, key), value)))

    def compute_output_shape(self, probe_shape, tokens_shape):
        return probe_shape


@keras.saving.register_keras_serializable(package="keras_vit")
class AttentionPooling(Layer):
    """Multi-head attention pooling (MAP): a learned probe attends over the tokens.

    `y = attention(probe, tokens)`, then `y + mlp(norm(y))`; the probe itself is not added.

    Args:
        num_heads: number of heads; divides the width.
        mlp_dim: hidden width of the MLP.
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        norm_epsilon: epsilon of the norm.

    Call arguments:
        tokens: `[b, n, width]`, after the final norm; the ViT gives its patch tokens only.

    Returns:
        `[b, width]`.

    Reference:
        Zhai et al., *Scaling Vision Transformers*, 2021, arXiv 2106.04560.
    """

    def __init__(self, num_heads, mlp_dim, activation="gelu", norm_epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        dtype = self.dtype_policy
        self.attention = ProbeAttention(num_heads, name="attention", dtype=dtype)
        self.norm = LayerNorm(norm_epsilon, name="norm", dtype=dtype)
        self.mlp = Mlp(mlp_dim, activation, name="mlp", dtype=dtype)

    def build(self, input_shape):
        width = input_shape[-1]
        probe = (input_shape[0], 1, width)
        self.probe = self.add_weight(
            name="probe", shape=(1, 1, width), initializer="glorot_uniform"
        )
        self.attention.build(probe, input_shape)
        self.norm.build(probe)
        self.mlp.build(probe)

    def call(self, tokens):
        shape = (ops.shape(tokens)[0], 1, tokens.shape[-1])
        probe = ops.cast(ops.broadcast_to(self.probe, shape), self.compute_dtype)
        x = self.attention(probe, tokens)
        return (x + self.mlp(self.norm(x)))[:, 0]

    def compute_output_shape(self, input_shape):
        return input_shape[0], input_shape[2]
