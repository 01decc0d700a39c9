import numpy as np
import pytest

from keras_vit.layers import TopTokens
from tests.layers.arrays import arrays


@pytest.mark.parametrize("prefix", [0, 2])
def test_the_best_are_kept_by_falling_score(prefix):
    tokens, scores = arrays((3, prefix + 7, 5), (3, 7, 2))
    order = np.argsort(-scores[..., 0], axis=1)[:, :4]
    patches = np.stack([one[prefix:][rows] for one, rows in zip(tokens, order, strict=True)])
    expected = np.concatenate([tokens[:, :prefix], patches], axis=1)
    np.testing.assert_array_equal(TopTokens(4, prefix)(tokens, scores), expected)


def test_of_all_tokens_none_moves():
    tokens, scores = arrays((3, 8, 5), (3, 7, 2))
    np.testing.assert_array_equal(TopTokens(7)(tokens, scores), tokens)


def test_more_than_there_are():
    tokens, scores = arrays((3, 8, 5), (3, 7, 2))
    with pytest.raises(ValueError, match="count=9, 7 tokens"):
        TopTokens(9)(tokens, scores)
