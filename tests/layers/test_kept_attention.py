import numpy as np
from keras import ops

from keras_vit.layers import Attention, KeptAttention
from keras_vit.layers.kept_attention import kept_softmax
from tests.layers.arrays import arrays, close, random_weights


def reference(scores, kept, epsilon=1e-6):
    count = scores.shape[-1]
    seen = np.where(np.eye(count, dtype=bool), 1.0, kept[:, None, None, :])
    weights = np.exp(scores - scores.max(-1, keepdims=True)) * seen
    return (weights + epsilon / count) / (weights.sum(-1, keepdims=True) + epsilon)


def test_golden_vector():
    scores = np.array([[[[1, 2, 3], [0, 1, 0], [2, 0, 1]]]], "float32")
    found = ops.convert_to_numpy(kept_softmax(scores, np.array([[1, 0, 1]], "float32")))[0, 0]
    golden = [[0.119203, 0, 0.880797], [0.211942, 0.576117, 0.211942], [0.731058, 0, 0.268941]]
    np.testing.assert_allclose(found, golden, atol=1.5e-6)


def test_against_numpy():
    (scores,) = arrays((3, 2, 7, 7))
    kept = np.random.default_rng(3).integers(0, 2, (3, 7)).astype("float32")
    assert close(kept_softmax(3 * scores, kept), reference(3.0 * scores.astype("float64"), kept))


def test_the_layer_has_the_weights_of_attention_and_with_all_kept_its_values():
    (tokens,) = arrays((3, 7, 6))
    kept, plain = KeptAttention(2, name="attention"), Attention(2, name="attention")
    everything = np.ones((3, 7), "float32")
    kept(tokens, everything), plain(tokens)
    random_weights(kept)
    assert [w.path for w in kept.weights] == [w.path for w in plain.weights]
    plain.set_weights(kept.get_weights())
    assert close(kept(tokens, everything), ops.convert_to_numpy(plain(tokens)))
