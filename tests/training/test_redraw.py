import keras
import numpy as np
import pytest
from keras import ops

from keras_vit import create_model
from keras_vit.training import RedrawFeatures, adamw, fit

SIZES = {"image_size": 8, "patch_size": 4, "width": 8, "depth": 2, "num_heads": 2, "mlp_dim": 8}
IMAGES = np.random.default_rng(3).normal(size=(12, 8, 8, 3)).astype("float32")
CLASSES = np.arange(12) % 3


def made(**fields):
    keras.utils.set_random_seed(5)
    model = create_model("vit_ti16", **SIZES, num_classes=3, **fields)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(adamw(model, 1e-3), loss)
    return model


def directions(model):
    return [
        ops.convert_to_numpy(model.get_layer(f"block_{index}").attention.directions).copy()
        for index in range(2)
    ]


class Seen(keras.callbacks.Callback):
    """Keeps the directions as they are after each step."""

    def __init__(self):
        super().__init__()
        self.found = []

    def on_train_batch_end(self, batch, logs=None):
        self.found.append(directions(self.model)[0])


def test_it_draws_every_so_many_steps():
    model, seen = made(attention="performer", random_features=5), Seen()
    start = directions(model)
    model.fit(
        IMAGES,
        CLASSES,
        batch_size=3,
        epochs=2,
        verbose=0,
        callbacks=[RedrawFeatures(every=3, seed=7), seen],
    )
    before = [start[0], *seen.found[:-1]]
    changed = [
        step
        for step, (one, other) in enumerate(zip(before, seen.found, strict=True), 1)
        if not np.array_equal(one, other)
    ]
    assert changed == [3, 6]
    one, other = directions(model)
    assert not np.array_equal(one, other)


def test_what_is_drawn_depends_on_the_step_and_not_on_the_run():
    """In two runs, or with several steps a call, as in one."""
    draw = lambda: RedrawFeatures(every=3, seed=7)  # noqa: E731
    whole, parts, joined = (made(attention="performer", random_features=5) for _ in range(3))
    data = lambda: (IMAGES, CLASSES)  # noqa: E731
    whole.fit(*data(), batch_size=3, epochs=2, verbose=0, callbacks=[draw()])
    for _ in range(2):
        parts.fit(*data(), batch_size=3, epochs=1, verbose=0, callbacks=[draw()])
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices(data()).batch(3)
    fit(joined, dataset, epochs=2, steps_per_execution=2, verbose=0, callbacks=[draw()])
    for other in (parts, joined):
        for one, two in zip(directions(whole), directions(other), strict=True):
            np.testing.assert_array_equal(one, two)


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="`every` must be at least 1. Received: 0"):
        RedrawFeatures(every=0)
    with pytest.raises(ValueError, match="has no PerformerAttention to redraw"):
        made().fit(IMAGES, CLASSES, verbose=0, callbacks=[RedrawFeatures()])
