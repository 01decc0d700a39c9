import keras
import numpy as np
import pytest

from keras_vit.step.kinds import kind_of
from keras_vit.training.losses import LOSSES, loss_of, smoothing_in_data
from keras_vit.training.recipes import Recipe

RNG = np.random.default_rng(5)
LOGITS = RNG.normal(size=(4, 5)) * 3
TARGETS = RNG.dirichlet(np.ones(5), size=4)


def entropies():
    """Binary cross-entropies in float64, `[b, k]`."""
    return np.logaddexp(0, LOGITS) - TARGETS * LOGITS


@pytest.mark.parametrize(
    "name, expected",
    [
        ("sigmoid", lambda: entropies().sum(axis=1).mean()),
        ("sigmoid_mean", lambda: entropies().mean()),
        (
            "softmax",
            lambda: (np.log(np.exp(LOGITS).sum(1)) - (TARGETS * LOGITS).sum(1)).mean(),
        ),
    ],
)
def test_values(name, expected):
    loss = loss_of(Recipe("vit_ti16", loss=name))
    assert float(loss(TARGETS, LOGITS)) == pytest.approx(expected(), rel=1e-6)
    assert kind_of(loss) == "example"


@pytest.mark.parametrize(("name", "reduced"), [("sigmoid", np.sum), ("sigmoid_mean", np.mean)])
def test_what_a_class_counts_where_an_image_has_it(name, reduced):
    """PyTorch's `BCEWithLogitsLoss` with a `pos_weight`, by its formula in float64."""
    presence = np.array([3, 1, 0.5, 0, 7])
    loss = loss_of(Recipe("vit_ti16", loss=name), presence)
    there, missing = np.logaddexp(0, -LOGITS), np.logaddexp(0, LOGITS)
    expected = reduced(presence * TARGETS * there + (1 - TARGETS) * missing, axis=1).mean()
    assert float(loss(TARGETS, LOGITS)) == pytest.approx(expected, rel=1e-6)
    twin = keras.losses.deserialize(keras.losses.serialize(loss))
    assert float(twin(TARGETS, LOGITS)) == float(loss(TARGETS, LOGITS))


def test_every_loss_is_tested():
    # The others are in tests/objectives.
    others = {"contrastive", "pair_sigmoid", "masked_pixels", "masked_raw_pixels", "detection"}
    assert set(LOSSES) == {"softmax", "sigmoid", "sigmoid_mean"} | others


def test_smoothing_is_done_once():
    plain = Recipe("vit_ti16", label_smoothing=0.1, augment=("flip",))
    assert smoothing_in_data(plain) == 0 and loss_of(plain).get_config()["label_smoothing"] == 0.1
    mixed = Recipe("vit_ti16", label_smoothing=0.1, augment=("mixup(0.2)",))
    assert smoothing_in_data(mixed) == 0.1 and loss_of(mixed).get_config()["label_smoothing"] == 0
    assert smoothing_in_data(Recipe("vit_ti16", label_smoothing=0.1, loss="sigmoid")) == 0.1


def test_the_loss_survives_its_config():
    loss = keras.losses.deserialize(keras.losses.serialize(LOSSES["sigmoid"](0.0)))
    assert float(loss(TARGETS, LOGITS)) == pytest.approx(entropies().sum(axis=1).mean(), rel=1e-6)
