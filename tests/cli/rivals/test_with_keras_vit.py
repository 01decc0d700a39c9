import numpy as np

from keras_vit.cli.rivals.with_keras_vit import CALLS

TINY = {
    "image_size": 32,
    "patch_size": 16,
    "width": 12,
    "depth": 1,
    "num_heads": 2,
    "mlp_dim": 13,
    "num_classes": 3,
    "batch_size": 2,
    "dtype": "bfloat16",
}


def test_inference_and_a_step():
    assert CALLS["inference"](TINY)().shape == (2, 3)
    step = CALLS["training step"](TINY)
    first, *_, last = [step() for _ in range(20)]
    assert np.isfinite(last) and last < first
