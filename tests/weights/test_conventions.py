"""Loading never alters a graph: it says what differs, and how to build the model that fits."""

from pathlib import Path

import keras
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from keras_vit import create_model
from keras_vit.layers import Preprocessing
from keras_vit.weights import ConventionsDiffer, load
from keras_vit.weights.conventions import CONVENTIONS, fitting_call
from tests.oracles import jax_vit_numpy as oracle
from tests.references.weights_cases import CASES

FIXTURES = Path(__file__).parents[1] / "fixtures" / "weights"
TINY = {**oracle.SIZES, "image_size": 20, "patch_size": 4, "num_classes": 7}
BIG_VISION = {"code": "big_vision"}


def jax_file(path, **options):
    arrays = oracle.checkpoint(np.random.default_rng(5), **options)
    np.savez(path / "w.npz", **arrays)
    return path / "w.npz", arrays


def outputs(model, images):
    return keras.ops.convert_to_numpy(model(images.astype(model.dtype), training=False))


def relative_difference(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def draw(size=(20, 20)):
    return np.random.default_rng(6).standard_normal((2, *size, 3)).astype("float32")


def state(model):
    return {variable.path: np.array(variable) for variable in model.weights}


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, {"activation": ("gelu", "gelu_tanh")}),
        (
            {**BIG_VISION, "pool": "gap", "representation": 11},
            {
                "activation": ("gelu", "gelu_tanh"),
                "class_token": (True, False),
                "class_position": (True, False),
                "pooling": ("token", "gap"),
                "representation_size": (None, 11),
            },
        ),
        (
            {**BIG_VISION, "pool": "map", "learned": False},
            {
                "activation": ("gelu", "gelu_tanh"),
                "class_token": (True, False),
                "class_position": (True, False),
                "position": ("learned", "sincos2d"),
                "pooling": ("token", "map"),
            },
        ),
    ],
)
def test_a_default_model_refuses_jax_weights_and_the_printed_call_fits(options, expected, tmp_path):
    path, arrays = jax_file(tmp_path, **options)
    model = create_model("vit_ti16", **TINY)
    before = state(model)
    format = "jax" if not options else "big_vision"
    with pytest.raises(ConventionsDiffer) as raised:
        load(model, path, format)
    error = raised.value
    assert error.differences == expected
    for name, (ours, theirs) in expected.items():
        assert f"  {name}: the model has {ours!r}, the weights need {theirs!r}\n" in str(error)
    assert f"\nA model that fits: {error.call}\n" in str(error) + "\n"
    assert all(np.array_equal(value, before[path]) for path, value in state(model).items())

    fitting = eval(error.call, {"create_model": create_model})
    call = {key: options[key] for key in ("code", "pool") if key in options}
    sincos = not options.get("learned", True)
    images = draw()
    expected = oracle.forward(arrays, images, **call, sincos=sincos)
    assert relative_difference(outputs(fitting, images), expected) < 1e-5
    load(fitting, path, format)  # and it fits where it is loaded into, too


def test_the_printed_call_keeps_what_was_asked_for(tmp_path):
    path, _ = jax_file(tmp_path)
    fields = {**TINY, "num_classes": 3, "image_size": (12, 36), "channels": 3, "norm_epsilon": 1e-5}
    model = create_model("vit_ti16", **fields)
    with pytest.raises(ConventionsDiffer) as raised:
        load(model, path, "jax", new_head=True, accept=("norm_epsilon",))
    assert list(raised.value.differences) == ["activation"]
    fitting = eval(raised.value.call, {"create_model": create_model})
    kept = ("num_classes", "image_size", "norm_epsilon", "patch_size", "mlp_dim")
    for name in kept:
        assert getattr(fitting.config, name) == getattr(model.config, name)
    assert fitting.config.activation == "gelu_tanh"


def test_the_printed_call_keeps_a_patch_size_and_preprocessing_that_were_asked_for(tmp_path):
    path, _ = jax_file(tmp_path)
    pictures = {"crop": 0.7, "resize": "crop", "mean": (0.1, 0.2, 0.3)}
    fields = {**TINY, "patch_size": 10, "preprocessing": Preprocessing(**pictures)}
    model = create_model("vit_ti16", **fields)
    with pytest.raises(ConventionsDiffer) as raised:
        load(model, path, "jax", accept=("preprocessing",))
    fitting = eval(raised.value.call, {"create_model": create_model})
    assert fitting.config.preprocessing == model.config.preprocessing
    assert fitting.config.patch_size == (10, 10)


