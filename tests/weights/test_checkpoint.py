"""What a file of weights says of the model it needs."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from keras_vit.models import DeiT, ViT, ViTConfig
from keras_vit.weights.checkpoint import open_checkpoint
from tests.oracles import jax_vit_numpy as oracle

FIXTURES = Path(__file__).parents[1] / "fixtures" / "weights"
HALF, IMAGENET = (0.5, 0.5, 0.5), (0.485, 0.456, 0.406)


def npz(path, **options):
    arrays = {name: np.zeros(shape, "float32") for name, shape in oracle.shapes(**options).items()}
    np.savez(path / "w.npz", **arrays)
    return path / "w.npz"


def timm(path, registers=0, rows=25, **more):
    """A file of timm's with a given number of positions."""
    shapes = {
        "patch_embed.proj.weight": (24, 3, 4, 4),
        "cls_token": (1, 1, 24),
        "pos_embed": (1, rows, 24),
        **({"reg_token": (1, registers, 24)} if registers else {}),
        **more,
    }
    arrays = {name: np.zeros(shape, "float32") for name, shape in shapes.items()}
    save_file(arrays, path / "w.safetensors")
    return path / "w.safetensors"


def test_a_file_that_does_not_say_what_it_is_needs_a_format(tmp_path):
    with pytest.raises(ValueError, match="does not say.*one of: jax, big_vision\\.$"):
        open_checkpoint(npz(tmp_path), ViT)
    with pytest.raises(ValueError, match="one of: timm, deit, .*hf_vit") as raised:
        open_checkpoint(timm(tmp_path), ViT)
    assert "jax" not in str(raised.value)
    with pytest.raises(ValueError, match="`format` must be one of jax, .*Received: 'flax'"):
        open_checkpoint(npz(tmp_path), ViT, "flax")


@pytest.mark.parametrize(
    "format, options, expected",
    [
        (
            "jax",
            {"representation": 11},
            {"pooling": "token", "class_position": True, "representation_size": 11},
        ),
        (
            "big_vision",
            {"code": "big_vision", "pool": "tok"},
            {"pooling": "token", "class_position": False, "class_token": True},
        ),
        (
            "big_vision",
            {"code": "big_vision", "pool": "map", "classes": 0},
            {"pooling": "map", "class_token": False, "class_position": False, "num_classes": 0},
        ),
        (
            "big_vision",
            {"code": "big_vision", "pool": "gap", "learned": False},
            {"pooling": "gap", "position": "sincos2d"},
        ),
        (
            "jax",
            {"channels": 1, "patch": (4, 6), "depth": 3},
            {"channels": 1, "patch_size": (4, 6), "depth": 3, "image_size": (20, 30)},
        ),
    ],
)
def test_fields_of_jax_files(format, options, expected, tmp_path):
    checkpoint = open_checkpoint(npz(tmp_path, **options), ViT, format)
    common = {
        "width": 24,
        "depth": 2,
        "num_heads": 3,
        "mlp_dim": 43,
        "channels": 3,
        "patch_size": (4, 4),
        "registers": 0,
        "num_classes": 7,
        "activation": "gelu_tanh",
        "norm_epsilon": 1e-6,
        "layer_scale": None,
    }
    found = checkpoint.fields
    assert found | {**common, **expected} == found
    channels = found["channels"]
    assert found["preprocessing"] == {
        "mean": (0.5,) * channels,
        "std": (0.5,) * channels,
        "interpolation": "bilinear",
    }
    learned = options.get("learned", True)
    assert checkpoint.grid == ((5, 5) if learned else None)
    assert ("image_size" in found) == learned
    ViTConfig(**{"image_size": (20, 20), **found})


@pytest.mark.parametrize(
    "count, rows, grid",
    [(196, 0, (14, 14)), (197, 1, (14, 14)), (577, 1, (24, 24)), (1, 0, (1, 1))],
)
def test_the_perfect_square_test(count, rows, grid, tmp_path):
    checkpoint = open_checkpoint(timm(tmp_path, rows=count), ViT, "timm")
    assert (checkpoint.position_rows, checkpoint.grid) == (rows, grid)
    assert checkpoint.fields["class_position"] == bool(rows)
    assert checkpoint.fields["image_size"] == (4 * grid[0], 4 * grid[1])


