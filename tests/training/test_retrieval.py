import dataclasses

import keras
import numpy as np
import pytest

from keras_vit.data import Captions, Tokenizer, from_arrays
from keras_vit.models import CLIP, CLIPConfig
from keras_vit.training.retrieval import RetrievalEvaluation, ValidationRecall, evaluate_pairs
from tests.data.pictures import noise
from tests.data.tokens import MERGES

SIZES = {"image_size": 8, "patch_size": 4, "width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 13}
SIZES |= {"text_width": 10, "text_depth": 1, "text_num_heads": 2, "text_mlp_dim": 11}
TEXTS = ["one", "two", "three", "four", "five"]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(MERGES, context_length=6, clean="transformers")


@pytest.fixture(scope="module")
def model(tokenizer):
    keras.utils.set_random_seed(3)
    more = {"embedding_dim": 7, "context_length": 6, "vocabulary_size": tokenizer.size}
    return CLIP(CLIPConfig(**SIZES, **more))


@pytest.fixture(scope="module")
def records():
    return dataclasses.replace(from_arrays(noise(5, 8, 8, 3)), targets=Captions(TEXTS))


def outputs(model, records, tokenizer):
    pixels = np.stack([records.source.images[i] for i in range(5)])
    images = model.preprocessing.normalize(pixels)
    return model.predict({"images": images, "texts": tokenizer(TEXTS)}, verbose=0)


def test_vectors_are_those_of_the_model(model, records, tokenizer):
    found = evaluate_pairs(model, records, tokenizer, batch_size=2)
    expected = outputs(model, records, tokenizer)
    np.testing.assert_allclose(found.images, expected["images"], atol=1e-5)
    np.testing.assert_allclose(found.texts, expected["texts"], atol=1e-5)
    similar = expected["images"] @ expected["texts"].T
    share = np.mean(np.r_[similar.argmax(axis=1) == range(5), similar.argmax(axis=0) == range(5)])
    assert found.recall == pytest.approx(share)
    plain = dataclasses.replace(records, targets=from_arrays(noise(5, 8, 8, 3)).targets)
    with pytest.raises(ValueError, match="with the columns path and text"):
        evaluate_pairs(model, plain, tokenizer)


def test_numbers_by_hand():
    vectors = np.eye(3, dtype="float32")
    summary = RetrievalEvaluation(vectors, vectors[[0, 2, 1]]).summary()
    assert summary["recall"] == pytest.approx(1 / 3) and summary["images"] == 3
    assert [row["among"] for row in summary["directions"]] == [1]


def test_an_epoch_gets_its_recall(model, records, tokenizer):
    import tensorflow as tf

    pixels = np.stack([records.source.images[i] for i in range(5)])
    pair = {
        "images": np.asarray(model.preprocessing.normalize(pixels)),
        "texts": tokenizer(TEXTS),
    }
    callback = ValidationRecall(lambda: tf.data.Dataset.from_tensors((pair,)))
    callback.set_model(model)
    logs = {}
    callback.on_epoch_end(0, logs)
    assert logs["val_recall"] == pytest.approx(evaluate_pairs(model, records, tokenizer).recall)
