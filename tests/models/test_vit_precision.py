"""One step of `fit` under each dtype policy, compiled and not."""

import keras
import numpy as np
import pytest

from keras_vit.models import ViT, ViTConfig
from tests.contract.cases import SMALL

NOISY = {"dropout": 0.1, "attention_dropout": 0.1, "registers": 2, "layer_scale": 0.5}


# Compiling the step takes some seconds: once for each kind of loss scaling is enough.
@pytest.mark.parametrize(
    ("policy", "jit_compile"),
    [
        ("float32", True),
        ("mixed_bfloat16", False),
        ("mixed_float16", False),
        ("mixed_float16", True),
    ],
)
def test_a_step_of_fit(policy, jit_compile):
    generator = np.random.default_rng(3)
    images = generator.normal(size=(4, 6, 15, 5)).astype("float32")
    labels = generator.integers(0, 7, 4)
    model = ViT(ViTConfig(**{**SMALL, **NOISY}), dtype=policy)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # The zero head passes no gradient on, until it is moved.
    model.get_layer("head").kernel.assign(generator.normal(size=(14, 7)))
    before = model.get_weights()
    model.compile(keras.optimizers.SGD(0.01), loss, jit_compile=jit_compile)
    history = model.fit(images, labels, batch_size=4, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"][0])
    assert {weight.dtype for weight in model.weights} == {"float32"}
    for weight, old in zip(model.weights, before, strict=True):
        new = keras.ops.convert_to_numpy(weight)
        assert np.isfinite(new).all() and not np.array_equal(new, old), weight.path