@pytest.mark.parametrize(
    "registers, count, rows, grid",
    [(4, 201, 5, (14, 14)), (4, 196, 0, (14, 14)), (4, 197, 1, (14, 14)), (1, 27, 2, (5, 5))],
)
def test_registers_may_have_rows_too(registers, count, rows, grid, tmp_path):
    checkpoint = open_checkpoint(timm(tmp_path, registers, count), ViT, "timm")
    assert (checkpoint.position_rows, checkpoint.grid) == (rows, grid)
    assert checkpoint.fields["class_position"] == bool(rows)


def test_a_distilled_deit_has_its_tokens_positions_in_the_tokens(tmp_path):
    path = timm(tmp_path, rows=27, dist_token=(1, 1, 24))
    checkpoint = open_checkpoint(path, DeiT, "deit")
    assert (checkpoint.position_rows, checkpoint.grid) == (2, (5, 5))
    assert checkpoint.fields["class_position"] is False
    assert checkpoint.fields["registers"] == 1


def test_a_table_that_is_no_square_must_be_told(tmp_path):
    path = timm(tmp_path, rows=1 + 3 * 9)
    for told in ({}, {"model_grid": (5, 5)}):
        with pytest.raises(ValueError, match="28 positions are no square.*State the size"):
            open_checkpoint(path, ViT, "timm", **told)
    for told in ({"image_size": (12, 36)}, {"model_grid": (3, 9)}):
        checkpoint = open_checkpoint(path, ViT, "timm", **told)
        assert (checkpoint.position_rows, checkpoint.grid) == (1, (3, 9))
        assert checkpoint.fields["image_size"] == (12, 36)
    with pytest.raises(ValueError, match=r"28 positions do not fit images of \(20, 36\) pixels"):
        open_checkpoint(path, ViT, "timm", image_size=(20, 36))


def test_a_square_that_may_as_well_be_the_models_rectangle_must_be_told(tmp_path):
    path = timm(tmp_path, rows=1 + 16)
    told = "17 positions may be 1 \\+ 4×4 or 1 \\+ 2×8. State the size"
    with pytest.raises(ValueError, match=told):
        open_checkpoint(path, ViT, "timm", model_grid=(2, 8))
    for image_size, grid in (((8, 32), (2, 8)), (16, (4, 4))):
        checkpoint = open_checkpoint(path, ViT, "timm", image_size, model_grid=(2, 8))
        assert checkpoint.grid == grid
    assert open_checkpoint(path, ViT, "timm", model_grid=(4, 4)).grid == (4, 4)
    # Four registers and a class token: 3 x 3 without rows for them, or 2 x 2 with.
    path = timm(tmp_path, registers=4, rows=9)
    with pytest.raises(ValueError, match="9 positions may be 0 \\+ 3×3 or 5 \\+ 2×2"):
        open_checkpoint(path, ViT, "timm")


def test_fewer_positions_than_tokens_is_no_crash(tmp_path):
    with pytest.raises(ValueError, match="3 positions are no square"):
        open_checkpoint(timm(tmp_path, registers=6, rows=3), ViT, "timm")


def test_what_is_known_from_elsewhere_yields_to_the_file_and_to_the_user(tmp_path):
    path = npz(tmp_path, grid=(3, 9))
    told = {"image_size": (12, 36), "preprocessing": {"crop": 0.7, "resize": "crop"}}
    checkpoint = open_checkpoint(path, ViT, "jax", told=told)
    assert checkpoint.grid == (3, 9)
    found = {"mean": HALF, "std": HALF, "interpolation": "bilinear", "crop": 0.7, "resize": "crop"}
    assert checkpoint.fields["preprocessing"] == found
    checkpoint = open_checkpoint(path, ViT, "jax", (36, 12), told=told)
    assert (checkpoint.grid, checkpoint.fields["image_size"]) == ((9, 3), (36, 12))
    checkpoint = open_checkpoint(FIXTURES / "hf_vit", ViT, told={"image_size": 999})
    assert checkpoint.fields["image_size"] == (20, 20)


