import dataclasses

import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.factory import create_detector
from keras_vit.layers import extras
from keras_vit.models import Detector, DetectorConfig
from keras_vit.objectives import DetectionLoss

TINY = {
    "num_classes": 3,
    "levels": (3, 5),
    "filters": 8,
    "head_depth": 1,
    "scales": 1,
    "image_size": (64, 96),
}
MICRO = {"backbone_fields": {"width": 8, "depths": (1, 2, 1, 1), "num_heads": (1, 2, 2, 2)}}
ViT = {"backbone_fields": {"width": 12, "depth": 1, "num_heads": 3, "mlp_dim": 16}}
CELLS = 8 * 12 + 4 * 6 + 2 * 3


@pytest.fixture(params=["swin_micro", "vit_ti16"])
def tiny(request):
    fields = MICRO if request.param == "swin_micro" else ViT
    keras.utils.set_random_seed(1)
    return create_detector(request.param, **TINY, **fields)


def images(model, count=2):
    return keras.random.normal((count, *model.config.image_size, 3), seed=2)


def test_shapes(tiny):
    outputs = tiny(images(tiny))
    assert outputs["deltas"].shape == (2, 3 * CELLS, 4) == (2, *tiny.anchors.shape)
    assert outputs["logits"].shape == (2, 3 * CELLS, 3)
    assert set(tiny.features(images(tiny))) == {"P3", "P4", "P5"}


def test_it_starts_unsure_and_with_the_anchors_themselves(tiny):
    outputs = tiny(images(tiny))
    np.testing.assert_allclose(keras.ops.sigmoid(outputs["logits"]), 0.01, atol=2e-3)
    assert float(keras.ops.max(keras.ops.abs(outputs["deltas"]))) < 0.2


def test_saved_and_loaded(tiny, tmp_path):
    tiny.save(tmp_path / "detector.keras")
    loaded = keras.saving.load_model(tmp_path / "detector.keras", compile=False)
    assert loaded.config == tiny.config
    for name, found in loaded(images(tiny)).items():
        np.testing.assert_allclose(found, tiny(images(tiny))[name], atol=1e-6)


def test_an_anchor_answers_for_what_is_under_it():
    """What stands where in the image moves the outputs of that place the most."""
    model = create_detector("swin_micro", **TINY, **MICRO)
    for weight in model.weights:
        if "logits_layer" in weight.path:
            weight.assign(keras.random.normal(weight.shape, seed=3))
    plain = np.zeros((1, 64, 96, 3), "float32")
    marked = plain.copy()
    marked[0, 40:48, 72:80] = 3.0  # the cell in row 5, column 9 of level 3
    change = np.abs(model(marked)["logits"] - model(plain)["logits"]).max(axis=-1)[0]
    change = change[: 8 * 12 * 3].reshape(8, 12, 3).max(axis=-1)
    row, column = np.unravel_index(change.argmax(), change.shape)
    assert abs(row - 5) <= 1 and abs(column - 9) <= 1


def test_one_step_reaches_every_weight(tiny):
    # Adam moves a weight by its rate, however small the gradient.
    tiny.compile(keras.optimizers.Adam(0.01, epsilon=1e-30), DetectionLoss.of(tiny))
    before = [np.array(weight) for weight in tiny.trainable_weights]
    boxes = np.tile(np.array([0.2, 0.2, 0.6, 0.7], "float32"), (2, 1, 1))
    labels = np.array([[1], [-1]])
    loss = tiny.train_on_batch(images(tiny), {"boxes": boxes, "labels": labels})
    assert np.isfinite(loss)
    still = [
        weight.path
        for weight, old in zip(tiny.trainable_weights, before, strict=True)
        if np.array_equal(old, weight)
    ]
    assert not still


def test_mixed_precision_answers_in_float32():
    model = create_detector("swin_micro", dtype="mixed_bfloat16", **TINY, **MICRO)
    outputs = model(images(model))
    assert {keras.backend.standardize_dtype(x.dtype) for x in outputs.values()} == {"float32"}
    assert model.get_layer("block_0").compute_dtype == "bfloat16"
    assert model.get_layer("fpn").compute_dtype == "bfloat16"


def test_swin_t_takes_the_weights_of_a_classifier():
    model = create_detector("swin_t", num_classes=2, image_size=64, filters=16, head_depth=0)
    classifier = create_model("swin_t", image_size=64, num_classes=5)
    model.take_backbone(classifier)
    x = images(model, 1)
    stages = keras.Model(model.input, [model.get_layer(f"block_{i}").output for i in (1, 11)])(x)
    expected = classifier.features(x)
    np.testing.assert_allclose(stages[0], expected["stage_0"], atol=1e-5)
    np.testing.assert_allclose(stages[1], expected["stage_3"], atol=1e-4)
    with pytest.raises(ValueError, match="must be a swin_t of the same sizes. Received: vit"):
        model.take_backbone(create_model("vit_ti16", image_size=32, depth=1))


@pytest.fixture(scope="module")
def swin_t():
    return create_detector("swin_t", num_classes=2, image_size=224, filters=16, head_depth=0)


def test_swin_t_has_the_published_parameters(swin_t):
    """Less its last norm and its head."""
    backbone = sum(int(np.prod(weight.shape)) for weight in swin_t.backbone_weights)
    assert backbone == 28_288_354 - (768 * 1000 + 1000) - 2 * 768
    assert swin_t.output["logits"].shape == (None, 9 * (28**2 + 14**2 + 7**2 + 4**2 + 2**2), 2)


@pytest.mark.prove
def test_swin_t_takes_a_step(swin_t):
    model = swin_t
    model.compile("sgd", DetectionLoss.of(model))
    y = {"boxes": np.array([[[0.1, 0.1, 0.5, 0.5]]], "float32"), "labels": np.array([[1]])}
    assert np.isfinite(model.train_on_batch(images(model, 1), y))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"image_size": 100}, "`image_size` must be multiples of 32. Received: \\(100, 100\\)"),
        ({"levels": (2, 5)}, "`levels` must be two of 3 to 7"),
        ({"num_classes": 0}, "`num_classes` must be an integer of at least 1"),
        ({"backbone": "swin_x"}, "`backbone` must be one of"),
        ({"anchor_size": 0}, "`aspects` and `anchor_size` must be above 0"),
        ({"backbone_fields": {"num_classes": 3}}, "leave 'num_classes' to the detector's own"),
    ],
)
def test_wrong_fields(fields, message):
    with pytest.raises(ValueError, match=message):
        DetectorConfig(**fields)


def test_named():
    config = DetectorConfig(num_classes=1).named(("cat", "dog"))
    assert config.num_classes == 2 and config.preprocessing.class_names == ("cat", "dog")
    assert config.preprocessing.resize == "squash"
    assert config.preprocessing.probabilities == "sigmoid"
    assert dataclasses.replace(config) == config


def test_the_extra_is_named(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(ImportError, match=r"keras-vit-kit\[detection\]"):
        Detector(DetectorConfig(backbone="swin_micro", image_size=32))
