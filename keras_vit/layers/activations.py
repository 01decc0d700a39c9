"""The activations of the MLP, by the names that checkpoints and configs use."""

import math

import keras
from keras import ops

from keras_vit.layers.choices import check_choice


def _is_double(x):
    # TensorFlow 2.21 rounds the constants of its GELU to float32: off by 5e-9 in float64, where
    # we write it out. Otherwise its own form stays, which exporters know.
    return keras.backend.standardize_dtype(getattr(x, "dtype", "float32")) == "float64"


def gelu(x):
    """`x Φ(x)` with the normal distribution function Φ: the exact GELU."""
    if not _is_double(x):
        return ops.gelu(x, approximate=False)
    return 0.5 * x * (1.0 + ops.erf(x * math.sqrt(0.5)))


def gelu_tanh(x):
    """The GELU with Φ approximated by a tanh."""
    if not _is_double(x):
        return ops.gelu(x, approximate=True)
    return 0.5 * x * (1.0 + ops.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


def quick_gelu(x):
    """`x * sigmoid(1.702 x)`, the GELU of OpenAI's CLIP weights."""
    return x * ops.sigmoid(1.702 * x)


# PyTorch weights use the exact form, JAX weights the tanh form: they differ by up to 4.7e-4.
ACTIVATIONS = {
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "quick_gelu": quick_gelu,
    "relu": ops.relu,
    "silu": ops.silu,
}


def activation(name):
    """Returns the activation function called `name`.

    Args:
        name: one of `ACTIVATIONS`: `"gelu"` (exact), `"gelu_tanh"`, `"quick_gelu"`,
            `"relu"`, `"silu"`.

    Raises:
        ValueError: if there is no such activation.

    Example:

    >>> round(float(activation("gelu")(1.0)), 6)
    0.841345
    """
    check_choice("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]
