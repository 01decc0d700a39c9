"""DynamicViT and merged tokens as files: gathers of fixed numbers, in stock operators."""

import keras
import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.export import export
from keras_vit.export.audit import audit
from keras_vit.export.rewrite import rewrite
from keras_vit.models import DynamicViT, merge_tokens
from tests.small_vit import digit_images, small_vit

PIXELS, _ = digit_images()
PIXELS = PIXELS[:64:8]


def dynamic(**fields):
    """It keeps 8, then 4 of 16 patch tokens, by scores of some weight."""
    model = DynamicViT.from_image_model(small_vit(**fields), stage_blocks=(0, 1), keep_ratios=0.5)
    generator = np.random.default_rng(5)
    for weight in model.weights:
        if weight.path.startswith("score") and weight.name == "kernel":
            weight.assign(generator.normal(size=weight.shape) / np.sqrt(weight.shape[0]))
    return model


MODELS = {"dynamic": dynamic, "merged": lambda: merge_tokens(small_vit(), 3)}
each = pytest.mark.parametrize("name", MODELS)


@each
def test_it_is_a_tflite_file_of_stock_operators(name, tmp_path):
    model = MODELS[name]()
    path = export(model, "float32", tmp_path / "model.tflite")
    found = audit(path)
    assert not found.custom and not found.dynamic
    assert found.operators["TOPK_V2"] >= 2 and found.operators["GATHER"] >= 2
    expected = keras.ops.convert_to_numpy(model(model.preprocessing.normalize(PIXELS)))
    difference = np.abs(runtime.open(path).logits(PIXELS) - expected).max()
    assert difference <= 1e-4 * np.abs(expected).max()


def test_rewriting_for_integers_leaves_what_is_scored_as_it_is():
    model = dynamic()
    _, steps = rewrite(model)
    assert [step.name for step in steps if step.changed][-1] == "self_products"
    assert max(step.difference for step in steps) < 1e-5


@pytest.mark.prove
@each
def test_it_is_served_and_becomes_every_kind_of_file(name, tmp_path):
    model = MODELS[name]()
    expected = keras.ops.convert_to_numpy(model(model.preprocessing.normalize(PIXELS)))
    limits = {"server": 1e-4, "onnx": 1e-4, "gpu": 0.02, "cpu": 0.2}
    for profile, limit in limits.items():
        ending = {"server": "", "onnx": ".onnx"}.get(profile, ".tflite")
        path = export(model, profile, tmp_path / f"{profile}{ending}")
        difference = np.abs(runtime.open(path).logits(PIXELS) - expected).max()
        assert difference <= limit * np.abs(expected).max(), profile


@pytest.mark.prove
@each
def test_choosing_tokens_has_no_integer_form(name, tmp_path):
    pixels, _ = digit_images()
    with pytest.raises(ValueError, match="float tensors in an integer file"):
        export(MODELS[name](), "npu", tmp_path / "model.tflite", pixels[:200])
