import numpy as np
import pytest
from keras import ops

from keras_vit.layers import KeptBlock, TransformerBlock
from tests.layers.arrays import arrays, close, random_weights

tf = pytest.importorskip("tensorflow")
OPTIONS = {"num_heads": 2, "mlp_dim": 11, "layer_scale": 0.5, "name": "block"}


def test_kept_tokens_do_not_see_the_dropped_ones():
    """They are what they would be in a shorter sequence."""
    (tokens,) = arrays((3, 8, 6))
    kept = np.zeros((3, 6, 1), "float32")
    kept[:, [1, 4, 5]] = 1
    block, plain = KeptBlock(**OPTIONS), TransformerBlock(**OPTIONS)
    block(tokens, kept), plain(tokens)
    random_weights(block)
    assert [w.path for w in block.weights] == [w.path for w in plain.weights]
    plain.set_weights(block.get_weights())
    places = [0, 1, 3, 6, 7]  # two in front, then those of the patches that are kept
    found = ops.convert_to_numpy(block(tokens, kept))[:, places]
    assert close(found, ops.convert_to_numpy(plain(tokens[:, places])))


def test_rematerialised_gradients_are_the_same():
    tokens, kept = arrays((3, 8, 6))[0], np.ones((3, 6, 1), "float32")
    kept[0, 2] = 0
    found = {}
    for remat in (False, True):
        block = KeptBlock(remat=remat, **OPTIONS)
        block(tokens, kept)
        random_weights(block)
        mask = tf.Variable(kept)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(block(tokens, mask, training=True) ** 2)
        weights = [weight.value for weight in block.trainable_weights]
        found[remat] = tape.gradient(loss, [mask, *weights])
    for one, other in zip(found[False], found[True], strict=True):
        assert float(tf.reduce_max(tf.abs(one))) > 0 and close(other, one.numpy())
