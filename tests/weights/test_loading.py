"""Loading is strict, all or nothing, and says what it did."""

import dataclasses
import re
import shutil
from pathlib import Path

import keras
import ml_dtypes
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.weights import load, resize_grid, resize_patches
from keras_vit.weights.archives import Archive
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.loading import fill
from keras_vit.weights.sources import SOURCES
from tests.oracles import jax_vit_numpy as oracle

FIXTURES = Path(__file__).parents[1] / "fixtures" / "weights"
BIG_VISION = {"code": "big_vision"}
HEAD = {"head/kernel", "head/bias"}


def build(**fields):
    sizes = {**oracle.SIZES, "image_size": 20, "patch_size": 4, "num_classes": 7}
    return create_model("vit_ti16", **{**sizes, "activation": "gelu_tanh", **fields})


def checkpoint(**options):
    return oracle.checkpoint(np.random.default_rng(3), **options)


def write(folder, arrays, name="w.npz"):
    np.savez(folder / name, **arrays)
    return folder / name


def state(model):
    return {variable.path: np.array(variable) for variable in model.weights}


def bits(model):
    return {path: value.tobytes() for path, value in state(model).items()}


@pytest.fixture(scope="module")
def model():
    """One model for every failure: each leaves it as it is, or this fixture's user fails."""
    model = build()
    generator = np.random.default_rng(9)
    for variable in model.weights:
        variable.assign(generator.standard_normal(variable.shape))
    return model


@pytest.fixture
def refused(model, tmp_path):
    """A check that a file is refused with a message, and that no bit of the model has changed."""
    before = bits(model)

    def check(arrays, message, **options):
        path = arrays if isinstance(arrays, Path) else write(tmp_path, arrays)
        with pytest.raises(ValueError, match=message):
            load(model, path, **{"format": "jax", **options})
        assert bits(model) == before

    return check


ARRAYS = checkpoint()


def test_the_whole_file_fills_the_whole_model(model, tmp_path):
    other = build()
    report = load(other, write(tmp_path, ARRAYS), "jax")
    assert set(report.filled) == set(state(model))
    names = [name for names, _, _ in report.filled.values() for name in names]
    assert len(names) == len(set(names)) == len(ARRAYS)
    assert (report.new, report.unused, report.notes) == ({}, {}, ())
    assert report.filled["block_1/attention/qkv/bias"] == (
        tuple(
            f"Transformer/encoderblock_1/MultiHeadDotProductAttention_0/{part}/bias"
            for part in ("query", "key", "value")
        ),
        (3, 3, 8),
        "",
    )
    assert list(report.filled)[:3] == [
        "patch_encoder/projection/kernel",
        "patch_encoder/projection/bias",
        "patch_encoder/class_token",
    ]
    blocks = [path for path in report.filled if path.startswith("block_")]
    assert blocks == sorted(blocks, key=lambda path: path.split("/")[0])


@pytest.mark.parametrize("name", ARRAYS)
def test_each_array_must_be_there_whole_and_finite(name, refused):
    value = ARRAYS[name]
    refused({n: x for n, x in ARRAYS.items() if n != name}, None)
    longer = np.concatenate([value, value[..., -1:]], axis=-1)
    refused(ARRAYS | {name: longer}, None)
    if name != "embedding/kernel":  # patches of 8 x 4 are another patch size, and no mistake
        refused(ARRAYS | {name: np.concatenate([value] * 2)}, None)
    refused(ARRAYS | {name: value[None]}, None)
    for bad in (np.nan, np.inf):
        spoiled = value.copy()
        spoiled.flat[-1] = bad
        refused(ARRAYS | {name: spoiled}, "holds 1 values that are not finite")
    refused(ARRAYS | {name: np.ones(value.shape, "int32")}, "holds int32, not floats")


def test_a_missing_array_is_named(refused):
    lost = "Transformer/encoderblock_1/MlpBlock_3/Dense_1/bias"
    refused(
        {n: x for n, x in ARRAYS.items() if n != lost},
        "lacks 1 of the model's weights; the first is block_1/mlp/fc2/bias, which would be "
        "Transformer/encoderblock_1/MlpBlock_0/Dense_1/bias",
    )
    # The second of the three that one weight is made of.
    lost = "Transformer/encoderblock_0/MultiHeadDotProductAttention_1/key/kernel"
    refused(
        {n: x for n, x in ARRAYS.items() if n != lost},
        "first is block_0/attention/qkv/kernel, which would be .*query/kernel and .*key/kernel",
    )


