"""One pass alone, on an inference copy of a small model."""

import keras
import numpy as np

from keras_vit.export.rewrite import PASSES
from keras_vit.export.rewrite.channels import observed
from keras_vit.export.rewrite.patch_convolution import patch_convolution
from keras_vit.export.rewrite.streams import residual_streams
from tests.export.rewrite.families import family

# What goes before the passes that look at images.
BEFORE = ("fold_norms", "centre", "fold_query_scale", "separate_projections", "self_products")
PIXELS = np.random.default_rng(1).uniform(0, 255, (2, 16, 24, 3)).astype("float32")


def prepared(name):
    """A copy that takes raw pixels, and its streams."""
    copy = patch_convolution(family(name))
    return copy, residual_streams(copy)


def outputs(model):
    return keras.ops.convert_to_numpy(model(PIXELS))


def assert_unchanged(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def folded(name="vit"):
    """A copy after the passes `BEFORE`, and its streams."""
    model, streams = prepared(name)
    for one in BEFORE:
        model, _ = PASSES[one](model, streams)
    return model, streams


def looking(model):
    """What tells such a pass of its layers' channels."""
    return lambda layers, inputs=False: observed(model, layers, PIXELS, inputs)
