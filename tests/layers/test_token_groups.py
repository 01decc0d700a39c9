import numpy as np
from keras import ops

from keras_vit.layers.token_groups import TokenGroups, Unmerge
from tests.layers.arrays import arrays


def test_each_patch_begins_with_its_own_token():
    (tokens,) = arrays((3, 7, 5))
    groups = TokenGroups(prefix=2)(tokens)
    assert ops.convert_to_numpy(groups).tolist() == [[0, 1, 2, 3, 4]] * 3
    np.testing.assert_array_equal(Unmerge(prefix=2)(tokens, groups), tokens)


def test_each_patch_gets_the_token_that_stands_for_it():
    (tokens,) = arrays((2, 3, 5))
    groups = np.array([[0, 1, 0, 0], [1, 1, 1, 0]], "int32")
    found = ops.convert_to_numpy(Unmerge(prefix=1)(tokens, ops.convert_to_tensor(groups)))
    for row in range(2):
        np.testing.assert_array_equal(found[row], tokens[row][[0, *(1 + groups[row])]])
