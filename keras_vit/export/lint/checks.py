"""What can keep a device from taking one operator.

Each function takes an `Operator` and returns the reason as a sentence part, or None.
"""

import numpy as np

REAL_INTEGERS = {"INT8", "UINT8"}
# Shapes, axes and sums stand in these whatever the model computes in.
HELPERS = {"INT32", "INT64", "BOOL"}


def open_shape(operator):
    """A tensor whose size is known at run time only."""
    if any(side < 0 for tensor in _tensors(operator) for side in tensor.shape):
        return "has a shape that is not fixed"


def custom(operator):
    """An operator that stock runtimes lack."""
    if operator.custom:
        return "is no stock operator"


def no_8_bits(operator):
    """A tensor that is no 8-bit integer."""
    other = {t.dtype for t in _tensors(operator) if not t.constant}
    other -= REAL_INTEGERS | HELPERS
    if other:
        return f"computes in {', '.join(sorted(other))}, not in 8-bit integers"


def floats(operator):
    """A float tensor."""
    if any("FLOAT" in tensor.dtype for tensor in _tensors(operator)):
        return "has float tensors"


def four_sides(operator):
    """More than three sides above 1."""
    for tensor in operator.computed + [*operator.outputs]:
        if sum(side > 1 for side in tensor.shape) > 3:
            return f"has a tensor with more than three sides above 1, {_sides(tensor)}"


def five_sides(operator):
    """More than four sides."""
    for tensor in operator.computed + [*operator.outputs]:
        if len(tensor.shape) > 4:
            return f"has a tensor with more than four sides, {_sides(tensor)}"


def product_of_rows(operator):
    """A dense layer over more than one vector."""
    if operator.name == "FULLY_CONNECTED" and np.prod(operator.outputs[0].shape[:-1]) > 1:
        return f"is over {_sides(operator.outputs[0])}, not over one vector"


def mean_over_batch(operator):
    """A mean over the batch, or over channels that are not a multiple of 4."""
    if operator.name != "MEAN":
        return None
    shape = operator.inputs[0].shape
    axes = {axis % len(shape) for axis in operator.inputs[1].integers()}
    if 0 in axes and len(shape) > 3:
        return "is over the batch"
    if len(shape) - 1 in axes and shape[-1] % 4:
        return f"is over {shape[-1]} channels, no multiple of 4"


def joined_constant(operator):
    """A constant in a concatenation that is not zero, or beside more than one tensor."""
    constants = [tensor for tensor in operator.inputs if tensor.constant]
    if operator.name != "CONCATENATION" or not constants:
        return None
    if len(operator.inputs) > 2:
        return "joins a constant with more than one tensor"
    zero = np.uint8((constants[0].zero_point or (0,))[0] % 256)
    if (constants[0].data != zero).any():
        return "joins a constant that is not zero"


def long_softmax(operator):
    """A softmax of more than 16,000 elements."""
    if operator.name == "SOFTMAX" and np.prod(operator.outputs[0].shape) > 16_000:
        return f"is of {np.prod(operator.outputs[0].shape):,} elements, more than 16,000"


def slice_of_rank(operator):
    """A slice of other than 3 or 4 sides, or one with masks."""
    if operator.name not in {"SLICE", "STRIDED_SLICE"}:
        return None
    if operator.flags:
        return f"sets {', '.join(operator.flags)}"
    if len(operator.inputs[0].shape) not in {3, 4}:
        return f"is of a tensor with {len(operator.inputs[0].shape)} sides, not 3 or 4"


def outer_product(operator):
    """A product in which each factor is repeated along a side of the other."""
    if operator.name != "MUL":
        return None
    first, second = (tensor.shape for tensor in operator.inputs[:2])
    if len(first) != len(second):
        return None
    pairs = list(zip(first, second, strict=True))
    if any(a < b for a, b in pairs) and any(a > b for a, b in pairs):
        return "repeats both its factors"


def padding_rank(operator):
    """A padding of other than 3 or 4 sides."""
    if operator.name in {"PAD", "PADV2", "MIRROR_PAD"}:
        sides = operator.inputs[1].shape[0]
        if sides not in {3, 4}:
            return f"pads {sides} sides, not 3 or 4"


def cast_of_integers(operator):
    """A conversion of types other than float32, int32 and boolean."""
    types = {tensor.dtype for tensor in _tensors(operator)}
    if operator.name == "CAST" and types - {"FLOAT32", "FLOAT16", "INT32", "BOOL"}:
        return f"converts between {', '.join(sorted(types))}"


def transposed_product(operator):
    """A matrix product that transposes a factor."""
    if operator.name == "BATCH_MATMUL" and operator.flags:
        return "transposes a factor by a flag, which some GPU releases ignore"


def product_of_rank_3(operator):
    """A matrix product of tensors of three sides."""
    if operator.name == "BATCH_MATMUL" and len(operator.inputs[0].shape) == 3:
        return "multiplies tensors of three sides, which some GPU releases get wrong"


def _tensors(operator):
    return operator.inputs + operator.outputs


def _sides(tensor):
    return str(list(tensor.shape))
