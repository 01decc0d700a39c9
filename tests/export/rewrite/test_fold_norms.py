import keras
import numpy as np

from keras_vit.export.rewrite.fold_norms import fold_norms
from keras_vit.export.rewrite.norms import PlainNorm
from keras_vit.layers import LayerNorm
from tests.export.rewrite.passes import assert_unchanged, outputs, prepared


def test_gamma_and_beta_move_into_the_readers():
    model, streams = prepared("vit")
    before, block = outputs(model), model.get_layer("block_0")
    gamma = keras.ops.convert_to_numpy(block.norm1.gamma)
    kernel = keras.ops.convert_to_numpy(block.attention.qkv.kernel)
    model, changed = fold_norms(model, streams)
    assert changed == 2 * 5  # kernel and bias of what reads each norm
    assert_unchanged(outputs(model), before)
    found = model.get_layer("block_0").attention.qkv.kernel
    np.testing.assert_allclose(found, kernel * gamma[:, None, None, None], rtol=1e-6)
    kinds = [type(layer) for layer in model._flatten_layers()]
    assert kinds.count(PlainNorm) == 5 and LayerNorm not in kinds
