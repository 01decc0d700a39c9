import numpy as np
import pytest
from keras import ops

from keras_vit.layers.gathering import gather_tokens


@pytest.mark.parametrize("rest", [(), (3,), (2, 3)])
def test_each_example_has_its_own_indices(rest):
    generator = np.random.default_rng(3)
    tokens = generator.normal(size=(4, 7, *rest)).astype("float32")
    indices = generator.integers(0, 7, (4, 5), "int32")
    expected = np.stack([one[places] for one, places in zip(tokens, indices, strict=True)])
    np.testing.assert_array_equal(gather_tokens(tokens, ops.convert_to_tensor(indices)), expected)
