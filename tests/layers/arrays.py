"""Random arrays and weights, and the comparison of float32 values with float64 numpy."""

import numpy as np
from keras import ops


def arrays(*shapes, seed=23):
    """Normal float32 arrays of the shapes."""
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape).astype("float32") for shape in shapes]


def random_weights(layer, seed=29):
    """Gives a built layer random weights; returns them by path below the layer, in float64."""
    generator = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(generator.normal(1.0 if weight.name == "gamma" else 0.0, 0.3, weight.shape))
    return {
        weight.path.removeprefix(f"{layer.path}/"): ops.convert_to_numpy(weight).astype("float64")
        for weight in layer.weights
    }


def close(value, reference, limit=1e-5):
    """Whether the largest difference is at most `limit` of the largest value."""
    value = ops.convert_to_numpy(value).astype("float64")
    reference = np.asarray(reference, "float64")
    assert value.shape == reference.shape
    return np.abs(value - reference).max() <= limit * np.abs(reference).max()
