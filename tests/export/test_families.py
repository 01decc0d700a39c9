"""Every family as a served artefact and as ONNX, each proved by its own checker."""

import keras
import numpy as np
import pytest

from keras_vit import create_model, runtime
from keras_vit.export import export
from keras_vit.export.serving.check import check
from tests.small_vit import small_vit

# Name, fields, and whether its attention can be followed.
FAMILIES = [
    ("vit_ti16", {"image_size": (32, 48), "depth": 2}, True),
    ("deit_ti16", {"image_size": (32, 48), "depth": 2}, True),
    ("dinov2_s14_reg", {"image_size": (28, 42), "depth": 2}, True),
    ("swin_t", {"image_size": 64, "window_size": 2, "depths": (1, 1, 2, 1)}, False),
    ("coatnet_0", {"image_size": 64}, False),
    ("r50_b16", {"image_size": 32, "depth": 1}, True),
]


@pytest.mark.prove
@pytest.mark.parametrize(("name", "fields", "explained"), FAMILIES)
def test_a_family_is_served_and_becomes_onnx(tmp_path, name, fields, explained):
    model = create_model(name, num_classes=7, **fields)
    head = model.get_layer("head")  # a new one is zero, and would agree with anything
    generator = np.random.default_rng(0)
    head.set_weights([generator.normal(size=weight.shape) for weight in head.get_weights()])
    size = fields["image_size"]
    rows, columns = (size, size) if isinstance(size, int) else size
    pixels = generator.integers(0, 256, (3, rows, columns, 3), "uint8")
    expected = keras.ops.convert_to_numpy(model(model.preprocessing.normalize(pixels)))

    version = export(model, "server", tmp_path / name)
    assert ("explain" in check(version)["contract"]) == explained
    file = export(model, "onnx", tmp_path / "model.onnx")
    for predictor in (
        runtime.open(version),
        runtime.open(file),
        runtime.open(file, engine="openvino"),
    ):
        difference = np.abs(predictor.logits(pixels) - expected).max()
        assert difference <= 1e-4 * np.abs(expected).max(), predictor.kind


@pytest.mark.prove
def test_a_batch_that_xla_compiles_gives_the_same(tmp_path):
    version = export(small_vit(depth=1), "server", tmp_path / "digits", xla_batches=(1, 3))
    assert {"serving_xla_1", "serving_xla_3"} <= set(check(version)["contract"].split(", "))
