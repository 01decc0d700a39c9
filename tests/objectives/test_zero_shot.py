import keras
import numpy as np
import pytest

from keras_vit.models import CLIP, CLIPConfig
from keras_vit.objectives import embed_images, embed_texts, zero_shot_classifier
from tests.models.test_clip import TINY, pairs

LABELS = ["cat", "dog", "a long name"]
TEMPLATES = ["a {}.", "the {}"]


def tokenizer(texts):
    """Not the real one: a few numbers that depend on the text."""
    rows = [[15, len(text) % 15, sum(map(ord, text)) % 15, 16, 0] for text in texts]
    return np.array(rows, "int32")


@pytest.fixture(scope="module")
def model():
    model, generator = CLIP(CLIPConfig(**TINY)), np.random.default_rng(5)
    for weight in model.weights:
        weight.assign(generator.normal(weight.name == "gamma", 0.3, weight.shape))
    return model


def test_against_numpy(model):
    images = pairs(4)["images"]
    classifier = zero_shot_classifier(model, LABELS, tokenizer, TEMPLATES)
    texts = [[template.format(label) for template in TEMPLATES] for label in LABELS]
    vectors = np.array([np.asarray(model.text_tower(tokenizer(row))) for row in texts])
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    classes = vectors.mean(axis=1)
    classes /= np.linalg.norm(classes, axis=-1, keepdims=True)
    seen = np.array(model.image_tower(images))
    seen /= np.linalg.norm(seen, axis=-1, keepdims=True)
    scale = np.exp(float(model.get_layer("scale").number))
    np.testing.assert_allclose(classifier(images), scale * seen @ classes.T, atol=1e-4)


def test_the_classifier_is_a_model_with_class_names(model, tmp_path):
    classifier = zero_shot_classifier(model, LABELS, tokenizer, TEMPLATES)
    assert classifier.preprocessing.class_names == tuple(LABELS)
    classifier.save(tmp_path / "classifier.keras")
    again = keras.saving.load_model(tmp_path / "classifier.keras")
    images = pairs(2)["images"]
    np.testing.assert_array_equal(again(images), classifier(images))
    assert again.preprocessing == classifier.preprocessing


def test_embeddings_are_the_models_own(model):
    inputs = pairs(5)
    outputs = model(inputs)
    images = embed_images(model, inputs["images"], batch_size=2)
    texts = embed_texts(model, inputs["texts"], batch_size=3)
    np.testing.assert_allclose(images, outputs["images"], atol=1e-5)
    np.testing.assert_allclose(texts, outputs["texts"], atol=1e-5)
    assert embed_images(model, inputs["images"][:0]).shape == (0, 8)


@pytest.mark.parametrize(
    ("labels", "templates", "message"),
    [
        ([], TEMPLATES, "`labels` must be one text or more"),
        (["cat", "cat"], TEMPLATES, "no two alike"),
        (LABELS, [], "`templates` must be one text or more"),
        (LABELS, ["a photo"], "with {} where the label is put"),
    ],
)
def test_what_is_no_class(model, labels, templates, message):
    with pytest.raises(ValueError, match=message):
        zero_shot_classifier(model, labels, tokenizer, templates)


def test_a_tokenizer_of_another_model(model):
    with pytest.raises(ValueError, match="`texts` must have the shape"):
        embed_texts(model, np.zeros((2, 7), "int32"))
    with pytest.raises(ValueError, match="the tokenizer is of another vocabulary"):
        embed_texts(model, np.full((2, 5), 17))
