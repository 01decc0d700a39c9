import pathlib
import subprocess
import sys

import numpy as np
import pytest

from keras_vit import weights
from keras_vit.models import CLIP, CLIPConfig
from keras_vit.weights.targets.clip import _ratio
from tests.models.test_clip_parity import expected_of, model_of
from tests.references.clip_cases import CONFIG

REFERENCES = pathlib.Path(__file__).resolve().parents[2] / "references"


@pytest.mark.parametrize(
    ("case", "format"),
    [("transformers", "hf"), ("open_clip", "open_clip"), ("open_clip_bias", "open_clip")],
)
def test_what_is_written_comes_back(case, format, tmp_path):
    model = model_of(case)
    weights.save(model, tmp_path / "saved", format)
    again = CLIP(model.config)
    report = weights.load(again, tmp_path / "saved")
    assert not report.unused and not report.new
    for ours, back in zip(model.weights, again.weights, strict=True):
        np.testing.assert_array_equal(ours, back)


@pytest.mark.parametrize(
    ("fields", "format", "message"),
    [
        ({"image_size": (8, 16)}, "hf", "image_size: transformers' CLIP takes square images"),
        ({"logit_bias": -10.0}, "hf", "logit_bias: transformers' CLIP has none"),
        ({"activation": "relu"}, "open_clip", "activation: OpenCLIP has gelu and quick_gelu"),
        ({"norm_epsilon": 1e-6}, "open_clip", "norm_epsilon: OpenCLIP uses 1e-5"),
        ({"end_token": 7}, "open_clip", "end_token: OpenCLIP takes the largest piece"),
        ({}, "timm", "is written in the format 'hf' or 'open_clip' only"),
    ],
)
def test_what_they_cannot_compute_is_refused(fields, format, message, tmp_path):
    model = CLIP(CLIPConfig(**{**CONFIG, "image_size": 8, **fields}))
    with pytest.raises(ValueError, match=message):
        weights.save(model, tmp_path / "saved", format)


def test_a_ratio_gives_its_width():
    for width, hidden in ((1408, 6144), (1664, 8192), (24, 36), (49, 73), (7, 5)):
        assert int(width * _ratio(width, hidden)) == hidden


@pytest.mark.prove
@pytest.mark.parametrize(("case", "format"), [("transformers", "hf"), ("open_clip", "open_clip")])
def test_the_other_code_reads_what_is_written(case, format, tmp_path):
    """And computes the same, in its own process."""
    model = model_of(case)
    weights.save(model, tmp_path / "saved", format)
    inputs, expected, _ = expected_of(case, model.config.image_size)
    np.savez(tmp_path / "inputs.npz", **inputs)
    script = REFERENCES / "clip_read_saved.py"
    subprocess.run([sys.executable, script, format, tmp_path], check=True)
    with np.load(tmp_path / "outputs.npz") as outputs:
        for kind, vectors in expected.items():
            assert np.abs(outputs[kind] - vectors).max() <= 1e-5, kind
