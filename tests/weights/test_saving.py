import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keras_vit import create_model, weights
from keras_vit.models import DeiT, ViT, ViTConfig

READER = Path(__file__).parents[1] / "references" / "read_saved.py"
BASE = {
    "image_size": 20,
    "patch_size": 4,
    "width": 24,
    "depth": 2,
    "num_heads": 3,
    "mlp_dim": 43,
    "num_classes": 7,
}
HALF_UP = {"mean": (0.4, 0.5, 0.6), "std": (0.2, 0.3, 0.4), "resize": "crop", "crop": 0.875}
NO_CLASS = {"class_token": False}
SCALED = {"layer_scale": 0.3, "mlp_dim": 48}
SWIGLU = {**SCALED, "mlp": "swiglu", "activation": "silu", "mlp_dim": 32}
DISTILLED = {"registers": 1, "class_position": False, "preprocessing": HALF_UP}
JAX = {"activation": "gelu_tanh"}
# name -> (format, fields). The name of a case in CASES says what is special about it.
CASES = {
    "hf": ("hf", {"norm_epsilon": 1e-12, "preprocessing": HALF_UP}),
    "hf_rectangle": ("hf", {"image_size": (12, 20), "activation": "gelu_tanh"}),
    "hf_backbone": ("hf", {"num_classes": 0}),
    "hf_no_class_position": ("hf", {"class_position": False}),
    "hf_sincos2d": ("hf", {"position": "sincos2d"}),
    "hf_no_position": ("hf", {"position": "none"}),
    "hf_dinov2": ("hf", {**SCALED, "num_classes": 0}),
    "hf_dinov2_head": ("hf", {**SCALED, "pooling": "token_and_mean"}),
    "hf_dinov2_registers": ("hf", {**SCALED, "registers": 3, "pooling": "token_and_mean"}),
    "hf_dinov2_swiglu": ("hf", {**SWIGLU, "num_classes": 0}),
    "timm": ("timm", {"preprocessing": HALF_UP}),
    "timm_rectangle": ("timm", {"image_size": (12, 20), "patch_size": (4, 5)}),
    "timm_gap": ("timm", {"pooling": "gap", **NO_CLASS}),
    "timm_gap_then_norm": ("timm", {"pooling": "gap_then_norm", "activation": "gelu_tanh"}),
    "timm_map": ("timm", {"pooling": "map", **NO_CLASS}),
    "timm_registers": ("timm", {**SCALED, "registers": 3}),
    "timm_registers_no_class_position": (
        "timm",
        {**SCALED, "registers": 3, "class_position": False},
    ),
    "timm_no_position": ("timm", {"position": "none"}),
    "timm_sincos2d": ("timm", {"position": "sincos2d"}),
    "timm_swiglu": ("timm", {**SWIGLU, "num_classes": 0}),
    "hf_deit": ("hf", DISTILLED),
    "timm_deit": ("timm", DISTILLED),
    "jax": ("jax", JAX),
    "jax_representation": ("jax", {**JAX, "representation_size": 11}),
    "jax_no_class_position": ("jax", {**JAX, "class_position": False}),
    "jax_gap": ("jax", {**JAX, **NO_CLASS, "pooling": "gap", "position": "sincos2d"}),
    "jax_map": ("jax", {**JAX, **NO_CLASS, "pooling": "map"}),
}
# What the other code states otherwise than our config, computing the same.
RESTATED = {
    "hf_no_class_position": {"class_position": True},
    "hf_sincos2d": {"position": "learned"},
    "hf_no_position": {"position": "learned"},
    "timm_sincos2d": {"position": "learned", "class_position": False},
}


def random_model(fields, kind=ViT):
    model = kind(ViTConfig(**{**BASE, **fields}))
    generator = np.random.default_rng(7)
    for variable in model.weights:
        mean = 1.0 if variable.name == "gamma" else 0.0
        variable.assign(generator.normal(mean, 0.3, variable.shape))
    return model


def images_for(model):
    shape = (2, *model.config.image_size, model.config.channels)
    return np.random.default_rng(11).normal(size=shape).astype("float32")


def saved(name, folder):
    """(model, path, format to load it as) of a case."""
    format, fields = CASES[name]
    model = random_model(fields, DeiT if name.endswith("_deit") else ViT)
    path = folder / ("model.npz" if format == "jax" else "model")
    weights.save(model, path, format)
    original = name in ("jax", "jax_representation")
    stated = {"jax": "jax" if original else "big_vision"}.get(format)
    return model, path, stated


@pytest.mark.parametrize("name", CASES)
def test_the_way_back(name, tmp_path):
    """The file, read again, gives the same config and bit for bit the same weights."""
    model, path, stated = saved(name, tmp_path)
    sizes = {
        key: getattr(model.config, key) for key in ("patch_size", "width", "depth", "num_heads")
    }
    other = create_model(
        "deit_ti16" if isinstance(model, DeiT) else "vit_ti16",
        weights=path,
        weights_format=stated,
        **sizes,
        mlp_dim=model.config.mlp_dim,
        # JAX files carry no config of their own.
        **({"image_size": 20, "preprocessing": model.preprocessing} if stated else {}),
    )
    expected = {**vars(model.config), **RESTATED.get(name, {})}
    found = vars(other.config)
    start_values = {"layer_scale", "head_bias"}
    # Where nothing depends on it, either will do.
    idle = (
        {"class_position"}
        if not model.config.class_token or expected["position"] == "none"
        else set()
    )
    for field in set(expected) - start_values - idle:
        assert found[field] == expected[field], field
    assert not other.weights_report.new and not other.weights_report.unused
    if name not in RESTATED:
        ours = {v.path: np.asarray(v) for v in model.weights}
        for variable in other.weights:
            np.testing.assert_array_equal(variable, ours[variable.path], variable.path)
    images = images_for(model)
    np.testing.assert_allclose(other(images), model(images), rtol=1e-5, atol=1e-5)


