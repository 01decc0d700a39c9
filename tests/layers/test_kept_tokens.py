import numpy as np
import pytest
from keras import ops

from keras_vit.layers.kept_tokens import KEPT_POOLING, kept_distances, mean_of_kept
from tests.layers.arrays import arrays, close

tf = pytest.importorskip("tensorflow")
KEPT = np.array([[1, 0, 1, 1], [0, 1, 0, 0]], "float32")[..., None]


@pytest.mark.parametrize("pooling", KEPT_POOLING)
def test_the_mean_is_over_kept_tokens(pooling):
    (tokens,) = arrays((2, 6, 5))
    patches = tokens[:, 2:].astype("float64")
    mean = np.stack([patches[0, [0, 2, 3]].mean(0), patches[1, 1]])
    parts = {"token": [tokens[:, 0]], "gap": [mean], "token_and_mean": [tokens[:, 0], mean]}
    assert close(KEPT_POOLING[pooling](tokens, KEPT), np.concatenate(parts[pooling], axis=-1))


def test_where_none_is_kept_the_mean_is_zero():
    (tokens,) = arrays((2, 4, 3))
    assert not ops.convert_to_numpy(mean_of_kept(tokens, 0 * KEPT)).any()


def test_distances_have_a_gradient_to_the_tokens_only():
    tokens, others = (tf.Variable(array) for array in arrays((2, 4, 5), (2, 4, 5)))
    kept = tf.Variable(KEPT)
    with tf.GradientTape() as tape:
        distances, counts = kept_distances(tokens, others, kept)
        loss = tf.reduce_sum(distances)
    squares = (tokens.numpy().astype("float64") - others.numpy()) ** 2
    assert close(distances, (squares * KEPT).sum((1, 2)))
    assert ops.convert_to_numpy(counts).tolist() == [15, 5]
    by_tokens, by_kept = tape.gradient(loss, [tokens, kept])
    assert by_kept is None and close(by_tokens, 2 * (tokens - others).numpy() * KEPT)