def test_an_array_too_many_is_named(refused):
    refused(ARRAYS | {"head/scale": np.ones(7)}, "holds 1 arrays .*no place for: head/scale")
    more = {f"x{i}": np.ones(1) for i in range(7)}
    refused(ARRAYS | more, "holds 7 arrays .*: x0, x1, x2, x3, x4 …")
    block = "Transformer/encoderblock_0/LayerNorm_"
    refused(ARRAYS | {f"{block}1/bias": ARRAYS[f"{block}2/bias"]}, "twice")


def test_axes_in_another_order_are_no_array_of_the_format(refused):
    name = "Transformer/encoderblock_0/MultiHeadDotProductAttention_1/out/kernel"
    turned = ARRAYS[name].transpose(1, 0, 2)
    assert turned.size == ARRAYS[name].size
    refused(ARRAYS | {name: turned}, "gives no block_0/attention/out/kernel: .*the 3 heads")
    name = name.replace("out", "key")
    refused(ARRAYS | {name: ARRAYS[name].transpose(0, 2, 1)}, "gives no block_0/attention/qkv")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_short(share, refused, tmp_path):
    path = write(tmp_path, ARRAYS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refused(path, "not a whole")


def test_a_byte_that_is_wrong(refused, tmp_path):
    path = write(tmp_path, ARRAYS)
    whole = bytearray(path.read_bytes())
    place = whole.find(ARRAYS["head/kernel"].tobytes())
    whole[place + 99] ^= 0x10
    path.write_bytes(bytes(whole))
    refused(path, "head/kernel.npy")


OF_A_VIT = [name for name, source in SOURCES.items() if "ViT" in source.tables]
FILES = {
    "timm_token/model.safetensors": "timm",
    "timm_swiglu/model.safetensors": "timm",
    "deit_distilled_pth/w.pth": "deit",
    "hf_vit": "hf_vit",
    "hf_dinov2": "hf_dinov2",
    "hf_deit_distilled": "hf_deit",
}


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_another_code_is_refused_by_every_format(file, model, refused, tmp_path):
    own = SOURCES[FILES[file]].tables["ViT"]
    path = FIXTURES / file
    bare = path  # without a config.json that tells what it is
    if path.is_dir():
        bare = tmp_path / "model.safetensors"
        shutil.copy(path / "model.safetensors", bare)
    foreign = [name for name in OF_A_VIT if SOURCES[name].tables["ViT"] is not own]
    assert len(foreign) >= 4
    for format in foreign:
        refused(path, "is not of the format|says of itself|does not fit", format=format)
        refused(bare, "is not of the format|does not fit", format=format)


@pytest.mark.parametrize("format", sorted(set(OF_A_VIT) - {"jax", "big_vision"}))
def test_a_jax_file_is_refused_by_every_other_format(format, refused):
    refused(ARRAYS, f"is not of the format '{format}'", format=format)


def test_names_of_dinov2_are_not_those_of_a_vit_even_where_all_conventions_are_accepted(tmp_path):
    """Their tables share the patch kernel, the tokens and the attention."""
    shutil.copy(FIXTURES / "hf_dinov2" / "model.safetensors", tmp_path)
    other = build(layer_scale=1.0, mlp_dim=48, num_classes=0)
    before = bits(other)
    accept = ("activation", "norm_epsilon", "preprocessing", "pooling")
    with pytest.raises(ValueError, match="lacks 8 of the model's weights; .*block_0/norm1/gamma"):
        load(other, tmp_path, "hf_vit", accept=accept)
    assert bits(other) == before


def test_another_number_of_classes_needs_a_word(refused, tmp_path):
    path = write(tmp_path, checkpoint(classes=5))
    refused(path, "7 classes, where the file has 5. To keep it, pass `new_head=True`")
    refused(write(tmp_path, checkpoint(classes=0)), "7 classes, where the file has no head")


@pytest.mark.parametrize("classes", [5, 0])
def test_a_new_head_stays_as_it_was(classes, tmp_path):
    other = build(head_bias=-3.0)
    other.get_layer("head").kernel.assign(np.arange(24 * 7).reshape(24, 7))
    before = state(other)
    report = load(other, write(tmp_path, checkpoint(classes=classes)), "jax", new_head=True)
    after = state(other)
    for path in before:
        assert np.array_equal(before[path], after[path]) == (path in HEAD), path
    told = f"7 classes, where the file has {classes or 'no head'}"
    assert report.new == dict.fromkeys(HEAD, told)
    assert report.notes == (f"The head is new: {told}.",)
    reason = "this model was asked to do without it"
    assert report.unused == (dict.fromkeys(HEAD, reason) if classes else {})
    assert report.remarks[0] == report.notes[0]


def test_both_heads_of_a_distilled_model_are_new():
    other = create_model("deit_ti16", **{**oracle.SIZES, "image_size": 20, "patch_size": 4})
    report = load(other, FIXTURES / "hf_deit_distilled", new_head=True, accept=("norm_epsilon",))
    heads = {
        f"{head}/{kind}" for head in ("head", "head_distillation") for kind in ("kernel", "bias")
    }
    assert set(report.new) == heads


def test_a_model_without_a_head_does_without_the_files(tmp_path):
    other = build(num_classes=0)
    report = load(other, write(tmp_path, ARRAYS), "jax")
    assert report.unused == dict.fromkeys(HEAD, "this model was asked to do without it")
    assert report.new == {} and report.notes == ()
    np.testing.assert_array_equal(
        state(other)["norm/beta"], ARRAYS["Transformer/encoder_norm/bias"]
    )


def test_a_head_of_zeros_is_told(tmp_path):
    arrays = ARRAYS | {name: np.zeros_like(ARRAYS[name]) for name in HEAD}
    report = load(build(), write(tmp_path, arrays), "jax")
    assert report.notes == ("The head is all zeros in the file: it knows no classes.",)


def test_optimizer_and_text_tower_are_not_used_and_no_error(tmp_path):
    image = checkpoint(**BIG_VISION, pool="map")
    unused = {
        "opt/0/count": np.array(3),
        "opt/1/mu/img/head/kernel": np.ones((24, 7), "float32"),
        "chrono/accum_train_time": np.array(3.5),
        "params/txt/head/kernel": np.ones((5, 7), "float32"),
        "params/t": np.array([2.0]),
        "params/b": np.array([-9.0]),
    }
    arrays = {f"params/img/{name}": x for name, x in image.items()} | unused
    other = build(pooling="map", class_token=False)
    report = load(other, write(tmp_path, arrays), "big_vision")
    assert set(report.unused) == set(unused)
    assert "optimizer" in report.unused["opt/1/mu/img/head/kernel"]
    assert "text tower" in report.unused["params/t"]
    np.testing.assert_array_equal(state(other)["pool/probe"], image["MAPHead_0/probe"])


def test_what_was_asked_for_and_is_not_in_the_file_is_new(tmp_path):
    """JAX files know no registers and no LayerScale: a model may add them for its own training."""
    fields = {"registers": 2, "layer_scale": 0.1}
    other = build(**fields)
    before = state(other)
    with pytest.raises(ValueError, match="registers: .* 2, .*need 0"):
        load(other, write(tmp_path, ARRAYS), "jax", accept=("layer_scale",))
    report = load(other, write(tmp_path, ARRAYS), "jax", accept=tuple(fields))
    scales = {f"block_{i}/scale{n}/gamma" for i in range(2) for n in (1, 2)}
    assert set(report.new) == {"patch_encoder/registers", *scales}
    assert (
        report.new["patch_encoder/registers"] == "`registers` was asked to differ from the file's"
    )
    after = state(other)
    for path in before:
        assert np.array_equal(before[path], after[path]) == (path in report.new), path


def test_create_model_may_ask_for_what_the_file_has_not(tmp_path):
    fields = {"image_size": 20, "registers": 2, "pooling": "gap", "class_token": False}
    other = create_model(
        "vit_ti16",
        weights=write(tmp_path, ARRAYS),
        weights_format="jax",
        **oracle.SIZES,
        **fields,
    )
    report = other.weights_report
    assert set(report.new) == {"patch_encoder/registers"}
    assert report.unused == {"cls": "this model was asked to do without it"}
    position = ARRAYS["Transformer/posembed_input/pos_embedding"]
    np.testing.assert_array_equal(state(other)["patch_encoder/position"], position[:, 1:])


@pytest.mark.parametrize("resize", [None, "bilinear", "bicubic_antialias"])
def test_positions_are_resized_as_asked_or_as_the_source_does(resize, tmp_path):
    other = build(image_size=(12, 28))
    report = load(other, write(tmp_path, ARRAYS), "jax", resize=resize)
    table = ARRAYS["Transformer/posembed_input/pos_embedding"].astype("float64")
    expected = resize_grid(table[:, 1:], (5, 5), (3, 7), resize or "jax")
    expected = np.concatenate([table[:, :1], expected], axis=1).astype("float32")
    np.testing.assert_array_equal(state(other)["patch_encoder/position"], expected)
    note = f"resized from 5×5 to 3×7 ({resize or 'jax'})"
    assert report.filled["patch_encoder/position"][2] == note
    assert f"patch_encoder/position: {note}." in report.remarks


def test_an_unknown_resize_is_an_error_even_where_nothing_is_resized(refused):
    refused(ARRAYS, "`resize` must be one of .*Received: 'cubic'", resize="cubic")


def test_patch_kernels_are_resized(tmp_path):
    """Positions fixed, so that nothing tells the file's image size; 4 does not divide 18."""
    arrays = checkpoint(**BIG_VISION, pool="gap", learned=False)
    fields = {"position": "sincos2d", "pooling": "gap", "class_token": False}
    other = build(patch_size=(6, 9), image_size=18, **fields)
    report = load(other, write(tmp_path, arrays), "big_vision")
    kernel = arrays["embedding/kernel"].astype("float64")
    expected = resize_patches(kernel, (6, 9), "bilinear_antialias").reshape(-1, 24)
    found = state(other)["patch_encoder/projection/kernel"]
    np.testing.assert_array_equal(found, expected.astype("float32"))
    note = "patches resized from 4×4 to 6×9 (pseudo-inverse, bilinear_antialias)"
    assert report.filled["patch_encoder/projection/kernel"][2] == note


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "mixed_bfloat16"])
def test_weights_are_rounded_to_the_models_dtype(dtype, tmp_path):
    other = build(dtype=dtype, image_size=28)
    load(other, write(tmp_path, ARRAYS), "jax")
    stored = {"bfloat16": ml_dtypes.bfloat16, "mixed_bfloat16": np.float32}.get(dtype, np.float16)
    found = {v.path: np.asarray(keras.ops.convert_to_numpy(v)) for v in other.weights}
    assert {x.dtype for x in found.values()} == {np.dtype(stored)}
    kernel = ARRAYS["Transformer/encoderblock_1/MlpBlock_3/Dense_0/kernel"]
    np.testing.assert_array_equal(found["block_1/mlp/fc1/kernel"], kernel.astype(stored))


