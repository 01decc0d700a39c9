"""Files as transformers, timm and the research codes write them give those codes' own outputs."""

from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit import create_model
from tests.references.weights_cases import CASES, NATIVE

FIXTURES = Path(__file__).parents[1] / "fixtures" / "weights"
MODELS = {"ViT": "vit_ti16", "DeiT": "deit_ti16"}
SIZES = [(name, size) for name, case in CASES.items() for size in (NATIVE, *case["sizes"])]


def file_of(name):
    folder = FIXTURES / name
    for kind in ("w.pth", "model.safetensors"):
        if (folder / kind).exists() and CASES[name]["format"]:
            return folder / kind
    return folder


def build(name, size=NATIVE, **fields):
    case = CASES[name]
    arguments = case["arguments"]
    sizes = {"patch_size": 4, "width": 24, "depth": 2, "num_heads": 3}
    swiglu = arguments.get("use_swiglu_ffn") or arguments.get("mlp") == "swiglu"
    sizes["mlp_dim"] = arguments.get("intermediate_size", 48)
    if swiglu:
        sizes["mlp_dim"] = 24 if case["package"] == "timm" else 32
    return create_model(
        MODELS[case["model"]],
        weights=file_of(name),
        weights_format=case["format"],
        **sizes,
        **({"image_size": size} if size != NATIVE else {}),
        **fields,
    )


def relative_difference(ours, theirs):
    return np.abs(np.asarray(ours) - theirs).max() / np.abs(theirs).max()


@pytest.mark.parametrize("name, size", SIZES, ids=lambda value: str(value).replace(" ", ""))
def test_outputs_are_those_of_the_reference(name, size):
    expected = np.load(FIXTURES / name / "expected.npz")
    key = f"{size[0]}x{size[1]}"
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-7)):
        model = build(name, size, dtype=dtype)
        ours = model.predict_on_batch(expected[f"images_{key}"])
        theirs = expected[f"outputs_{key}"]
        assert relative_difference(ours, theirs) < tolerance
    keras.backend.clear_session()
