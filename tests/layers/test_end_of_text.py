import numpy as np

from keras_vit.layers import EndOfTextPooling
from tests.layers.arrays import arrays


def test_the_first_end_mark_counts():
    (tokens,) = arrays((4, 5, 3))
    texts = [[8, 1, 9, 0, 0], [8, 9, 9, 9, 9], [8, 1, 2, 3, 9], [8, 1, 2, 3, 4]]
    pooled = EndOfTextPooling(9)(tokens, np.array(texts))
    # The last has no end mark.
    np.testing.assert_array_equal(pooled, tokens[range(4), [2, 1, 4, 0]])


def test_the_mark_need_not_be_the_largest_number():
    (tokens,) = arrays((1, 3, 3))
    pooled = EndOfTextPooling(2)(tokens, np.array([[7, 2, 9]]))
    np.testing.assert_array_equal(pooled, tokens[:, 1])