@pytest.mark.parametrize(
    "name, source, expected",
    [
        ("hf_vit", "hf_vit", {"norm_epsilon": 1e-12, "activation": "gelu", "num_heads": 3}),
        ("hf_vit_gelu_new", "hf_vit", {"norm_epsilon": 1e-6, "activation": "gelu_tanh"}),
        ("hf_dinov2", "hf_dinov2", {"pooling": "token_and_mean", "layer_scale": 1e-5}),
        ("hf_dinov2_swiglu", "hf_dinov2", {"mlp": "swiglu", "activation": "silu", "mlp_dim": 32}),
        ("hf_dinov2_registers", "hf_dinov2_reg", {"registers": 3, "class_position": True}),
    ],
)
def test_files_that_say_what_they_are(name, source, expected):
    checkpoint = open_checkpoint(FIXTURES / name, ViT)
    assert checkpoint.source_name == source
    assert checkpoint.fields | expected == checkpoint.fields


def test_a_format_that_the_file_denies_is_refused():
    with pytest.raises(ValueError, match="`format` is 'timm', but .* that it is 'hf_vit'"):
        open_checkpoint(FIXTURES / "hf_vit", ViT, "timm")
    with pytest.raises(ValueError, match="`format` is 'hf_vit', but .* that it is 'hf_dinov2'"):
        open_checkpoint(FIXTURES / "hf_dinov2", ViT, "hf_vit")


def test_a_format_of_the_same_names_gives_its_conventions():
    checkpoint = open_checkpoint(FIXTURES / "hf_vit", ViT, "hf_deit")
    assert checkpoint.source_name == "hf_deit"
    assert checkpoint.fields["preprocessing"]["mean"] == IMAGENET


def test_a_kind_that_we_do_not_know_is_named(tmp_path):
    shutil.copy(FIXTURES / "hf_vit" / "model.safetensors", tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "siglip"}), "utf-8")
    with pytest.raises(ValueError, match="says that it is 'siglip', which we do not know"):
        open_checkpoint(tmp_path, ViT)
    assert open_checkpoint(tmp_path, ViT, "hf_vit").fields["norm_epsilon"] == 1e-12


def test_a_note_of_a_source_that_we_do_not_know_is_an_error(tmp_path):
    arrays = load_file(FIXTURES / "timm_token" / "model.safetensors")
    note = json.dumps({"source": "later", "fields": {}})
    save_file(arrays, tmp_path / "w.safetensors", {"keras_vit": note})
    for format in (None, "timm"):
        with pytest.raises(ValueError, match="its source is 'later'"):
            open_checkpoint(tmp_path / "w.safetensors", ViT, format)


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"embedding/kernel": None}, "there is no 'embedding/kernel'"),
        (
            {"embedding/kernel": (48, 24)},
            "its shapes are others .the patch kernel has not four axes",
        ),
        ({"embedding/kernel": (4,)}, "its shapes are others"),
        ({"pos_embedding": (24,)}, "its shapes are others"),
        ({"Transformer/encoderblock/LayerNorm_0/scale": ()}, None),
    ],
)
def test_shapes_that_no_file_of_the_format_has(changes, told, tmp_path):
    shapes = {**oracle.shapes(code="big_vision"), **changes}
    arrays = {name: np.zeros(shape) for name, shape in shapes.items() if shape is not None}
    np.savez(tmp_path / "w.npz", **arrays)
    if told is None:  # left to whoever fills a model: it is an array without a place
        open_checkpoint(tmp_path / "w.npz", ViT, "big_vision")
        return
    with pytest.raises(ValueError, match=f"is not of the format 'big_vision': {told}"):
        open_checkpoint(tmp_path / "w.npz", ViT, "big_vision")


def test_a_model_class_that_the_format_does_not_know(tmp_path):
    class Other:
        pass

    with pytest.raises(ValueError, match="'jax' knows no weights of Other"):
        open_checkpoint(npz(tmp_path), Other, "jax")
