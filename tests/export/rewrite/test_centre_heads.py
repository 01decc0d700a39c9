import numpy as np

from keras_vit.export.rewrite import PASSES
from keras_vit.export.rewrite.channels import observed
from keras_vit.export.rewrite.lean_attention import LeanAttention
from keras_vit.export.rewrite.parts import parts
from tests.export.rewrite.passes import PIXELS, assert_unchanged, folded, looking, outputs


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
