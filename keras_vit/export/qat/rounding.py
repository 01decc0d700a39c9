"""Rounding to 8 bits and back, with gradients that go straight through it."""

import keras
from keras import ops

# Levels of a tensor, and the largest one of a kernel, whose lowest stays unused: symmetric.
LEVELS, LARGEST = 255, 127


def fake_quant(x, low, high):
    """Rounds to the 256 values from `low` to `high`, one of which is made zero.

    These are the numbers of `tf.quantization.fake_quant_with_min_max_args`, and of a TFLite file
    with that range. Only the rounding itself is left out of the gradient: what lies outside gives
    its gradient to the range, what lies inside to itself, and its error to the step.

    Args:
        x: float tensor.
        low: scalar; above zero it counts as zero.
        high: scalar; below zero it counts as zero.

    Returns:
        A tensor of the shape of `x`.

    Reference:
        Esser et al., *Learned Step Size Quantization*, 2019, arXiv 1902.08153.

    Example:

    >>> ops.convert_to_numpy(fake_quant([-3.0, 0.4, 0.6, 300.0], 0.0, 255.0)).tolist()
    [0.0, 0.0, 1.0, 255.0]
    """
    x = ops.convert_to_tensor(x)
    low, high = ops.minimum(low, 0.0), ops.maximum(high, 0.0)
    # A tensor that was zero on every image has no range of its own.
    step = ops.maximum((high - low) / LEVELS, keras.config.epsilon() ** 2)
    bottom = -ops.stop_gradient(ops.round(-low / step)) * step
    place = ops.minimum(ops.maximum((x - bottom) / step, 0.0), LEVELS)
    place = place + ops.stop_gradient(ops.floor(place + 0.5) - place)
    return place * step + bottom


def fake_quant_kernel(kernel):
    """Rounds each output channel, on the last axis, to 255 values around zero.

    The largest weight of a channel is its largest value: nothing is clipped or learned.

    Args:
        kernel: `[..., channels]`.

    Returns:
        A tensor of that shape.

    Example:

    >>> [round(float(value), 4) for value in ops.ravel(fake_quant_kernel([[1.27], [0.013]]))]
    [1.27, 0.01]
    """
    kernel = ops.convert_to_tensor(kernel)
    largest = ops.max(ops.abs(kernel), axis=tuple(range(len(kernel.shape) - 1)))
    step = ops.maximum(largest / LARGEST, keras.config.epsilon() ** 2)
    return kernel + ops.stop_gradient(ops.round(kernel / step) * step - kernel)
