import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.objectives import ContrastiveLoss, SigmoidLoss
from keras_vit.step.kinds import kind_of

HERE = Path(__file__).parent
COSINES = np.array([[0.9, 0.1, 0.2], [0.3, 0.8, -0.1], [0.0, 0.4, 0.7]])


def outputs(cosines, scale, bias=None):
    """What a model gives whose pairs have these cosines."""
    count = len(cosines)
    found = {"images": cosines, "texts": np.eye(count), "scale": np.full((count, 1), scale)}
    return found if bias is None else {**found, "bias": np.full((count, 1), bias)}


def test_golden_value():
    loss = ContrastiveLoss()(None, outputs(COSINES, 1 / 0.07))
    assert float(loss) == pytest.approx(0.003149, abs=1e-6)


def test_against_numpy():
    logits = 3.0 * COSINES
    rows = np.log(np.exp(logits).sum(axis=1)) - np.diag(logits)
    columns = np.log(np.exp(logits).sum(axis=0)) - np.diag(logits)
    loss = ContrastiveLoss()(None, outputs(COSINES, 3.0))
    assert float(loss) == pytest.approx((rows.mean() + columns.mean()) / 2)


def test_sigmoid_against_numpy():
    logits = 3.0 * COSINES - 2.0
    signs = 2 * np.eye(3) - 1
    expected = -np.log(1 / (1 + np.exp(-signs * logits))).sum() / 3
    assert float(SigmoidLoss()(None, outputs(COSINES, 3.0, -2.0))) == pytest.approx(expected)


def test_a_batch_of_one_teaches_nothing():
    assert float(ContrastiveLoss()(None, outputs(np.array([[0.3]]), 3.0))) == 0.0
    # The sigmoid loss still has its one true pair.
    loss = SigmoidLoss()(None, outputs(np.array([[0.3]]), 3.0, -2.0))
    assert float(loss) == pytest.approx(np.log(1 + np.exp(-(3.0 * 0.3 - 2.0))))


def test_large_logits_stay_finite():
    for found in (outputs(COSINES, 100.0), outputs(-COSINES, 100.0)):
        assert np.isfinite(float(ContrastiveLoss()(None, found)))
        loss = SigmoidLoss()(None, {**found, "bias": np.full((3, 1), -1000.0)})
        assert np.isfinite(float(loss))


def test_the_sigmoid_loss_needs_a_bias():
    with pytest.raises(ValueError, match="needs a model with a `logit_bias`"):
        SigmoidLoss()(None, outputs(COSINES, 3.0))


@pytest.mark.parametrize("loss", [ContrastiveLoss("one"), SigmoidLoss("two")])
def test_kind_and_config(loss):
    assert kind_of(loss) == "pairwise"
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(loss))
    assert type(again) is type(loss) and again.name == loss.name
    with pytest.raises(ValueError, match="takes no `sample_weight`"):
        loss(None, outputs(COSINES, 3.0, -2.0), sample_weight=np.ones(3))


@pytest.mark.parametrize(
    ("loss", "program"),
    [
        ("contrastive", "plain"),
        pytest.param("contrastive", "jit", marks=pytest.mark.prove),
        pytest.param("sigmoid", "jit", marks=pytest.mark.prove),
    ],
)
def test_two_replicas_train_as_one_device(loss, program):
    """The batch is the global one: weights, history and evaluation are the same."""
    # Without LLVM's own optimisation XLA takes half the time.
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
        "PYTHONPATH": str(HERE.parents[1]),
    }
    command = [sys.executable, HERE / "replicas.py", loss, program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    assert json.loads(run.stdout.splitlines()[-1]) < 1e-12
