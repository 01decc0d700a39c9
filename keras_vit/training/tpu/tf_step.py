"""TensorFlow's own training step as StableHLO, which the TPU compiler reads like JAX's."""

import re

import keras
import tensorflow as tf

from keras_vit.training.tpu.objective import batch_of, compiled


def stablehlo(model, batch_size, make_step=None):
    """Returns a training step of one replica as StableHLO text.

    It comes from TensorFlow's compiler for CPUs, which writes the same program as the one for TPUs
    but for few operations.

    Args:
        model: a built Keras model.
        batch_size: images a step.
        make_step: function from a model to a compiled `tf.function` of images and labels; by
            default `whole_step`.

    Returns:
        A string.
    """
    step = (make_step or whole_step)(model)
    batch = keras.tree.flatten(batch_of(model, batch_size))
    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in batch]
    text = step.experimental_get_compiler_ir(*specs)(stage="stablehlo")
    # The one operation in it of a dialect that JAX's parser does not know.
    return re.sub(r"\bmhlo\.copy\b", "stablehlo.optimization_barrier", text)


def whole_step(model):
    """What `fit` does with a batch: forward and backward pass, AdamW and metrics, in one program.

    The model is compiled for it.
    """
    compiled(model).make_train_function()  # prepares the exact step
    structure = batch_of(model, 1)

    def step(*batch):
        return model.train_step(keras.tree.pack_sequence_as(structure, batch))

    return tf.function(step, jit_compile=True)