def test_each_stack_of_blocks_is_read_once_and_used_up_before_the_next(monkeypatch):
    arrays, whole, slices = oracle.stacked(checkpoint(**BIG_VISION, pool="gap")), [], []

    def logged(read, log):
        return lambda name: log.append(name) or read(name)

    shapes = {name: x.shape for name, x in arrays.items()}
    archive = Archive("w.npz", shapes, logged(arrays.__getitem__, whole))
    monkeypatch.setattr("keras_vit.weights.checkpoint.open_archive", lambda path: archive)
    other = build(class_token=False, pooling="gap")
    opened = open_checkpoint("w.npz", type(other), "big_vision")
    read = dataclasses.replace(opened.archive, read=logged(opened.archive.read, slices))
    fill(other, dataclasses.replace(opened, archive=read))
    assert sorted(whole) == sorted(arrays)
    for name in slices:
        if "block_0" in name:  # query, key and value are used up together
            distance = slices.index(name.replace("block_0", "block_1")) - slices.index(name)
            assert distance == (3 if re.search("(query|key|value)/", name) else 1), name
    scale = arrays["Transformer/encoderblock/LayerNorm_1/scale"]
    np.testing.assert_array_equal(state(other)["block_1/norm2/gamma"], scale[1])


def test_a_quantised_model_is_refused(tmp_path):
    other = build()
    other.get_layer("head").quantize("int8")
    before = bits(other)
    with pytest.raises(ValueError, match="head/kernel is none: load before .* quantised"):
        load(other, write(tmp_path, ARRAYS), "jax")
    assert bits(other) == before
