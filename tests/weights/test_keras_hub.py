"""KerasHub's models, all weights random, compute what ours compute; nothing is downloaded."""

import sys

import keras
import numpy as np
import pytest

from keras_vit.layers.activations import gelu
from keras_vit.models import DeiT, DINOv2, ViT, ViTConfig
from keras_vit.weights import from_keras_hub, resize_grid, to_keras_hub
from keras_vit.weights.keras_hub import _variables

# Keras's attention rounds 1 / sqrt(head size) to float32: heads of 4 make it exactly 0.5.
SIZES = {"width": 12, "depth": 2, "num_heads": 3, "mlp_dim": 37}
RECTANGLE = {"image_size": (14, 35), "patch_size": (7, 5), "channels": 5, **SIZES}
SQUARE = {"image_size": 21, "patch_size": 7, "channels": 5, "num_classes": 0, **SIZES}
CLASSES = {"num_classes": 11}
NO_CLASSES = {"num_classes": 0, "pooling": "none"}
SWIGLU = {"mlp": "swiglu", "activation": "silu", "mlp_dim": 24}
HALF = {"mean": (0.4, 0.5, 0.6, 0.1, 0.2), "std": (0.2, 0.3, 0.4, 0.3, 0.5)}
# Ours, and whether a round trip through KerasHub restates something that computes the same.
OURS = {
    "vit_backbone": {**RECTANGLE, **NO_CLASSES},
    "vit_backbone_no_class_token": {**RECTANGLE, **NO_CLASSES, "class_token": False},
    "vit": {**RECTANGLE, **CLASSES, "norm_epsilon": 1e-3, "preprocessing": HALF},
    "vit_gap": {**RECTANGLE, **CLASSES, "class_token": False, "pooling": "gap"},
    "vit_representation": {**RECTANGLE, **CLASSES, "representation_size": 13},
    "vit_dropouts": {**RECTANGLE, **CLASSES, "dropout": 0.1, "attention_dropout": 0.2},
    "deit_backbone": {**RECTANGLE, **NO_CLASSES, "registers": 1},
    "deit": {**RECTANGLE, **CLASSES, "registers": 1, "norm_epsilon": 1e-5},
    "dinov2": {**SQUARE, **NO_CLASSES, "layer_scale": 0.1},
    "dinov2_registers": {**SQUARE, **NO_CLASSES, "layer_scale": 0.1, "registers": 4},
    "dinov2_swiglu": {**SQUARE, **NO_CLASSES, "layer_scale": 0.1, **SWIGLU},
}


@pytest.fixture
def hub():
    import keras_hub

    yield keras_hub.models
    keras.backend.clear_session()


@pytest.fixture(params=["float32", "float64"])
def precision(request):
    """The global dtype policy, which KerasHub's `pre_logits` takes, and the tolerance."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(request.param)
    yield {"float32": 1e-5, "float64": 1e-10}[request.param]
    keras.config.set_dtype_policy(before)


def randomised(model, seed=0):
    """Every weight N(0, 0.15), norms around one, in values that float32 holds exactly."""
    generator = np.random.default_rng(seed)
    for variable in model.weights:
        if variable.dtype.startswith("float"):
            value = generator.normal(0.0, 0.15, variable.shape).astype("float32")
            variable.assign(value + np.float32(variable.path.endswith("gamma")))
    return model


def ours(name):
    model_class = DINOv2 if "dinov2" in name else ViT
    return randomised(model_class(ViTConfig(**OURS[name])))


def backbone(hub, kind, **fields):
    """A small backbone of KerasHub's."""
    shared = {"num_layers": 2, "num_heads": 3, "hidden_dim": 12}
    plain = {"image_shape": (14, 35, 5), "patch_size": (7, 5), **shared}
    if kind == "vit":
        return randomised(hub.ViTBackbone(**{**plain, "mlp_dim": 37, **fields}))
    if kind == "deit":
        return randomised(hub.DeiTBackbone(**{**plain, "intermediate_dim": 37, **fields}))
    sizes = {"image_shape": (21, 21, 5), "position_embedding_shape": (21, 21), "patch_size": 7}
    model = randomised(hub.DINOV2Backbone(**{**shared, **sizes, "intermediate_dim": 37, **fields}))
    embeddings = model.embeddings
    if embeddings.image_shape == embeddings.position_embedding_shape:
        # What it computes with, and what it saves: the same where nothing was resized.
        embeddings.position_embeddings.assign(embeddings.interpolated_position_embeddings)
    return model


