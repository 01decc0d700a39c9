import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.objectives import DynamicViTLoss, TokenDistillationLoss
from keras_vit.objectives.dynamic_vit import classification, keep_ratio, teacher_divergence
from keras_vit.step.kinds import kind_of

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(5)
LABELS = np.array([2, 0, 1, 1], "int32")
OUTPUTS = {
    "logits": RANDOM.normal(size=(4, 3)).astype("float32"),
    "teacher_logits": 3 * RANDOM.normal(size=(4, 3)).astype("float32"),
    "kept": np.array([[0.6, 0.5], [0.8, 0.3], [0.7, 0.7], [1.0, 0.1]], "float32"),
    "distances": np.array([3.0, 0.5, 7.0, 0.0], "float32"),
    "distance_counts": np.array([50, 30, 70, 10], "float32"),
}
RATIOS = (0.7, 0.49)


def softmax(logits):
    exact = np.exp(logits.astype("float64"))
    return exact / exact.sum(-1, keepdims=True)


def terms():
    """The four terms in float64, example by example."""
    ours, theirs = softmax(OUTPUTS["logits"]), softmax(OUTPUTS["teacher_logits"])
    entropies = [-np.log(row[label]) for row, label in zip(ours, LABELS, strict=True)]
    divergences = [(t * np.log(t / o)).sum() for o, t in zip(ours, theirs, strict=True)]
    shares = [[(r - k) ** 2 for r, k in zip(RATIOS, row, strict=True)] for row in OUTPUTS["kept"]]
    distance = OUTPUTS["distances"].sum() / OUTPUTS["distance_counts"].sum()
    return np.mean(entropies), np.mean(shares), np.mean(divergences), distance


def test_each_term_against_numpy():
    found = (
        classification(LABELS, OUTPUTS["logits"]),
        keep_ratio(OUTPUTS["kept"], RATIOS),
        teacher_divergence(OUTPUTS["logits"], OUTPUTS["teacher_logits"]),
        TokenDistillationLoss()(None, OUTPUTS),
    )
    np.testing.assert_allclose([float(term) for term in found], terms(), rtol=1e-5)


def test_the_sum_has_the_published_weights():
    expected = np.dot([1, 2, 0.5, 0.5], terms())
    assert float(DynamicViTLoss(RATIOS)(LABELS, OUTPUTS)) == pytest.approx(expected, rel=1e-5)
    one_hot = np.eye(3)[LABELS]
    assert float(DynamicViTLoss(RATIOS)(one_hot, OUTPUTS)) == pytest.approx(expected, rel=1e-5)


def test_mixed_labels():
    mixed = np.array([[0.3, 0.7, 0], [0, 1, 0], [0.5, 0, 0.5], [0.1, 0.1, 0.8]])
    expected = -(mixed * np.log(softmax(OUTPUTS["logits"]))).sum(-1).mean()
    assert float(classification(mixed, OUTPUTS["logits"])) == pytest.approx(expected, rel=1e-5)


def test_no_kept_token_is_no_distance():
    nothing = {"distances": np.zeros(3, "float32"), "distance_counts": np.zeros(3, "float32")}
    assert float(TokenDistillationLoss()(None, nothing)) == 0.0


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (DynamicViTLoss(RATIOS, 5.0, 0.1, 0.2, "one"), "pairwise"),
        (TokenDistillationLoss(), "ratio"),
    ],
)
def test_kind_and_config(loss, kind):
    assert kind_of(loss) == kind
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(loss))
    assert type(again) is type(loss) and again.get_config() == loss.get_config()
    with pytest.raises(ValueError, match="takes no `sample_weight`"):
        loss(LABELS, OUTPUTS, sample_weight=np.ones(4))


@pytest.mark.prove
@pytest.mark.parametrize(("loss", "program"), [("all", "plain"), ("all", "jit"), ("tokens", "jit")])
def test_two_replicas_train_as_one_device(loss, program):
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
        "PYTHONPATH": str(HERE.parents[1]),
    }
    command = [sys.executable, HERE / "dynamic_replicas.py", loss, program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    assert json.loads(run.stdout.splitlines()[-1]) < 1e-12
