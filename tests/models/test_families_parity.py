"""Swin, CoAtNet, hybrids and TimeSformer against timm and transformers, from their files.

The stored references come from `tests/references/families_reference.py`. They are read by
`keras_vit.weights`, also for images of another size.
"""

import pathlib

import keras
import numpy as np
import pytest

from keras_vit import models
from keras_vit.weights import load
from tests.models.test_vit_parity import LIMITS, on_tensorflow, relative_difference
from tests.references.families_cases import CASES, CLASSES

TESTS = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = TESTS / "fixtures" / "families"
FORMATS = {
    "Swin": "timm_swin",
    "CoAtNet": "timm_coatnet",
    "Hybrid": "timm_hybrid",
    "TimeSformer": "hf_timesformer",
}
RESIZED = [(name, size) for name, case in CASES.items() for size in case["sizes"]]


def model_of(name, size=None, dtype=None, **fields):
    """The model of a case, with the fixture's weights."""
    case = CASES[name]
    kind = getattr(models, case["model"])
    config = {**case["config"], "image_size": size or case["size"], "num_classes": CLASSES}
    model = kind(kind.config_class(**{**config, **fields}), dtype=dtype)
    load(
        model,
        FIXTURES / name / "model.safetensors",
        FORMATS[case["model"]],
        image_size=case["size"],
        accept=("preprocessing", "pool", "stride_in"),
    )
    return model


def expected_of(name, size=None):
    """(images, logits, maps of the stages)."""
    key = "{}x{}".format(*(size or CASES[name]["size"]))
    with np.load(FIXTURES / name / "expected.npz") as arrays:
        stages = {path: arrays[path] for path in arrays if path.startswith("stage")}
        return arrays[f"images_{key}"], arrays[f"logits_{key}"], stages


def test_every_case_has_a_stored_reference():
    assert {path.name for path in FIXTURES.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_model_agrees_in_float32(name):
    images, logits, _ = expected_of(name)
    assert relative_difference(model_of(name)(images), logits) <= LIMITS["float32"]


@on_tensorflow
@pytest.mark.parametrize("name", CASES)
def test_model_agrees_in_float64(name):
    """In the logits, and in the map of each stage, which is stored in float32."""
    images, logits, stages = expected_of(name)
    model = model_of(name, dtype="float64")
    outputs = {**model.features(model.input), "logits": model.output}
    ours = keras.Model(model.input, outputs)(images.astype("float64"))
    assert relative_difference(ours["logits"], logits) <= LIMITS["float64"]
    taps = {key for key in ours if key.startswith("stage")}
    assert set(stages) == (taps if name != "swin_padded" else set())
    for key, stage in stages.items():
        assert relative_difference(ours[key], stage) <= 1e-7, key


@pytest.mark.parametrize(("name", "size"), RESIZED)
def test_model_agrees_with_reference_at_another_size(name, size):
    images, logits, _ = expected_of(name, size)
    # In float64 they would agree no better: timm resizes tables in float32.
    assert relative_difference(model_of(name, size)(images), logits) <= LIMITS["float32"]
