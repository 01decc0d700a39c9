"""Fine-tuning with the rounding of an integer file, and the file of the ranges that it learned."""

from keras_vit.export.qat.calibrating import calibrate
from keras_vit.export.qat.model import QuantizationAware, quantization_aware

__all__ = ["QuantizationAware", "calibrate", "quantization_aware"]
