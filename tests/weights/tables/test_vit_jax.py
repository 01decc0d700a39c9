"""Files with the JAX codes' published names give those codes' logits."""

import re

import keras
import ml_dtypes
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.models import ViTConfig
from keras_vit.weights.archives import Archive
from keras_vit.weights.tables.vit_jax import TABLE
from tests.oracles import jax_vit_numpy as oracle

NATIVE, LARGER, RECTANGLE = (20, 20), (28, 28), (12, 36)


def prefixed(prefix):
    return lambda arrays: {f"{prefix}{name}": x for name, x in arrays.items()}


def with_optimizer(arrays):
    moments = {f"opt/state/param_states/{name}/grad_ema": x for name, x in arrays.items()}
    return prefixed("opt/target/")(arrays) | moments | {"opt/state/step": np.array(3)}


def with_text_tower(arrays):
    text = {"params/txt/Embed_0/embedding": np.ones((5, 7), "float32")}
    return (
        prefixed("params/img/")(arrays)
        | text
        | {"params/t": np.ones(1), "params/b": np.ones(1), "opt/0/count": np.array(3)}
    )


def raw_bfloat16(arrays):
    """What is left of a bfloat16 array in an `.npz`: two bytes an item, and no type."""
    return {name: x.astype(ml_dtypes.bfloat16) for name, x in arrays.items()}


BIG_VISION = {"code": "big_vision"}
# Name -> (what makes the arrays, how the file keeps them, the format).
CASES = {
    "vit_jax": ({}, dict, "jax"),
    "vit_jax_pre_logits": ({"representation": 11}, dict, "jax"),
    "vit_jax_no_head": ({"classes": 0}, prefixed("target/"), "jax"),
    "map_two_towers": ({**BIG_VISION, "pool": "map"}, with_text_tower, "big_vision"),
    "token": ({**BIG_VISION, "pool": "tok"}, prefixed("params/"), "big_vision"),
    "gap_sincos": (
        {**BIG_VISION, "pool": "gap", "learned": False, "representation": 11},
        with_optimizer,
        "big_vision",
    ),
    "gap_scan": (
        {**BIG_VISION, "pool": "gap"},
        lambda arrays: prefixed("params/")(oracle.stacked(arrays)),
        "big_vision",
    ),
    "token_bfloat16": ({**BIG_VISION, "pool": "tok"}, raw_bfloat16, "big_vision"),
}


def write(path, arrays):
    np.savez(path, **arrays)
    return path


def build(path, format, size, **fields):
    fields = {**oracle.SIZES, "image_size": size, **fields}
    return create_model("vit_ti16", weights=path, weights_format=format, **fields)


def relative_difference(ours, theirs):
    return np.abs(np.asarray(ours) - theirs).max() / np.abs(theirs).max()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", (NATIVE, LARGER, RECTANGLE), ids=str)
def test_logits_are_those_of_the_jax_code(name, size, tmp_path):
    options, kept, format = CASES[name]
    arrays = oracle.checkpoint(np.random.default_rng(7), **options)
    if kept is raw_bfloat16:
        arrays = {n: x.astype(ml_dtypes.bfloat16).astype("float32") for n, x in arrays.items()}
    path = write(tmp_path / "weights.npz", kept(arrays))
    if kept is raw_bfloat16:
        with np.load(path) as stored:
            assert stored["embedding/bias"].dtype == np.dtype("V2")
    images = np.random.default_rng(8).standard_normal((2, *size, 3)).astype("float32")
    call = {key: options[key] for key in ("code", "pool") if key in options}
    expected = oracle.forward(arrays, images, **call, sincos=not options.get("learned", True))
    for dtype, tolerance in (("float64", 1e-10), ("float32", 1e-5)):
        model = build(path, format, size, dtype=dtype)
        ours = keras.ops.convert_to_numpy(model(images.astype(dtype), training=False))
        assert ours.dtype == dtype
        assert relative_difference(ours, expected) < tolerance


