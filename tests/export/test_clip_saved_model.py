import numpy as np
import pytest
import tensorflow as tf

from keras_vit import runtime
from keras_vit.export import clip_saved_model, export
from keras_vit.export.clip_saved_model import export_clip
from keras_vit.models import CLIP, CLIPConfig
from keras_vit.objectives import embed_images, embed_texts
from tests.models.test_clip import TINY, pairs
from tests.small_vit import small_vit


@pytest.fixture(scope="module")
def model():
    model, generator = CLIP(CLIPConfig(**TINY)), np.random.default_rng(5)
    for weight in model.weights:
        weight.assign(generator.normal(weight.name == "gamma", 0.3, weight.shape))
    return model


def test_both_signatures_give_the_models_vectors(model, tmp_path):
    path = export_clip(model, tmp_path / "clip")
    signatures = tf.saved_model.load(str(path)).signatures
    assert set(signatures) == {"image", "text"}
    pixels = np.random.default_rng(3).integers(0, 256, (3, 10, 21, 3)).astype("float32")
    texts = pairs(3)["texts"]
    image = signatures["image"](images=tf.constant(pixels))
    text = signatures["text"](texts=tf.constant(texts))
    normalised = np.asarray(model.preprocessing.normalize(pixels))
    np.testing.assert_allclose(image["vectors"], embed_images(model, normalised), atol=1e-5)
    np.testing.assert_allclose(text["vectors"], embed_texts(model, texts), atol=1e-5)
    scale = np.exp(float(model.get_layer("scale").number))
    np.testing.assert_allclose(image["scale"], np.full(3, scale), rtol=1e-6)


def test_an_export_that_differs_is_refused(model, tmp_path, monkeypatch):
    monkeypatch.setattr(clip_saved_model, "BOUND", -1.0)
    with pytest.raises(ValueError, match="gives vectors that are .* off"):
        export_clip(model, tmp_path / "clip")
    assert not (tmp_path / "clip").exists()


def test_another_model_is_refused(tmp_path):
    with pytest.raises(TypeError, match="`model` must be a CLIP"):
        export_clip(small_vit(), tmp_path / "clip")


@pytest.mark.prove
def test_the_image_tower_as_tflite(model, tmp_path):
    path = export(model.image_tower, "float32", tmp_path / "image.tflite")
    pixels = np.random.default_rng(3).integers(0, 256, (2, 10, 21, 3)).astype("uint8")
    found = runtime.open(path).logits(pixels)
    expected = np.asarray(model.image_tower(model.preprocessing.normalize(pixels)))
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
