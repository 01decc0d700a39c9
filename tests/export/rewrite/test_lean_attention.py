import keras
import numpy as np
import pytest

from keras_vit.export.rewrite.lean_attention import LeanAttention, fold_query_scale
from tests.export.rewrite.passes import assert_unchanged, outputs, prepared


def test_queries_come_scaled():
    model, _ = prepared("vit")
    before, block = outputs(model), model.get_layer("block_0")
    kernel = keras.ops.convert_to_numpy(block.attention.qkv.kernel)
    model, changed = fold_query_scale(model)
    assert changed == 2 * 2
    assert isinstance(block.attention, LeanAttention)
    found = keras.ops.convert_to_numpy(block.attention.inner.qkv.kernel)
    np.testing.assert_allclose(found[:, 0], kernel[:, 0] * 8**-0.5, rtol=1e-6)
    np.testing.assert_array_equal(found[:, 1:], kernel[:, 1:])
    assert_unchanged(outputs(model), before)


@pytest.mark.parametrize("name", ["deit", "dinov2"])
def test_another_softmax_takes_its_place(name):
    model, _ = prepared(name)
    model, _ = fold_query_scale(model)
    before = outputs(model)

    def uniform(scores, value):
        return keras.ops.ones_like(scores) @ value / scores.shape[-1]

    model.get_layer("block_1").attention.attend = uniform
    assert np.abs(outputs(model) - before).max() > 1e-3
