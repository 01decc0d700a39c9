"""What the quick start puts on its page."""

from types import SimpleNamespace

import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.cli.quickstart_report import MISTAKES, samples, write
from keras_vit.data import evaluation_batches, open_data
from keras_vit.training import evaluate, recipe
from keras_vit.training.report import Format


@pytest.fixture(scope="module")
def records(digits):
    return open_data(digits)


@pytest.fixture(scope="module")
def evaluation(network, records):
    return evaluate(runtime.open(network), records)


def test_samples_are_one_right_answer_a_class_and_the_surest_mistakes(network, records, evaluation):
    ((pixels, labels),) = evaluation_batches(records, network.preprocessing, 200)
    chosen = samples(network, pixels.numpy(), evaluation)
    right = [sample for sample in chosen if sample.right]
    wrong = [sample for sample in chosen if not sample.right]
    found = {records.class_names[i] for i in labels.numpy()[evaluation.predictions == labels]}
    assert [sample.truth for sample in right] == sorted(found)
    assert len(wrong) == min(MISTAKES, int((evaluation.predictions != evaluation.labels).sum()))
    sure = [sample.answers[0][1] for sample in wrong]
    assert sure == sorted(sure, reverse=True)
    assert all(sample.heat.shape == (4, 4) for sample in chosen)
    assert all(len(sample.answers) == 3 for sample in chosen)


def test_the_page_is_written(network, records, evaluation, tmp_path):
    result = SimpleNamespace(
        model=network,
        train=records,
        held_out=records,
        history=[{"epoch": i, "loss": 1.0, "accuracy": 0.5} for i in (1, 2)],
    )
    formats = [Format("Keras", evaluation.accuracy, size=1)]
    path = write(tmp_path / "r.html", result, evaluation, formats, recipe("digits"), 75.2)
    text = path.read_text("utf-8")
    assert "1 min 15 s" in text
    assert f"{network.count_params():,}" in text
    assert f"{100 * np.mean(evaluation.predictions == evaluation.labels):.1f}" in text
