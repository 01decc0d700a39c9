"""Two steps of whole recipes on a tiny model: data, loss, optimizer and schedule together."""

import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.data import open_data, training_batches
from keras_vit.layers import Preprocessing
from keras_vit.step import exact
from keras_vit.training import recipe
from keras_vit.training.losses import loss_of, smoothing_in_data
from keras_vit.training.optimizers import optimizer_of
from keras_vit.training.schedules import SCHEDULES

TINY = {"image_size": 16, "patch_size": 8, "width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 13}
# Dropout would hide what the first loss has to be.
TINY |= {"drop_path": 0.0, "dropout": 0.0}


def softmax(targets, logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return -(targets * (shifted - np.log(np.exp(shifted).sum(1, keepdims=True)))).sum(1).mean()


def sigmoid(targets, logits):
    return (np.logaddexp(0, logits) - targets * logits).sum(1).mean()


@pytest.mark.parametrize(
    "name, loss",
    [
        # Tracing all that these augment by takes its time.
        pytest.param("deit_s16", softmax, marks=pytest.mark.prove),
        pytest.param(
            "deit3_s16",
            lambda targets, logits: sigmoid(targets, logits) / 10,
            marks=pytest.mark.prove,
        ),
        ("original_i21k_b16", sigmoid),
    ],
)
def test_the_first_loss_is_the_formulas_and_two_steps_move_every_weight(digits, name, loss):
    keras.utils.set_random_seed(3)
    chosen = recipe(name, {"batch_size": 8, "epochs": 2, "warmup_epochs": 0})
    images = open_data(str(digits))
    config = {**chosen.config, **TINY, "num_classes": 10}
    if chosen.config.get("representation_size"):
        config["representation_size"] = 7
    half = {"mean": (0.5,) * 3, "std": (0.5,) * 3}
    value = Preprocessing(**{**half, **chosen.preprocessing}, class_names=images.class_names)
    model = exact(create_model(chosen.model, **config, preprocessing=value), chosen.clip_norm)
    for variable in model.trainable_variables:
        variable.assign_add(np.random.default_rng(5).normal(size=variable.shape) * 0.1)
    rate = SCHEDULES[chosen.schedule](1e-2, 4, 0, chosen.min_learning_rate)
    model.compile(optimizer_of(model, chosen, rate), loss_of(chosen))
    batches = training_batches(
        images,
        model.preprocessing,
        chosen.batch_size,
        chosen.seed,
        augment=chosen.augment,
        repeats=chosen.repeats,
        label_smoothing=smoothing_in_data(chosen),
    )
    pixels, targets = next(iter(batches))
    logits = np.float64(model(pixels))
    before = [np.array(weight) for weight in model.trainable_variables]
    first = model.fit(batches.take(1), shuffle=False, verbose=0).history["loss"][0]
    assert first == pytest.approx(loss(np.float64(targets), logits), rel=1e-5)
    model.fit(batches.skip(1).take(1), shuffle=False, verbose=0)
    for weight, start in zip(model.trainable_variables, before, strict=True):
        assert (np.asarray(weight) != start).any(), weight.path
