"""Small JAX files and the models that they fit, for the tests beside."""

import numpy as np

from keras_vit import create_model
from tests.oracles import jax_vit_numpy as oracle

SIZES = oracle.SIZES
JAX = {"activation": "gelu_tanh", "image_size": 20, "patch_size": 4, "num_classes": 7}


def jax_arrays(**options):
    return oracle.checkpoint(np.random.default_rng(7), **options)


def write(folder, arrays, name="weights.npz"):
    np.savez(folder / name, **arrays)
    return folder / name


def fitting_model(**fields):
    """A model that the arrays of `jax_arrays()` fit, with weights of its own."""
    model = create_model("vit_ti16", **{**SIZES, **JAX, **fields})
    generator = np.random.default_rng(3)
    for variable in model.weights:
        variable.assign(generator.normal(0.5, 0.3, variable.shape))
    return model


def values(model):
    return {variable.path: np.array(variable) for variable in model.weights}


class Unchanged:
    """A block in which a model's weights must stay bit for bit as they are."""

    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.before = values(self.model)

    def __exit__(self, *_):
        for path, value in values(self.model).items():
            np.testing.assert_array_equal(value, self.before[path], path)
