import sys

import numpy as np
import pytest

from keras_vit.cli import bench_against
from keras_vit.models import DynamicViT
from tests.cli.test_recording_dynamic import SIZES

SETTINGS = {
    **SIZES,
    "batch_size": 2,
    "dtype": "float32",
    "keep_ratios": 0.5,
    "merged": 2,
}


@pytest.fixture
def rival(monkeypatch):
    monkeypatch.syspath_prepend(bench_against.LOOP.parent)
    import with_dynamic_vit

    yield with_dynamic_vit
    for name in ("with_dynamic_vit", "with_keras_vit"):
        sys.modules.pop(name, None)


def test_the_models_are_those_that_are_asked_for(rival):
    made = {name: build(SETTINGS, "float32") for name, build in rival.MODELS.items()}
    assert isinstance(made["dynamic"], DynamicViT) and made["dynamic"].config.kept == (8, 4, 2)
    assert made["merged"].config.merged == (2, 2, 2, 2)
    assert not made["vit"].config.merged


def test_a_call_gives_logits(rival):
    logits = rival.CALLS["dynamic"](SETTINGS)()
    assert logits.shape == (2, 5) and np.isfinite(logits).all()
