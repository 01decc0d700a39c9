import numpy as np

from keras_vit.cli.rivals.with_keras_vit import calls

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
    found = calls(TINY)
    assert found["inference"]().shape == (2, 3)
    first, *_, last = [found["training step"]() for _ in range(20)]
    assert np.isfinite(last) and last < first
