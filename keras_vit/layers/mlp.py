"""The two-layer perceptron of a transformer block."""

import keras

from keras_vit.layers.activations import activation as activation_named
from keras_vit.layers.base import Layer
from keras_vit.layers.flat import flat, unflat
from keras_vit.one_pass import one_pass


@keras.saving.register_keras_serializable(package="keras_vit")
class Mlp(Layer):
    """Dense, activation, dropout, Dense, dropout, on the last axis.

    Args:
        hidden_dim: width of the hidden layer.
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        dropout: rate after the activation and after the second Dense, in [0, 1).

    Call arguments:
        inputs: float tensor `[..., width]`.
        training: whether dropout is on.

    Returns:
        A tensor of the shape of the inputs.
    """

    def __init__(self, hidden_dim, activation="gelu", dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.hidden_dim = hidden_dim
        self.activation = activation
        self.dropout = dropout
        self._activate = activation_named(activation)

    def build(self, input_shape):
        self.fc1 = self._dense(self.hidden_dim, "fc1")
        self.fc2 = self._dense(input_shape[-1], "fc2")
        self.drop = keras.layers.Dropout(self.dropout, name="drop", dtype=self.dtype_policy)
        self.fc1.build(input_shape)
        self.fc2.build((*input_shape[:-1], self.hidden_dim))

    def _dense(self, width, name):
        # Xavier-uniform kernels and biases of N(0, 1e-6), as in the JAX code. An initializer
        # repeats itself: shared by both layers it would give both the same biases.
        return keras.layers.Dense(
            width,
            kernel_initializer="glorot_uniform",
            bias_initializer=keras.initializers.RandomNormal(stddev=1e-6),
            name=name,
            dtype=self.dtype_policy,
        )

    def call(self, inputs, training=False):
        activate = one_pass(self._activate) if training else self._activate
        x = self.drop(activate(self.fc1(flat(inputs))), training=training)
        return self.drop(unflat(self.fc2(x), inputs), training=training)

    def compute_output_shape(self, input_shape):
        return input_shape
