"""TensorFlow's own training step as StableHLO, which the TPU compiler reads like JAX's."""

import re

import tensorflow as tf

from keras_vit.training.tpu.objective import compiled


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
    images = tf.TensorSpec((batch_size, *model.input_shape[1:]), "float32")
    labels = tf.TensorSpec((batch_size,), "int32")
    text = step.experimental_get_compiler_ir(images, labels)(stage="stablehlo")
    # The one operation in it of a dialect that JAX's parser does not know.
    return re.sub(r"\bmhlo\.copy\b", "stablehlo.optimization_barrier", text)


def whole_step(model):
    """What `fit` does with a batch: forward and backward pass, AdamW and metrics, in one program.

    The model is compiled for it.
    """
    compiled(model).make_train_function()  # prepares the exact step
    return tf.function(lambda images, labels: model.train_step((images, labels)), jit_compile=True)
