import keras
import numpy as np

from keras_vit.export.rewrite.centre import centre
from keras_vit.export.rewrite.fold_norms import fold_norms
from keras_vit.export.rewrite.norms import PlainNorm, Rms
from tests.export.rewrite.passes import PIXELS, assert_unchanged, outputs, prepared


def test_tokens_have_a_mean_of_zero_and_the_norms_none_to_take_off():
    model, streams = prepared("vit")
    before = outputs(model)
    model, _ = fold_norms(model, streams)
    model, changed = centre(model, streams)
    assert changed == 5 * 2 + 2  # kernels and biases of the writers; class token and positions
    assert_unchanged(outputs(model), before)
    tokens = keras.Model(model.inputs[0], model.get_layer("block_1").output)(PIXELS)
    spread = np.std(tokens)
    np.testing.assert_allclose(np.mean(tokens, axis=-1), 0, atol=1e-5 * spread)
    kinds = [type(layer) for layer in model._flatten_layers()]
    assert kinds.count(Rms) == 5 and PlainNorm not in kinds
