"""The pre-norm transformer block that every model of the package is made of."""

import keras

from keras_vit.layers.attention import Attention, head_dim
from keras_vit.layers.base import Layer
from keras_vit.layers.causal_attention import CausalAttention
from keras_vit.layers.choices import check_choice
from keras_vit.layers.drop_path import DropPath
from keras_vit.layers.kept_attention import KeptAttention
from keras_vit.layers.layer_norm import LayerNorm
from keras_vit.layers.layer_scale import LayerScale
from keras_vit.layers.mlp import Mlp
from keras_vit.layers.performer_attention import PerformerAttention
from keras_vit.layers.proportional_attention import ProportionalAttention
from keras_vit.layers.relative_attention import RelativeAttention
from keras_vit.layers.remat import rematerialised
from keras_vit.layers.swiglu import SwiGLU
from keras_vit.layers.window_attention import WindowAttention

# The kinds of attention, called as `kind(num_heads=..., dropout=..., name=..., dtype=...)`; what
# else they want comes from `attention_options`.
ATTENTION = {
    "softmax": Attention,
    "causal": CausalAttention,
    "kept": KeptAttention,
    "performer": PerformerAttention,
    "proportional": ProportionalAttention,
    "relative": RelativeAttention,
    "window": WindowAttention,
}
# The kinds of MLP, called as `kind(mlp_dim, activation, dropout, name=..., dtype=...)`.
MLPS = {"mlp": Mlp, "swiglu": SwiGLU}


def attention_named(name):
    """Returns the attention class called `name`.

    Raises:
        ValueError: if there is none.
    """
    check_choice("attention", name, ATTENTION)
    return ATTENTION[name]


def mlp_named(name):
    """Returns the MLP class called `name`.

    Raises:
        ValueError: if there is none.
    """
    check_choice("mlp", name, MLPS)
    return MLPS[name]


@keras.saving.register_keras_serializable(package="keras_vit")
class TransformerBlock(Layer):
    """Attention and MLP, each normed before and added to the stream after.

    `x + drop_path(scale(attention(norm(x))))`, then the same with the MLP.

    Args:
        num_heads: number of attention heads; divides the width.
        mlp_dim: hidden width of the MLP, 4 × the width in most models.
        dropout: rate after the attention, inside and after the MLP, in [0, 1).
        attention_dropout: rate on the attention probabilities, in [0, 1).
        drop_path: probability of dropping a residual branch for an example, in [0, 1).
        layer_scale: start value of LayerScale on both branches, or None for no LayerScale.
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        norm_epsilon: epsilon of the norms.
        attention: one of `keras_vit.layers.ATTENTION`.
        attention_options: what more that kind of attention wants, by name, or None.
        mlp: one of `keras_vit.layers.MLPS`.
        remat: whether to forget what the block computes in training and compute it again for the
            gradient: a third more work, for the memory of the inputs alone.

    Call arguments:
        tokens: `[b, n, width]`.
        training: whether the dropouts are on.

    Returns:
        `[b, n, width]`.

    Raises:
        ValueError: for an unknown `activation`, `attention` or `mlp`, or if `num_heads` does not
            divide the width.

    Reference:
        Dosovitskiy et al., *An Image is Worth 16x16 Words*, 2020, arXiv 2010.11929.

    Example:

    >>> TransformerBlock(num_heads=2, mlp_dim=32)(keras.ops.ones((1, 5, 8))).shape
    TensorShape([1, 5, 8])
    """

    def __init__(
        self,
        num_heads,
        mlp_dim,
        dropout=0.0,
        attention_dropout=0.0,
        drop_path=0.0,
        layer_scale=None,
        activation="gelu",
        norm_epsilon=1e-6,
        attention="softmax",
        mlp="mlp",
        remat=False,
        attention_options=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.mlp_dim = mlp_dim
        self.layer_scale = layer_scale
        self.remat = remat
        dtype = self.dtype_policy
        self.norm1 = LayerNorm(norm_epsilon, name="norm1", dtype=dtype)
        self.attention = attention_named(attention)(
            num_heads=num_heads,
            dropout=attention_dropout,
            name="attention",
            dtype=dtype,
            **(attention_options or {}),
        )
        self.norm2 = LayerNorm(norm_epsilon, name="norm2", dtype=dtype)
        self.mlp = mlp_named(mlp)(mlp_dim, activation, dropout, name="mlp", dtype=dtype)
        self.drop = keras.layers.Dropout(dropout, name="drop", dtype=dtype)
        self.drop_path = DropPath(drop_path, name="drop_path", dtype=dtype)
        scales = layer_scale is not None
        self.scale1 = LayerScale(layer_scale, name="scale1", dtype=dtype) if scales else None
        self.scale2 = LayerScale(layer_scale, name="scale2", dtype=dtype) if scales else None

    def build(self, input_shape):
        head_dim(input_shape[-1], self.num_heads)
        for part in (self.norm1, self.attention, self.scale1, self.norm2, self.mlp, self.scale2):
            if part is not None:
                part.build(input_shape)

    def attention_probabilities(self, tokens):
        """Returns what this block attends to, given its input.

        Args:
            tokens: the block's input, `[b, n, width]`.

        Returns:
            `[b, num_heads, n, n]`; rows sum to one.
        """
        return self.attention.probabilities(self._seen(self.norm1(tokens)))

    def call(self, tokens, training=False):
        if self.remat and training:
            return rematerialised(self, lambda tokens: self._call(tokens, True), tokens)
        return self._call(tokens, training)

    def _call(self, tokens, training):
        attended = self.attention(self._seen(self.norm1(tokens)), training=training)
        attended = self.drop(attended, training=training)
        tokens = self._kept(tokens) + self._branch(attended, self.scale1, training)
        processed = self.mlp(self.norm2(tokens), training=training)
        return tokens + self._branch(processed, self.scale2, training)

    def _seen(self, normed):
        """What attention gets of the normed input."""
        return normed

    def _kept(self, tokens):
        """What attention's values are added to."""
        return tokens

    def _branch(self, x, scale, training):
        return self.drop_path(x if scale is None else scale(x), training=training)

    def compute_output_shape(self, input_shape):
        return input_shape