def test_the_published_original_has_just_these_names():
    """The 200 arrays of `ViT-B_16.npz` fine-tuned, and 202 before, as listed with it."""
    block = [
        *(f"LayerNorm_{n}/{kind}" for n in (0, 2) for kind in ("scale", "bias")),
        *(
            f"MultiHeadDotProductAttention_1/{part}/{kind}"
            for part in ("query", "key", "value", "out")
            for kind in ("kernel", "bias")
        ),
        *(f"MlpBlock_3/Dense_{n}/{kind}" for n in (0, 1) for kind in ("kernel", "bias")),
    ]
    published = {
        "cls",
        "Transformer/posembed_input/pos_embedding",
        "embedding/kernel",
        "embedding/bias",
        "Transformer/encoder_norm/scale",
        "Transformer/encoder_norm/bias",
        "head/kernel",
        "head/bias",
        *(f"Transformer/encoderblock_{i}/{name}" for i in range(12) for name in block),
    }
    assert len(published) == 200
    config = ViTConfig()
    assert written_names(config) == published
    config = ViTConfig(representation_size=768)
    assert written_names(config) == published | {"pre_logits/kernel", "pre_logits/bias"}
    archive = Archive("file", {name: (1, 2, 3, 4) for name in published}, None)
    assert set(TABLE.canonical(archive).shapes) == canonical_names(ViTConfig())


def canonical_names(config):
    return {name for entry in TABLE.entries(config) for name in entry.options[0][0]}


def written_names(config):
    return {TABLE.written(config, name) for name in canonical_names(config)}


@pytest.mark.parametrize("pooling, token", [("gap", False), ("map", False), ("token", True)])
def test_big_visions_names_are_written_where_the_class_token_has_no_position(pooling, token):
    config = ViTConfig(depth=2, pooling=pooling, class_token=token, class_position=False)
    pool = {"token": "tok"}.get(pooling, pooling)
    assert written_names(config) == set(oracle.shapes(code="big_vision", pool=pool))


def test_facts_are_read_off_the_shapes():
    shapes = oracle.shapes(representation=11, patch=(4, 6), channels=5, depth=3)
    facts = TABLE.facts(TABLE.canonical(Archive("file", shapes, None)))
    assert facts == {
        "width": 24,
        "channels": 5,
        "patch_size": (4, 6),
        "depth": 3,
        "num_heads": 3,
        "mlp_dim": 43,
        "class_token": True,
        "registers": 0,
        "position_rows": 26,
        "layer_scale": False,
        "representation_size": 11,
        "num_classes": 7,
        "pooling": "token",
    }
    shapes = oracle.shapes(code="big_vision", pool="map", learned=False, classes=0)
    facts = TABLE.facts(TABLE.canonical(Archive("file", shapes, None)))
    expected = {"class_token": False, "position_rows": 0, "num_classes": 0, "pooling": "map"}
    assert facts | expected == facts
    assert facts["representation_size"] is None


def test_every_array_of_a_stack_is_read_once_and_let_go():
    arrays = oracle.stacked(oracle.checkpoint(np.random.default_rng(1), **BIG_VISION))
    reads = []

    def read(name):
        reads.append(name)
        return arrays[name]

    shapes = {name: x.shape for name, x in arrays.items()}
    archive = TABLE.canonical(Archive("file", shapes, read))
    stack = "Transformer/encoderblock/MlpBlock_0/Dense_0/kernel"
    for _ in range(2):
        for index in range(oracle.DEPTH):
            name = stack.replace("block/", f"block_{index}/", 1)
            assert archive.shapes[name] == (24, 43)
            np.testing.assert_array_equal(archive.read(name), arrays[stack][index])
    assert reads == [stack] * 2


@pytest.mark.parametrize(
    "name, reason",
    [
        ("opt/0/1/mu/img/head/kernel", "optimizer"),
        ("chrono/accum_train_time", "optimizer"),
        ("params/txt/head/kernel", "text tower"),
        ("txt/head/kernel", "text tower"),
        ("params/t", "temperature"),
        ("b", "temperature"),
        ("head/kernel", None),
        ("txtual/kernel", None),
        ("bias", None),
    ],
)
def test_what_no_model_has_a_place_for(name, reason):
    found = TABLE.reason_unused(name)
    assert (found is None) if reason is None else re.search(reason, found)