def test_the_printed_call_names_the_models_own_family():
    model = create_model("deit_ti16", **TINY)
    with pytest.raises(ConventionsDiffer) as raised:
        load(model, FIXTURES / "hf_deit_distilled")
    assert raised.value.differences == {"norm_epsilon": (1e-6, 1e-12)}
    assert raised.value.call.startswith("create_model('deit_")
    fitting = eval(raised.value.call, {"create_model": create_model})
    expected = np.load(FIXTURES / "hf_deit_distilled" / "expected.npz")
    ours = outputs(fitting, expected["images_20x20"])
    assert relative_difference(ours, expected["outputs_20x20"]) < 1e-5


def test_a_published_size_is_called_by_its_name_alone():
    model = create_model("vit_ti16", depth=1, image_size=32)
    sizes = {"width": 384, "depth": 12, "num_heads": 6, "mlp_dim": 1536, "patch_size": (16, 16)}
    fields = {**sizes, "image_size": (32, 32), "mlp": "mlp", "channels": 3}
    found = fitting_call(model, fields, {"weights": "a b.npz"})
    assert found == "create_model('vit_s16', weights='a b.npz')"
    found = fitting_call(model, {**fields, "image_size": (224, 224)}, {})
    assert found == "create_model('vit_s16', image_size=(32, 32))"


def test_another_size_is_a_difference_too(tmp_path):
    path, _ = jax_file(tmp_path)
    model = create_model("vit_ti16", **{**TINY, "depth": 1, "mlp_dim": 47}, activation="gelu_tanh")
    with pytest.raises(ConventionsDiffer) as raised:
        load(model, path, "jax", accept=CONVENTIONS)
    assert raised.value.differences == {"depth": (1, 2), "mlp_dim": (47, 43)}


