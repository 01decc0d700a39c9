"""The passes that look at images: the same outputs, and channels of one size."""

import keras
import numpy as np
import pytest

from keras_vit.export.rewrite import MEASURED, PASSES, rewrite
from keras_vit.export.rewrite.channels import observed
from keras_vit.export.rewrite.fold_norms import put
from keras_vit.export.rewrite.lean_attention import LeanAttention
from keras_vit.export.rewrite.norms import ScaledRms
from keras_vit.export.rewrite.parts import parts
from tests.export.rewrite.families import family
from tests.export.rewrite.passes import PIXELS, assert_unchanged, outputs, prepared

BEFORE = ("fold_norms", "centre", "fold_query_scale", "separate_projections", "self_products")


def folded(name="vit"):
    """A copy after the passes that go before, its streams, and what its layers' channels are."""
    model, streams = prepared(name)
    for one in BEFORE:
        model, _ = PASSES[one](model, streams)
    return model, streams


def looking(model):
    return lambda layers, inputs=False: observed(model, layers, PIXELS, inputs)


@pytest.mark.parametrize("name", ["dinov2", "swin"])
def test_outputs_stay_whatever_the_images_are(name):
    model = family(name)
    shape = (3, *model.input_shape[1:])
    _, steps = rewrite(model, PASSES, np.random.default_rng(2).uniform(0, 99, shape))
    exact = {step.name: step.difference for step in steps if step.name != "gelus_of_products"}
    assert set(MEASURED) < set(exact)
    assert max(exact.values()) <= 2e-5, exact


def test_images_are_asked_for():
    with pytest.raises(ValueError, match="`images` must be given for centre_heads"):
        rewrite(family("vit"), ["centre_heads"])


def test_observed_is_what_the_layers_gave():
    model, _ = prepared("vit")
    layer = model.get_layer("block_0")
    (found,) = observed(model, [layer], PIXELS)
    values = np.asarray(keras.Model(model.inputs[0], layer.output)(PIXELS)).reshape(-1, 24)
    np.testing.assert_allclose(found.largest, np.abs(values).max(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.mean, values.mean(axis=0), rtol=1e-4, atol=1e-6)
    assert "call" not in vars(layer)


def test_channels_of_a_stream_are_as_large_as_each_other():
    model, streams = folded()
    before = outputs(model)
    for norm in streams[0].norms:
        assert not isinstance(norm.layer, ScaledRms)
    model, changed = PASSES["scale_streams"](model, streams, looking(model))
    assert changed == 5 * 2 + 2 + 9  # writers; class token and positions; readers' kernels
    assert_unchanged(outputs(model), before)
    norms = [norm.layer for norm in streams[0].norms]
    reached = np.max([one.largest for one in observed(model, norms, PIXELS, True)], axis=0)
    np.testing.assert_allclose(reached, np.median(reached), rtol=1e-4)


def test_a_stream_that_something_else_reads_is_left():
    model, streams = folded()
    put(model, streams[0].norms[0], keras.layers.Identity(name="norm1"))
    assert PASSES["scale_streams"](model, streams, looking(model))[1] == 0


def test_keys_and_values_lose_their_means():
    model, streams = folded()
    before = outputs(model)
    model, _ = PASSES["centre_heads"](model, streams, looking(model))
    assert_unchanged(outputs(model), before)
    for _, key, value in _products(model):
        for one in observed(model, [key, value], PIXELS):
            np.testing.assert_allclose(one.mean, 0, atol=1e-4 * one.largest.max())


def _products(model):
    return [one.inner.qkv.products for _, _, one in parts(model, LeanAttention)]
