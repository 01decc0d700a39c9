"""Swin, CoAtNet and hybrids written for timm, and read again; timm reads them under `prove`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keras_vit import create_model, weights
from tests.contract.test_contract import randomised

READER = Path(__file__).parents[1] / "references" / "read_saved.py"
PREPROCESSING = {"mean": (0.4, 0.5, 0.6), "std": (0.2, 0.3, 0.4), "resize": "crop", "crop": 0.875}
COMMON = {"num_classes": 7, "preprocessing": PREPROCESSING}
STAGES = (
    ("conv", 8, 1, True),
    ("conv", 16, 1, True),
    ("attention", 16, 1, True),
    ("attention", 24, 2, True),
)
CASES = {
    "swin_t": {
        "image_size": (16, 32),
        "patch_size": 2,
        "width": 8,
        "depths": (2, 1),
        "num_heads": (2, 4),
        "window_size": (4, 8),
        "mlp_ratio": 1.5,
    },
    "coatnet_0": {
        "image_size": (32, 64),
        "stem_width": 8,
        "head_dim": 8,
        "stages": STAGES,
        "pool": "max",
        "stride_in": "expansion",
        "expansion": 2,
        "squeeze": 0.5,
        "norm_epsilon": 1e-4,
        "batch_norm_epsilon": 1e-3,
        "pooling": "gap",
        "representation_size": None,
    },
    "r_ti16": {
        "image_size": (16, 32),
        "patch_size": 8,
        "width": 12,
        "depth": 1,
        "num_heads": 2,
        "mlp_dim": 18,
    },
}
# transformers' windows are square, and it pads a map before it shifts it.
HF = "hf_swin"
CASES[HF] = {**CASES["swin_t"], "image_size": (22, 36), "window_size": 4}
MODELS = {HF: "swin_t"}
TIMM = [name for name in CASES if name != HF]
# Fields of these cases that say how large the model is: a name stands for other ones.
SIZES = {
    "swin_t": ("patch_size", "width", "depths", "num_heads", "mlp_ratio"),
    "coatnet_0": ("stem_width", "head_dim", "stages", "expansion", "squeeze"),
    "r_ti16": ("patch_size", "width", "depth", "num_heads", "mlp_dim"),
}


def saved(name, folder, format="timm"):
    model = randomised(create_model(MODELS.get(name, name), **COMMON, **CASES[name]))
    weights.save(model, folder / "model", format)
    shape = (2, *model.config.image_size, 3)
    return model, np.random.default_rng(11).normal(size=shape).astype("float32")


@pytest.mark.parametrize("name", TIMM)
def test_the_way_back(name, tmp_path):
    model, _ = saved(name, tmp_path)
    sizes = {field: CASES[name][field] for field in SIZES[name]}
    again = create_model(name, weights=tmp_path / "model", **sizes)
    assert again.config == model.config
    for one, other in zip(model.weights, again.weights, strict=True):
        assert one.path == other.path
        np.testing.assert_array_equal(one, other)


def test_the_way_back_from_transformers(tmp_path):
    model, _ = saved(HF, tmp_path, "hf")
    sizes = {field: CASES[HF][field] for field in SIZES["swin_t"]}
    again = create_model("swin_t", weights=tmp_path / "model", **sizes)
    assert again.config == model.config
    for one, other in zip(model.weights, again.weights, strict=True):
        assert one.path == other.path
        np.testing.assert_array_equal(one, other)


@pytest.mark.prove
def test_transformers_computes_the_same(tmp_path):
    model, images = saved(HF, tmp_path, "hf")
    np.save(tmp_path / "images.npy", images)
    subprocess.run([sys.executable, READER, tmp_path], check=True)
    theirs = np.load(tmp_path / "outputs.npy")
    assert np.abs(model(images) - theirs).max() <= 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"norm_epsilon": 1e-6}, "norm_epsilon: transformers' norms of patches and mergings"),
        ({"window_size": (4, 8)}, "window_size: transformers' windows are square"),
        ({"window_size": 16}, "image_size: transformers' tables do not shrink"),
        ({"representation_size": 5}, "representation_size: transformers has no such layer"),
    ],
)
def test_what_transformers_cannot_be_told(fields, reason, tmp_path):
    model = create_model("swin_t", **{**COMMON, **CASES[HF], **fields})
    with pytest.raises(ValueError, match=reason):
        weights.save(model, tmp_path / "model", "hf")


@pytest.mark.prove
def test_timm_computes_the_same(tmp_path):
    made = {name: saved(name, tmp_path / name) for name in TIMM}
    for name, (_, images) in made.items():
        np.save(tmp_path / name / "images.npy", images)
    subprocess.run([sys.executable, READER, *(tmp_path / name for name in TIMM)], check=True)
    for name, (model, images) in made.items():
        theirs = np.load(tmp_path / name / "outputs.npy")
        assert np.abs(model(images) - theirs).max() <= 1e-5 * np.abs(theirs).max(), name


@pytest.mark.parametrize(
    ("name", "fields", "reason"),
    [
        ("swin_t", {"activation": "relu"}, "activation: timm's config cannot state it"),
        ("swin_t", {"norm_epsilon": 1e-6}, "norm_epsilon: timm's config cannot state it"),
        ("swin_t", {"image_size": (20, 36)}, "image_size: timm shifts a map before it pads"),
        ("coatnet_0", {"pooling": "gap_then_norm"}, "pooling: timm norms after pooling if"),
        ("r_ti16", {"units": (1,)}, "units: timm has no such hybrid"),
        ("r_ti16", {"standardisation": "deviation"}, "standardisation: timm's is by variance"),
    ],
)
def test_what_timm_cannot_be_told(name, fields, reason, tmp_path):
    model = create_model(name, **{**COMMON, **CASES[name], **fields})
    with pytest.raises(ValueError, match=reason):
        weights.save(model, tmp_path / "model", "timm")


def test_other_formats_have_no_names_for_them(tmp_path):
    model = create_model("r_ti16", **COMMON, **CASES["r_ti16"])
    with pytest.raises(ValueError, match="A Hybrid is written in the format 'timm' only"):
        weights.save(model, tmp_path / "model", "hf")
