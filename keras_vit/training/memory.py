"""About how much memory a training step takes, told from its graph before it runs."""

import dataclasses
import math

import tensorflow as tf

# Operations whose result lies where their input does.
_SAME_PLACE = ("Identity", "Reshape", "Squeeze", "ExpandDims", "StopGradient", "PreventGradient")
# What is no activation: the weights themselves.
_WEIGHTS = ("ReadVariableOp", "Placeholder", "Const", "VarHandleOp")


@dataclasses.dataclass(frozen=True)
class StepMemory:
    """Bytes of a training step on one device.

    Args:
        weights: the weights, trained or not.
        gradients: one number for each trained one.
        optimizer: what the optimizer keeps.
        activations: what the forward pass leaves for the backward pass, for a whole batch.
    """

    weights: int
    gradients: int
    optimizer: int
    activations: int

    @property
    def total(self):
        """All of them together."""
        return self.weights + self.gradients + self.optimizer + self.activations


def step_memory(model, batch_size):
    """Estimates the memory of a training step.

    The activations are the tensors of the forward pass that the backward pass asks for, as
    TensorFlow traces them. What comes and goes between, and the program itself, are not counted.

    Args:
        model: a compiled model of this package whose optimizer is built.
        batch_size: images of a step on one device.

    Returns:
        A `StepMemory`.
    """
    return StepMemory(
        weights=sum(map(_variable_bytes, model.weights)),
        gradients=sum(map(_variable_bytes, model.trainable_variables)),
        optimizer=sum(map(_variable_bytes, model.optimizer.variables)),
        activations=kept_activations(model, batch_size),
    )


def kept_activations(model, batch_size):
    """Returns the bytes that a forward pass in training leaves for the backward pass."""
    forward = set()

    @tf.function(autograph=False)
    def step(images):
        with tf.GradientTape() as tape:
            outputs = model(images, training=True)
        forward.update(tf.compat.v1.get_default_graph().get_operations())
        values = [variable.value for variable in model.trainable_variables]
        return [g for g in tape.gradient(outputs, values) if g is not None]

    specs = tf.nest.map_structure(
        lambda one: tf.TensorSpec((batch_size, *one.shape[1:]), one.dtype), model.input
    )
    graph = step.get_concrete_function(specs).graph
    kept = {}
    for operation in graph.get_operations():
        if operation in forward:
            continue
        for tensor in map(_root, operation.inputs):
            if tensor.op in forward and tensor.op.type not in _WEIGHTS:
                kept[tensor.ref()] = tensor
    return sum(map(_tensor_bytes, kept.values()))


def _root(tensor):
    while tensor.op.type in _SAME_PLACE and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def _tensor_bytes(tensor):
    if not tensor.shape.is_fully_defined():
        return 0
    return math.prod(tensor.shape) * tensor.dtype.size


def _variable_bytes(variable):
    return math.prod(variable.shape) * tf.as_dtype(variable.dtype).size
