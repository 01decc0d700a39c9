"""Layer normalisation that stays integer when a model is quantised."""

import functools

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.one_pass import one_pass


@functools.cache
def layer_norm(epsilon):
    """Returns the function (x, gamma, beta) -> normalised x, the same for each `epsilon`."""

    def normalise(inputs, gamma, beta):
        x = ops.cast(inputs, keras.backend.result_type(inputs.dtype, "float32"))
        centred = x - ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(centred * centred, axis=-1, keepdims=True)
        normed = centred * ops.rsqrt(variance + epsilon)
        gamma, beta = ops.cast(gamma, x.dtype), ops.cast(beta, x.dtype)
        return ops.cast(normed * gamma + beta, inputs.dtype)

    return normalise


@keras.saving.register_keras_serializable(package="keras_vit")
class LayerNorm(Layer):
    """Normalises the last axis: `(x - mean) * rsqrt(var + epsilon) * gamma + beta`.

    The numbers are those of `keras.layers.LayerNormalization`. Keras writes them so that the
    TFLite converter emits a `NEG`, which has no integer form: every norm then keeps a float
    island in a "full int8" file and int16 conversion fails. The product form here has none.
    The variance is written `c * c` because `square` becomes SQUARED_DIFFERENCE, which has no
    int16 kernel.

    Statistics are computed in float32 under a half-precision policy: an epsilon of 1e-6
    underflows in float16.

    Args:
        epsilon: added to the variance, > 0. ViT, DeiT and MAE use 1e-6; Swin and CLIP 1e-5;
            Hugging Face's ViT 1e-12. (Keras's own default, 1e-3, fits none of them.)

    Call arguments:
        inputs: float tensor `[..., width]`.

    Returns:
        A tensor of the shape and dtype of the inputs.

    Reference:
        Ba, Kiros, Hinton, *Layer Normalization*, 2016, arXiv 1607.06450.

    Example:

    >>> LayerNorm()(keras.ops.ones((2, 3, 8))).shape
    TensorShape([2, 3, 8])
    """

    def __init__(self, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        if epsilon <= 0:
            raise ValueError(f"`epsilon` must be positive. Received: {epsilon}.")
        self.epsilon = epsilon

    def build(self, input_shape):
        # Kept out of autocasting: the scale is applied in float32 too.
        width = (input_shape[-1],)
        self.gamma = self.add_weight(name="gamma", shape=width, initializer="ones", autocast=False)
        self.beta = self.add_weight(name="beta", shape=width, initializer="zeros", autocast=False)

    def call(self, inputs, training=False):
        normalise = layer_norm(self.epsilon)
        normalise = one_pass(normalise) if training else normalise
        return normalise(inputs, self.gamma, self.beta)

    def compute_output_shape(self, input_shape):
        return input_shape
