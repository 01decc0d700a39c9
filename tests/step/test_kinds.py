import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.step import PairwiseLoss, RatioLoss, exact
from keras_vit.step.kinds import kind_of, loss_kind, reduction_of


class Own(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return ops.mean(ops.square(y_pred - y_true), axis=-1)


def squared(y_true, y_pred):
    return ops.mean(ops.square(y_pred - y_true), axis=-1)


@pytest.mark.parametrize("name", ["weighted_mean", "additional_losses", "several_outputs"])
def test_example_losses(scenario, name):
    replicas = 2
    numbers = scenario(replicas, name)
    assert max(numbers.values()) < 1e-12, numbers


@pytest.mark.parametrize("replicas", [1, 4])
def test_additional_losses_are_weighted_by_their_shares(scenario, replicas):
    assert max(scenario(replicas, "additional_losses").values()) < 1e-12


# The quotient is badly conditioned.
@pytest.mark.parametrize("replicas, name", [(1, "ratio"), (2, "ratio"), (4, "ratio_in_one_piece")])
def test_ratio_losses(scenario, replicas, name):
    assert max(scenario(replicas, name).values()) < 1e-9


def test_kinds():
    assert kind_of("mse") == kind_of(keras.losses.Huber()) == "example"
    assert kind_of(keras.losses.mean_squared_error) == "example"
    assert kind_of(RatioLoss()) == "ratio" and kind_of(PairwiseLoss()) == "pairwise"
    assert kind_of(squared) is None and kind_of(Own()) is None
    own = Own()
    own.kind = "example"
    assert kind_of(own) == "example"
    own.kind = "mean"
    with pytest.raises(ValueError, match="`kind` must be one of.*Received: 'mean'"):
        kind_of(own)


def model_with(loss):
    model = exact(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]))
    model.compile("sgd", loss)
    return model


def test_a_loss_of_unknown_kind():
    with pytest.raises(ValueError, match="must say how.*`kind = 'example'`.*Received: Own"):
        loss_kind(model_with(Own()))
    with pytest.raises(ValueError, match="Received: squared"):
        loss_kind(model_with(squared))


def test_sums_are_no_means():
    loss = keras.losses.MeanSquaredError(reduction="sum")
    with pytest.raises(ValueError, match="`reduction`.*Received: .'sum'"):
        reduction_of(model_with(loss))
    assert reduction_of(model_with("mse")) == "sum_over_batch_size"


def test_ratio_on_one_device():
    class Share(RatioLoss):
        def terms(self, y_true, y_pred, sample_weight=None):
            return ops.sum(y_pred), ops.sum(y_true)

    assert float(Share()(np.float32([2, 3]), np.float32([4, 6]))) == 2.0
    assert float(Share()(np.float32([0, 0]), np.float32([4, 6]))) == 0.0


def test_a_pairwise_loss_takes_no_weights():
    with pytest.raises(ValueError, match="takes no `sample_weight`"):
        PairwiseLoss()(None, np.ones(2), np.ones(2))
