"""The gated MLP of DINOv2's giant."""

import functools

import keras
from keras import ops

from keras_vit.layers.activations import activation as activation_named
from keras_vit.layers.base import Layer
from keras_vit.layers.flat import flat, unflat
from keras_vit.one_pass import one_pass


@functools.cache
def gated(activation):
    """Returns the function (gate, value) -> `activation(gate) * value`, the same for each name."""
    activate = activation_named(activation)
    return lambda gate, value: activate(gate) * value


@keras.saving.register_keras_serializable(package="keras_vit")
class SwiGLU(Layer):
    """`fc2(activation(gate) * value)`, where `fc1` gives gate and value side by side.

    Args:
        hidden_dim: width of gate and of value; `fc1` is twice as wide.
        activation: what the gate goes through, one of `keras_vit.layers.ACTIVATIONS`; with
            `"silu"` this is SwiGLU, with `"gelu"` it is GeGLU.
        dropout: rate after the product and after the second Dense, in [0, 1).

    Call arguments:
        inputs: float tensor `[..., width]`.
        training: whether dropout is on.

    Returns:
        A tensor of the shape of the inputs.

    Reference:
        Shazeer, *GLU Variants Improve Transformer*, 2020, arXiv 2002.05202.
    """

    def __init__(self, hidden_dim, activation="silu", dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.hidden_dim = hidden_dim
        self.activation = activation
        self.dropout = dropout
        self._gated = gated(activation)

    def build(self, input_shape):
        dtype = self.dtype_policy
        self.fc1 = keras.layers.Dense(2 * self.hidden_dim, name="fc1", dtype=dtype)
        self.fc2 = keras.layers.Dense(input_shape[-1], name="fc2", dtype=dtype)
        self.drop = keras.layers.Dropout(self.dropout, name="drop", dtype=dtype)
        self.fc1.build(input_shape)
        self.fc2.build((*input_shape[:-1], self.hidden_dim))

    def call(self, inputs, training=False):
        gate, value = ops.split(self.fc1(flat(inputs)), 2, axis=-1)
        combine = one_pass(self._gated) if training else self._gated
        x = self.drop(combine(gate, value), training=training)
        return self.drop(unflat(self.fc2(x), inputs), training=training)

    def compute_output_shape(self, input_shape):
        return input_shape
