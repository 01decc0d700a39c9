"""The graph of a quantisation-aware model as the converter reads it."""

import dataclasses

import tensorflow as tf

from keras_vit.export.qat.calibrating import unchanged
from keras_vit.export.qat.model import QuantizationAware
from keras_vit.export.qat.ranges import Rounded, RoundedKernel, RoundedTo, forms


def with_learned_ranges(model, profile):
    """Returns the profile by which a model is written: for a quantisation-aware one, its own.

    Raises:
        ValueError: if a quantisation-aware model is to be anything but full int8.
    """
    if not isinstance(model, QuantizationAware):
        return profile
    if profile.precision != "full_int8" or profile.allowed is not None:
        raise ValueError(
            "A quantisation-aware model has the ranges of one artefact, that of the profile "
            f"`npu`. Received: profile={profile.name}."
        )
    return dataclasses.replace(profile, calibrated=False, precision="learned_int8")


def rounding(model, profile):
    """(the graph, function from raw pixels to what the file gives).

    The converter knows TensorFlow's own rounding operators, takes a tensor's range from each and
    leaves them out. Kernels it rounds itself, by the same rule.
    """

    def known(layer, x):
        with tf.init_scope():  # constants of the graph
            low, high = (float(end) for end in layer.range())
        return tf.quantization.fake_quant_with_min_max_args(x, min(low, 0), max(high, 0))

    chosen = {Rounded: known, RoundedTo: known, RoundedKernel: unchanged}

    def answer(images):
        with forms(model.integers, chosen):
            return {"logits": model.integers(images, training=False)}

    return model.integers, answer
