"""CLIP against transformers and OpenCLIP, from their own files of weights, all of them random.

The stored references come from `tests/references/clip_reference.py`.
"""

import pathlib

import numpy as np
import pytest

from keras_vit.models import CLIP, CLIPConfig
from keras_vit.objectives.contrastive import pair_logits
from keras_vit.weights import load
from tests.models.test_vit_parity import DTYPES, LIMITS, relative_difference
from tests.references.clip_cases import CASES

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "clip"
SIZES = [(name, case[at]) for name, case in CASES.items() for at in ("size", "other") if case[at]]


def model_of(name, size=None, dtype=None):
    """The model of a case, with the fixture's weights."""
    case = CASES[name]
    config = {**case["config"], "image_size": size or case["size"]}
    model = CLIP(CLIPConfig(**config), dtype=dtype)
    load(model, FIXTURES / name)
    return model


def expected_of(name, size):
    key = "{}x{}".format(*size)
    with np.load(FIXTURES / name / "expected.npz") as arrays:
        inputs = {"images": arrays[f"images_{key}"], "texts": arrays["texts"]}
        outputs = {"images": arrays[f"embeddings_{key}"], "texts": arrays["text_embeddings"]}
        return inputs, outputs, arrays[f"logits_{key}"]


def test_every_case_has_a_stored_reference():
    assert {path.name for path in FIXTURES.iterdir() if path.is_dir()} == set(CASES)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "size"), SIZES)
def test_embeddings_and_logits_agree(name, size, dtype):
    inputs, expected, logits = expected_of(name, size)
    inputs["images"] = inputs["images"].astype(dtype)
    outputs = model_of(name, size, dtype)(inputs)
    for kind, vectors in expected.items():
        assert relative_difference(outputs[kind], vectors) <= LIMITS[dtype], kind
    assert relative_difference(pair_logits(outputs), logits) <= LIMITS[dtype]