@pytest.mark.parametrize(
    "changed",
    [
        {"mean": (0.4, 0.5, 0.5)},
        {"std": (0.5, 0.5, 0.4)},
        {"resize": "squash"},
        {"crop": 0.875},
        {"interpolation": "bilinear"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_preprocessing_must_be_the_files(changed):
    timm = {"resize": "crop", "crop": 0.9, "interpolation": "bicubic"}
    sizes = {**TINY, "mlp_dim": 48}
    model = create_model("vit_ti16", **sizes, preprocessing=Preprocessing(**{**timm, **changed}))
    file = FIXTURES / "timm_token" / "model.safetensors"
    with pytest.raises(ConventionsDiffer) as raised:
        load(model, file, "timm")
    ((name, (ours, theirs)),) = raised.value.differences.items()
    assert name == "preprocessing"
    (key,) = changed
    assert (ours[key], theirs[key]) == (changed[key], {**theirs, **timm}[key])
    assert {k for k in ours if ours[k] != theirs[k]} == {key}
    load(model, file, "timm", accept=("preprocessing",))


def test_names_of_classes_are_no_difference():
    named = Preprocessing(resize="crop", crop=0.9, interpolation="bicubic", class_names="abcdefg")
    model = create_model("vit_ti16", **{**TINY, "mlp_dim": 48}, preprocessing=named)
    load(model, FIXTURES / "timm_token" / "model.safetensors", "timm")


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({"activation": "quick_gelu"}, ("quick_gelu", "gelu")),
        ({"norm_epsilon": 1e-5}, (1e-5, 1e-6)),
        ({"class_position": False}, (False, True)),
        ({"registers": 2}, (2, 0)),
        ({"position": "none"}, ("none", "learned")),
        ({"position": "relative"}, ("relative", "learned")),
        ({"attention": "performer"}, ("performer", "softmax")),
        ({"layer_scale": 0.1}, (True, False)),
        ({"pooling": "gap"}, ("gap", "token")),
        ({"representation_size": 11}, (11, None)),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_each_convention_is_refused_and_may_be_accepted(fields, expected):
    (name,) = fields
    pictures = Preprocessing(resize="crop", crop=0.9, interpolation="bicubic")
    sizes = {**TINY, "mlp_dim": 48, "preprocessing": pictures}
    if name == "representation_size":  # then the head is of another size, too
        sizes["num_classes"] = 0
    model = create_model("vit_ti16", **sizes, **fields)
    file = FIXTURES / "timm_token" / "model.safetensors"
    before = state(model)
    with pytest.raises(ConventionsDiffer) as raised:
        load(model, file, "timm")
    assert raised.value.differences == {name: expected}
    assert all(np.array_equal(value, before[path]) for path, value in state(model).items())
    report = load(model, file, "timm", accept=(name,))
    assert set(report.filled) | set(report.new) == set(before)
    for path in report.new:
        assert name in report.new[path]
    kernel = load_file(file)["blocks.1.mlp.fc2.weight"].T
    np.testing.assert_array_equal(state(model)["block_1/mlp/fc2/kernel"], kernel)


def test_accept_knows_its_words():
    model = create_model("vit_ti16", **TINY)
    with pytest.raises(ValueError, match="`accept` may hold activation, .*Received: 'gelu'"):
        load(model, FIXTURES / "hf_vit", accept=("gelu",))


@pytest.mark.parametrize("options", [{}, {**BIG_VISION, "pool": "tok"}], ids=["jax", "big_vision"])
@pytest.mark.parametrize("class_position", [True, False])
def test_a_class_token_with_or_without_a_position_computes_the_same(
    options, class_position, tmp_path
):
    path, arrays = jax_file(tmp_path, **options)
    for size in ((20, 20), (12, 36)):
        fields = {**TINY, "image_size": size, "activation": "gelu_tanh", "dtype": "float64"}
        model = create_model("vit_ti16", **fields, class_position=class_position)
        load(model, path, "big_vision", accept=("class_position",))
        images = draw(size)
        expected = oracle.forward(arrays, images, **options)
        assert relative_difference(outputs(model, images), expected) < 1e-10


@pytest.mark.parametrize("class_position", [True, False])
@pytest.mark.parametrize("size", [(20, 20), (12, 36)], ids=str)
def test_registers_with_positions_compute_the_same(size, class_position):
    assert CASES["timm_registers"]["arguments"]["reg_tokens"] == 3
    folder = FIXTURES / "timm_registers"
    pictures = Preprocessing(resize="crop", crop=0.9, interpolation="bicubic")
    fields = {**TINY, "mlp_dim": 48, "image_size": size, "registers": 3, "layer_scale": 1.0}
    model = create_model(
        "vit_ti16", **fields, class_position=class_position, preprocessing=pictures, dtype="float64"
    )
    file = folder / "model.safetensors"
    assert load_file(file)["pos_embed"].shape == (1, 4 + 25, 24)
    report = load(model, file, "timm", accept=("class_position",))
    assert report.filled["patch_encoder/registers"][2] == "its position added to it"
    expected, key = np.load(folder / "expected.npz"), f"{size[0]}x{size[1]}"
    ours = outputs(model, expected[f"images_{key}"])
    tolerance = 1e-10 if size == (20, 20) else 1e-7  # timm resizes positions in float32
    assert relative_difference(ours, expected[f"outputs_{key}"]) < tolerance


@pytest.mark.parametrize("registers", [0, 2])
def test_a_model_without_a_class_token_has_no_row_for_it(registers, tmp_path):
    """`class_position` is True by default, and means nothing there."""
    arrays = load_file(FIXTURES / "timm_map" / "model.safetensors")
    expected = np.load(FIXTURES / "timm_map" / "expected.npz")
    if registers:
        rows = np.random.default_rng(1).standard_normal((1, registers, 24)).astype("float32")
        arrays["pos_embed"] = np.concatenate([rows, arrays["pos_embed"]], axis=1)
        arrays["reg_token"] = rows * 3
    save_file(arrays, tmp_path / "w.safetensors")
    pictures = Preprocessing(resize="crop", crop=0.9, interpolation="bicubic")
    fields = {**TINY, "mlp_dim": 48, "class_token": False, "pooling": "map"}
    model = create_model("vit_ti16", **fields, registers=registers, preprocessing=pictures)
    assert model.config.class_position
    load(model, tmp_path / "w.safetensors", "timm")
    if registers:
        np.testing.assert_allclose(state(model)["patch_encoder/registers"], rows * 4, rtol=1e-6)
        return
    ours = outputs(model, expected["images_20x20"])
    assert relative_difference(ours, expected["outputs_20x20"]) < 1e-5
