import math

import numpy as np
import pytest

from keras_vit.layers import TokenScorer
from tests.layers.arrays import arrays, close, random_weights

WIDTH, PREFIX = 12, 2


def reference(weights, tokens, kept):
    """The prediction module in float64, one Dense after the other."""
    erf = np.vectorize(math.erf)

    def dense(name, x):
        return x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]

    def gelu(x):
        return 0.5 * x * (1 + erf(x / math.sqrt(2)))

    x = tokens[:, PREFIX:].astype("float64")
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    z = gelu(dense("enter", x * weights["norm/gamma"] + weights["norm/beta"]))
    half = WIDTH // 2
    mean = (z[..., half:] * kept).sum(1, keepdims=True) / kept.sum(1, keepdims=True)
    u = np.concatenate([z[..., :half], np.repeat(mean, z.shape[1], axis=1)], axis=-1)
    logits = dense("decide", gelu(dense("quarter", gelu(dense("half", u)))))
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


@pytest.mark.parametrize("kept", [None, [[1, 0, 1, 1, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]]])
def test_against_numpy(kept):
    (tokens,) = arrays((3, PREFIX + 5, WIDTH))
    layer = TokenScorer(prefix=PREFIX, name="score")
    layer.build(tokens.shape)
    weights = random_weights(layer)
    mask = np.ones((3, 5, 1)) if kept is None else np.array(kept, "float64")[..., None]
    given = (tokens,) if kept is None else (tokens, mask.astype("float32"))
    assert close(layer(*given), reference(weights, tokens, mask))


@pytest.mark.parametrize(("width", "count"), [(256, 322_758), (384, 723_750), (768, 2_885_190)])
def test_published_number_of_weights(width, count):
    layer = TokenScorer()
    layer.build((None, 197, width))
    assert 3 * layer.count_params() == count


def test_a_width_without_quarters_is_refused():
    with pytest.raises(ValueError, match="multiple of 4: 14"):
        TokenScorer().build((None, 5, 14))
