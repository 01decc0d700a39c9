"""A model that computes, and is trained, with the rounding of an integer file."""

import keras
from keras import ops

from keras_vit.export.qat.calibrating import calibrate
from keras_vit.export.qat.parts import rounded
from keras_vit.export.rewrite import rewrite
from keras_vit.export.rewrite.parts import replaced
from keras_vit.layers import Layer
from keras_vit.step import ExactFit

# The rewrites of the profile `npu` that need no images.
PASSES = (
    "fold_layer_scale",
    "fold_norms",
    "centre",
    "fold_query_scale",
    "separate_projections",
    "self_products",
)


def quantization_aware(model, calibration):
    """Returns a trainable copy of a model that rounds as its full int8 file does.

    Every kernel is rounded by channel, symmetrically; every tensor to a range of its own, which
    is calibrated here and learned from then on. `fit` it for a few epochs at a small learning
    rate, then `keras_vit.export.export(copy, "npu", path)`: the file has the learned ranges.

    Args:
        model: a ViT or DeiT of `create_model`, trained. It is left as it is.
        calibration: some hundred training images; what `export` takes.

    Returns:
        A `QuantizationAware`: normalised images in, logits out, without dropout.

    Raises:
        ValueError: for a model with parts that have no rounded form, or wrong images.

    Example:

    >>> import numpy as np
    >>> from keras_vit import create_model
    >>> model = create_model("vit_ti16", image_size=32, depth=1, num_classes=10)
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3))
    >>> quantization_aware(model, images).output_shape
    (None, 10)
    """
    copy = QuantizationAware(model)
    calibrate(copy, calibration)
    return copy


@keras.saving.register_keras_serializable(package="keras_vit")
class QuantizationAware(ExactFit, keras.Model):
    """What `quantization_aware` returns; its ranges are not calibrated yet.

    To load it from a `.keras` file, import this module first.

    Args:
        model: the model, of `create_model`, with a `preprocessing`.

    Attributes:
        integers: the graph from raw pixels to logits that becomes a file.
        preprocessing: the model's.
    """

    def __init__(self, model, name=None, **kwargs):
        graph, _ = rewrite(model, PASSES)
        graph = replaced(graph, {layer.name: rounded(layer) for layer in graph.layers})
        inputs = keras.Input(model.input_shape[1:], dtype="float32", name="images")
        pixels = RawPixels(model.preprocessing, name="raw_pixels")
        super().__init__(
            inputs=inputs, outputs=graph(pixels(inputs)), name=name or model.name, **kwargs
        )
        self.integers = graph
        self.preprocessing = model.preprocessing
        # As text of JSON's kinds: the model itself would be tracked and saved with its weights.
        self._source = keras.saving.serialize_keras_object(model)

    def get_config(self):
        return {"model": self._source, "name": self.name, "trainable": self.trainable}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        source = keras.saving.deserialize_keras_object(config.pop("model"), custom_objects)
        return cls(source, **config)


class RawPixels(Layer):
    """Normalised images as pixels from 0 to 255 again.

    Args:
        preprocessing: the `Preprocessing` that normalised them.
    """

    def __init__(self, preprocessing, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.factor = [255 * std for std in preprocessing.std]
        self.offset = [255 * mean for mean in preprocessing.mean]

    def call(self, images):
        return images * ops.convert_to_tensor(self.factor) + ops.convert_to_tensor(self.offset)

    def compute_output_shape(self, input_shape):
        return input_shape