@pytest.mark.prove
def test_the_other_codes_compute_the_same(tmp_path):
    names, outputs = [name for name in CASES if not name.startswith("jax")], {}
    for name in names:
        (tmp_path / name).mkdir()
        model, _, _ = saved(name, tmp_path / name)
        images = images_for(model)
        np.save(tmp_path / name / "images.npy", images)
        outputs[name] = np.asarray(model(images))
    folders = [tmp_path / name for name in names]
    done = subprocess.run([sys.executable, READER, *folders], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, ours in outputs.items():
        theirs = np.load(tmp_path / name / "outputs.npy")
        assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max(), name


def test_published_names_of_the_original_jax_code(tmp_path):
    _, path, _ = saved("jax_representation", tmp_path)
    shapes = {name: array.shape for name, array in np.load(path).items()}
    block = "Transformer/encoderblock_1"
    assert len(shapes) == 16 * 2 + 10
    assert shapes["Transformer/posembed_input/pos_embedding"] == (1, 26, 24)
    assert shapes["embedding/kernel"] == (4, 4, 3, 24)
    assert shapes[f"{block}/MultiHeadDotProductAttention_1/query/kernel"] == (24, 3, 8)
    assert shapes[f"{block}/MultiHeadDotProductAttention_1/out/kernel"] == (3, 8, 24)
    assert shapes[f"{block}/MlpBlock_3/Dense_0/kernel"] == (24, 43)
    assert shapes[f"{block}/LayerNorm_2/scale"] == (24,)
    assert shapes["pre_logits/kernel"] == (24, 11)


def test_a_single_file(tmp_path):
    model = random_model({"norm_epsilon": 1e-12})
    weights.save(model, tmp_path / "mine.safetensors", "hf")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.safetensors"]
    other = random_model({"norm_epsilon": 1e-12, "depth": 2})
    for variable in other.weights:
        variable.assign(0 * variable)
    weights.load(other, tmp_path / "mine.safetensors")  # its note tells format and conventions
    np.testing.assert_array_equal(other(images_for(model)), model(images_for(model)))


@pytest.mark.parametrize(
    "format, fields, field",
    [
        ("hf", {"pooling": "gap"}, "pooling"),
        ("hf", {**NO_CLASS, "pooling": "gap"}, "class_token"),
        ("hf", {"registers": 2}, "registers"),
        ("hf", {**SCALED}, "pooling"),
        ("hf", {**SCALED, "num_classes": 0, "image_size": (12, 20)}, "image_size"),
        ("hf", {**SWIGLU, "mlp_dim": 31, "num_classes": 0}, "mlp_dim"),
        ("hf", {**SCALED, "mlp_dim": 43, "num_classes": 0}, "mlp_dim"),
        ("hf", {"representation_size": 5}, "representation_size"),
        ("hf", {"attention": "performer"}, "attention"),
        ("timm", {"position": "relative"}, "position"),
        ("jax", {**JAX, "attention": "performer_relu"}, "attention"),
        ("timm", {"norm_epsilon": 1e-5}, "norm_epsilon"),
        ("timm", {"representation_size": 5}, "representation_size"),
        ("timm", {"pooling": "token_and_mean"}, "pooling"),
        ("jax", {}, "activation"),
        ("jax", {**JAX, "norm_epsilon": 1e-5}, "norm_epsilon"),
        ("jax", {**JAX, **SCALED}, "layer_scale"),
        ("jax", {**JAX, "preprocessing": HALF_UP}, "preprocessing"),
        ("jax", {**JAX, "registers": 1}, "registers"),
        ("jax", {**JAX, "pooling": "gap"}, "pooling"),
        ("jax", {**JAX, "pooling": "gap_then_norm"}, "pooling"),
    ],
)
def test_what_the_other_code_cannot_compute(format, fields, field, tmp_path):
    with pytest.raises(ValueError, match=f"(?s)cannot be written in the format .*{field}: "):
        weights.save(random_model(fields), tmp_path / "model.npz", format)
    assert not list(tmp_path.iterdir())


def test_only_what_holds_no_weights_may_be_given_up(tmp_path):
    for name in ("layer_scale", "registers", "activatoin"):
        with pytest.raises(ValueError, match=f"`accept` may hold activation, .*'{name}'"):
            weights.save(random_model(JAX), tmp_path / "model.npz", "jax", accept=(name,))


def test_what_may_differ_by_request(tmp_path):
    weights.save(random_model({}), tmp_path / "model.npz", "jax", accept=("activation",))
    assert (tmp_path / "model.npz").exists()


def test_class_names_travel(tmp_path):
    names = tuple(f"kind {n}" for n in range(7))
    model = random_model({"preprocessing": {"class_names": names}, "norm_epsilon": 1e-12})
    weights.save(model, tmp_path / "model", "hf")
    config = json.loads((tmp_path / "model" / "config.json").read_text("utf-8"))
    assert config["id2label"]["3"] == "kind 3" and config["label2id"]["kind 3"] == 3


def test_an_unknown_format_and_a_wrong_ending(tmp_path):
    with pytest.raises(ValueError, match="`format` must be one of hf, open_clip, timm, jax"):
        weights.save(random_model({}), tmp_path / "model", "torch")
    with pytest.raises(ValueError, match="must end in .npz"):
        weights.save(random_model(JAX), tmp_path / "model.zip", "jax")


def test_nothing_is_lost_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    path.write_bytes(b"the user's own")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left"):
        weights.save(random_model(JAX), path, "jax")
    assert path.read_bytes() == b"the user's own"
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]
