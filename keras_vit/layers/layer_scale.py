"""LayerScale: a learned scale per channel on a residual branch."""

import keras

from keras_vit.layers.base import Layer


@keras.saving.register_keras_serializable(package="keras_vit")
class LayerScale(Layer):
    """Multiplies each channel by a learned factor that starts small.

    Args:
        initial_value: the factor at the start: 1e-4 in DeiT-III, 1e-5 in DINOv2.

    Call arguments:
        inputs: float tensor `[..., width]`.

    Returns:
        A tensor of the shape of the inputs.

    Reference:
        Touvron et al., *Going deeper with Image Transformers*, 2021, arXiv 2103.17239.
    """

    def __init__(self, initial_value=1e-4, **kwargs):
        super().__init__(**kwargs)
        self.initial_value = initial_value

    def build(self, input_shape):
        start = keras.initializers.Constant(self.initial_value)
        self.gamma = self.add_weight(name="gamma", shape=(input_shape[-1],), initializer=start)

    def call(self, inputs):
        return inputs * self.gamma

    def compute_output_shape(self, input_shape):
        return input_shape