def theirs(hub, name):
    """The models of KerasHub's that are converted, by name."""
    if name == "vit":
        return randomised(hub.ViTImageClassifier(backbone(hub, "vit"), 11))
    if name == "vit_representation":
        inner = backbone(hub, "vit", layer_norm_epsilon=1e-3)
        return randomised(hub.ViTImageClassifier(inner, 11, intermediate_dim=13))
    if name == "vit_gap":
        inner = backbone(hub, "vit", use_class_token=False)
        return randomised(hub.ViTImageClassifier(inner, 11, pooling="gap"))
    if name == "deit":
        return randomised(hub.DeiTImageClassifier(backbone(hub, "deit"), 11))
    if name == "dinov2_resized":
        sizes = {"image_shape": (14, 14, 5), "num_register_tokens": 4, "use_swiglu_ffn": True}
        return backbone(hub, "dinov2", **sizes, name="named")
    return backbone(hub, name.removesuffix("_backbone"))


THEIRS = (
    "vit",
    "vit_representation",
    "vit_gap",
    "vit_backbone",
    "deit",
    "deit_backbone",
    "dinov2_backbone",
    "dinov2_resized",
)


def outputs(model, images):
    """What a model gives; in float64 with a GELU of float64.

    TensorFlow 2.21 rounds the constants of its GELU to float32: KerasHub's would be off by 5e-9.
    """
    for layer in model._flatten_layers():
        if isinstance(layer, keras.layers.Dense) and layer.activation is keras.activations.gelu:
            layer.activation = gelu
    named = isinstance(model.input, dict)
    return keras.ops.convert_to_numpy(model({"images": images} if named else images))


def images_for(model):
    shape = getattr(model, "backbone", model).input
    shape = shape["images"].shape if isinstance(shape, dict) else shape.shape
    return np.random.default_rng(7).normal(size=(2, *shape[1:])).astype("float32")


def relative_difference(found, expected):
    assert found.shape == expected.shape
    return np.abs(found - expected).max() / np.abs(expected).max()


def arrays(model):
    return {v.path: keras.ops.convert_to_numpy(v) for v in model.weights}


def assert_same_arrays(found, expected):
    assert found.keys() == expected.keys()
    for path, value in expected.items():
        np.testing.assert_array_equal(found[path], value, err_msg=path)


