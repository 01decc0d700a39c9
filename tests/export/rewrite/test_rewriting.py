"""Every pass on every family: the same outputs, and what is left of the norms."""

import keras
import numpy as np
import pytest

from keras_vit.export.rewrite import EXACT, rewrite
from keras_vit.export.rewrite.norms import PlainNorm, Rms
from keras_vit.layers import LayerNorm
from tests.export.rewrite.families import FAMILIES, PREPROCESSING, family

# Norms of each kind after all passes: (layer norm as it was, without gamma and beta, root mean
# square).
NORMS = {
    "vit": (0, 0, 5),
    "vit_map_sincos": (1, 0, 5),
    "vit_gap_then_norm": (0, 0, 5),
    "deit": (0, 0, 5),
    "dinov2": (0, 0, 5),
    "dinov2_headless": (1, 0, 4),
    "swin": (1, 5, 5),
    "swin_padded": (5, 3, 3),
    "coatnet": (0, 5, 2),
    "coatnet_max": (2, 3, 2),
    "hybrid": (0, 0, 5),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_pass_leaves_the_outputs(name):
    model = family(name)
    copy, steps = rewrite(model)
    assert [step.name for step in steps] == ["raw_pixels", *EXACT]
    assert max(step.difference for step in steps) <= 1e-5, steps
    pixels = np.random.default_rng(1).uniform(0, 255, (3, *model.input_shape[1:]))
    pixels = pixels.astype("float32")
    expected = keras.ops.convert_to_numpy(model(PREPROCESSING.normalize(pixels)))
    found = keras.ops.convert_to_numpy(copy(pixels))
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
    layers = copy._flatten_layers()
    kinds = [type(layer) for layer in layers]
    assert tuple(kinds.count(kind) for kind in (LayerNorm, PlainNorm, Rms)) == NORMS[name]
