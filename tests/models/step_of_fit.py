"""One step of `fit`, after which every weight has moved."""

import keras
import numpy as np
from keras import ops


def check_a_step_of_fit(model, images, jit_compile):
    """Trains on two images; the head's kernel is not zero, so that every weight gets a gradient."""
    generator, head = np.random.default_rng(3), model.get_layer("head").kernel
    head.assign(generator.normal(size=head.shape))
    before = model.get_weights()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01), loss, jit_compile=jit_compile)
    history = model.fit(images, generator.integers(0, 7, 2), batch_size=2, verbose=0)
    assert np.isfinite(history.history["loss"][0])
    for weight, old in zip(model.weights, before, strict=True):
        new = ops.convert_to_numpy(weight)
        assert np.isfinite(new).all() and not np.array_equal(new, old), weight.path