@pytest.mark.parametrize("call", [from_keras_hub, to_keras_hub])
def test_without_kerashub_the_extra_is_named(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_hub", None)
    model = ViT(ViTConfig(**OURS["vit_backbone"]))
    with pytest.raises(ImportError, match=r"pip install 'keras-vit-kit\[hub\]'"):
        call(model)


@pytest.mark.prove
@pytest.mark.parametrize("name", THEIRS)
def test_theirs_become_ours(hub, precision, name):
    model = theirs(hub, name)
    converted = from_keras_hub(model)
    assert type(converted) is (DINOv2 if "dinov2" in name else ViT)
    assert converted.policy.name == keras.config.dtype_policy().name
    images = images_for(model)
    expected = outputs(model, images)
    assert relative_difference(outputs(converted, images), expected) < precision


@pytest.mark.prove
@pytest.mark.parametrize("name", OURS)
def test_ours_become_theirs(hub, precision, name):
    model = ours(name)
    converted = to_keras_hub(model)
    images = images_for(model)
    expected = outputs(model, images)
    assert relative_difference(outputs(converted, images), expected) < precision


@pytest.mark.prove
@pytest.mark.parametrize("name", OURS)
def test_ours_come_back_bit_for_bit(hub, name):
    model = ours(name)
    back = from_keras_hub(to_keras_hub(model))
    assert type(back) is type(model)
    assert_same_arrays(arrays(back), arrays(model))
    assert back.config == model.config


@pytest.mark.prove
@pytest.mark.parametrize("name", [name for name in THEIRS if "deit" not in name])
def test_theirs_come_back_bit_for_bit(hub, name):
    model = theirs(hub, name)
    back = to_keras_hub(from_keras_hub(model))
    found, expected = (
        {name: keras.ops.convert_to_numpy(v) for name, v in _variables(m).items()}
        for m in (back, model)
    )
    # The table before KerasHub's own resizing and a token of pre-training: ours have neither.
    for lost in ("embeddings/position_embeddings", "embeddings/mask_token"):
        expected.pop(lost, None), found.pop(lost, None)
    assert_same_arrays(found, expected)
    assert type(back) is type(model)


@pytest.mark.prove
def test_the_distillation_tokens_position_is_added_to_it(hub):
    model = backbone(hub, "deit")
    converted = from_keras_hub(model)
    embeddings = {v.name: keras.ops.convert_to_numpy(v) for v in model.layers[1].weights}
    expected = embeddings["distillation_token"] + embeddings["position_embedding"][:, 1:2]
    found = arrays(converted)
    np.testing.assert_array_equal(found["patch_encoder/registers"], expected)
    np.testing.assert_array_equal(
        found["patch_encoder/position"], np.delete(embeddings["position_embedding"], 1, axis=1)
    )
    assert any("position added" in line for line in converted.weights_report.remarks)


@pytest.mark.prove
def test_tokens_without_a_position_get_one_of_zero(hub):
    fields = {**OURS["deit"], "class_position": False}
    model = randomised(ViT(ViTConfig(**fields)))
    converted = to_keras_hub(model)
    images = images_for(model)
    assert relative_difference(outputs(converted, images), outputs(model, images)) < 1e-5
    position = next(v for v in converted.weights if v.path.endswith("position_embedding"))
    assert not keras.ops.convert_to_numpy(position)[:, :2].any()


@pytest.mark.prove
def test_conventions_follow_kerashubs_arguments(hub):
    inner = backbone(hub, "vit", layer_norm_epsilon=1e-3, dropout_rate=0.1, attention_dropout=0.2)
    config = from_keras_hub(hub.ViTImageClassifier(inner, 11, intermediate_dim=13)).config
    assert config == ViTConfig(
        **{**RECTANGLE, **CLASSES},
        norm_epsilon=1e-3,
        dropout=0.1,
        attention_dropout=0.2,
        representation_size=13,
    )
    config = from_keras_hub(theirs(hub, "dinov2_resized")).config
    fields = {**SQUARE, **NO_CLASSES, **SWIGLU, "image_size": 14, "registers": 4}
    assert config == ViTConfig(**fields, layer_scale=1.0)


@pytest.mark.prove
def test_the_policy_goes_along(hub):
    model = backbone(hub, "vit", dtype="mixed_bfloat16")
    converted = from_keras_hub(model)
    assert converted.policy.name == "mixed_bfloat16"
    assert to_keras_hub(converted).dtype_policy.name == "mixed_bfloat16"
    assert from_keras_hub(backbone(hub, "deit", dtype="bfloat16")).policy.name == "bfloat16"


@pytest.mark.prove
def test_a_saved_model_is_converted_as_well(hub, tmp_path):
    for name in ("vit", "dinov2_backbone"):
        model = theirs(hub, name)
        model.save(tmp_path / "model.keras")
        again = keras.saving.load_model(tmp_path / "model.keras", compile=False)
        assert_same_arrays(arrays(from_keras_hub(again)), arrays(from_keras_hub(model)))


@pytest.mark.prove
def test_another_image_size(hub):
    model = theirs(hub, "vit_backbone")
    converted = from_keras_hub(model, image_size=(21, 25))
    assert converted.config.image_size == (21, 25)
    table = arrays(from_keras_hub(model))["patch_encoder/position"]
    found = arrays(converted)["patch_encoder/position"]
    np.testing.assert_array_equal(found[:, 0], table[:, 0])
    expected = resize_grid(table[:, 1:], (2, 7), (3, 5), "bicubic")
    np.testing.assert_array_equal(found[:, 1:], expected)


@pytest.mark.prove
def test_a_dinov2_with_registers_is_resized_as_kerashub_resizes_it(hub):
    fields = {"num_register_tokens": 4, "antialias_in_interpolation": True}
    model = backbone(hub, "dinov2", **fields)
    smaller = hub.DINOV2Backbone.from_config({**model.get_config(), "image_shape": (14, 14, 5)})
    embeddings = model.embeddings
    # A saved layer keeps the table of its training and resizes it as it is loaded.
    store = {}
    embeddings.save_own_variables(store)
    layer = smaller.embeddings
    layer.load_own_variables({key: np.asarray(value) for key, value in store.items()})
    expected = keras.ops.convert_to_numpy(layer.interpolated_position_embeddings)
    found = arrays(from_keras_hub(model, image_size=14))["patch_encoder/position"]
    assert relative_difference(found, expected) < 1e-6


@pytest.mark.prove
def test_the_preprocessor_normalises_as_ours_does(hub):
    model = ours("vit")
    converted = to_keras_hub(model)
    pixels = np.random.default_rng(3).integers(0, 256, (2, 14, 35, 5)).astype("float32")
    found = keras.ops.convert_to_numpy(converted.preprocessor(pixels))
    expected = keras.ops.convert_to_numpy(model.preprocessing.normalize(pixels))
    assert relative_difference(found, expected) < 1e-6
    assert from_keras_hub(converted).preprocessing == model.preprocessing


@pytest.mark.prove
def test_published_mean_and_std_where_kerashub_says_nothing(hub):
    shape = {"image_shape": (14, 35, 3)}
    assert from_keras_hub(backbone(hub, "vit", **shape)).preprocessing.mean == (0.5, 0.5, 0.5)
    assert from_keras_hub(backbone(hub, "deit", **shape)).preprocessing.mean[0] == 0.485


@pytest.mark.prove
def test_a_pretraining_token_is_reported(hub):
    report = from_keras_hub(backbone(hub, "dinov2")).weights_report
    assert report.source == "keras_hub"
    assert "pre-training" in report.unused["embeddings/mask_token"]


@pytest.mark.prove
@pytest.mark.parametrize(
    "kind, fields, head, words",
    [
        ("vit", {"use_mha_bias": False}, None, ["use_mha_bias"]),
        ("vit", {}, {"activation": "softmax", "dropout": 0.1}, ["activation", "dropout"]),
        ("vit", {}, {"pooling": "gap"}, ["pooling"]),
        ("vit", {"use_class_token": False}, {"pooling": "token"}, ["pooling"]),
        ("deit", {"dropout_rate": 0.1}, None, ["dropout_rate"]),
        ("deit", {}, {"pooling": "gap"}, ["pooling"]),
        ("dinov2", {"drop_path_rate": 0.1}, None, ["drop_path_rate"]),
    ],
)
def test_what_ours_cannot_compute_is_named(hub, kind, fields, head, words):
    model = backbone(hub, kind, **fields)
    if head is not None:
        classifier = {"vit": hub.ViTImageClassifier, "deit": hub.DeiTImageClassifier}[kind]
        model = classifier(model, 11, **head)
    with pytest.raises(ValueError) as caught:
        from_keras_hub(model)
    lines = str(caught.value).splitlines()
    named = [line.split(":")[0].strip() for line in lines if line.startswith("  ")]
    assert named == words


@pytest.mark.prove
@pytest.mark.parametrize(
    "fields, words",
    [
        ({"position": "sincos2d"}, ["position"]),
        ({"activation": "gelu_tanh", "drop_path": 0.1}, ["activation", "drop_path"]),
        ({"pooling": "map"}, ["pooling"]),
        ({"num_classes": 0, "pooling": "map"}, ["pooling"]),
        ({"num_classes": 0, "representation_size": 13}, ["representation_size"]),
        ({"preprocessing": {**HALF, "resize": "crop", "crop": 0.9}}, ["preprocessing"]),
        ({"layer_scale": 0.1}, ["num_classes", "image_size", "patch_size"]),
    ],
)
def test_what_theirs_cannot_compute_is_named(hub, fields, words):
    model = ViT(ViTConfig(**{**RECTANGLE, **CLASSES, **fields}))
    with pytest.raises(ValueError) as caught:
        to_keras_hub(model)
    lines = str(caught.value).splitlines()
    named = [line.split(":")[0].strip() for line in lines if line.startswith("  ")]
    assert named == words


@pytest.mark.prove
def test_the_two_heads_of_a_deit_are_refused(hub):
    model = DeiT(ViTConfig(**{**RECTANGLE, **CLASSES, "registers": 1}))
    with pytest.raises(ValueError, match="head_distillation: KerasHub's DeiT has one head"):
        to_keras_hub(model)


@pytest.mark.prove
def test_what_holds_no_weights_can_be_given_up(hub):
    fields = {"drop_path": 0.1, "preprocessing": {**HALF, "resize": "crop", "crop": 0.9}}
    model = randomised(ViT(ViTConfig(**{**RECTANGLE, **CLASSES, **fields})))
    with pytest.raises(ValueError, match=r"accept=\('drop_path', 'preprocessing'\)"):
        to_keras_hub(model)
    converted = to_keras_hub(model, accept=("drop_path", "preprocessing"))
    images = images_for(model)
    assert relative_difference(outputs(converted, images), outputs(model, images)) < 1e-5
    classifier = hub.DeiTImageClassifier(backbone(hub, "deit", dropout_rate=0.1), 11)
    assert from_keras_hub(classifier, accept=("dropout_rate",)).config.dropout == 0.0


@pytest.mark.prove
def test_what_holds_weights_cannot_be_given_up(hub):
    with pytest.raises(ValueError, match="`accept` may hold .* Received: 'registers'"):
        to_keras_hub(ours("vit"), accept=("registers",))
    with pytest.raises(ValueError, match="`accept` may hold .* Received: 'pooling'"):
        from_keras_hub(theirs(hub, "vit"), accept=("pooling",))


@pytest.mark.prove
def test_another_model_is_refused(hub):
    other = keras.Sequential([keras.layers.Dense(3)])
    with pytest.raises(ValueError, match="must be one of .*DINOV2Backbone. Received: Sequential"):
        from_keras_hub(other)
