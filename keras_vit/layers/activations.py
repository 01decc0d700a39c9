"""The activations of the MLP, by the names that checkpoints and configs use."""

import functools

import keras


def quick_gelu(x):
    """`x * sigmoid(1.702 x)`, the GELU of OpenAI's CLIP weights."""
    return x * keras.ops.sigmoid(1.702 * x)


# PyTorch weights use the exact form, JAX weights the tanh form: they differ by up to 4.7e-4.
ACTIVATIONS = {
    "gelu": functools.partial(keras.ops.gelu, approximate=False),
    "gelu_tanh": functools.partial(keras.ops.gelu, approximate=True),
    "quick_gelu": quick_gelu,
    "relu": keras.ops.relu,
    "silu": keras.ops.silu,
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
    if name not in ACTIVATIONS:
        raise ValueError(f"`activation` must be one of {sorted(ACTIVATIONS)}. Received: {name!r}.")
    return ACTIVATIONS[name]
