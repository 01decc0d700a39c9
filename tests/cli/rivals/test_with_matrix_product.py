import numpy as np
import pytest

from keras_vit.cli.rivals import with_matrix_product


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_it_multiplies(dtype, monkeypatch):
    monkeypatch.setattr(with_matrix_product, "SIDE", 7)
    for product in with_matrix_product.CALLS.values():
        assert np.isfinite(float(product({"dtype": dtype})()))
