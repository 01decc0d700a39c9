import dataclasses

import numpy as np
import pytest

from keras_vit.data import Captions, Tokenizer, from_arrays
from keras_vit.data.pairs import TokenRows, pair_batches
from keras_vit.layers import Preprocessing
from tests.data.tokens import MERGES

TEXTS = ["a cat", "", "the long text of a dog", "日本", "a cat"]
PREPROCESSING = Preprocessing(image_size=(4, 6))


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(MERGES, context_length=6, clean="transformers")


@pytest.fixture(scope="module")
def records():
    images = np.repeat(np.arange(5, dtype="uint8"), 4 * 6 * 3).reshape(5, 4, 6, 3)
    return dataclasses.replace(from_arrays(images), targets=Captions(TEXTS))


def test_every_image_has_its_own_text(records, tokenizer):
    batches = pair_batches(records, PREPROCESSING, tokenizer, 3, seed=7)
    (spec,) = batches.element_spec
    assert spec["texts"].shape == (3, 6) and spec["images"].shape == (3, 4, 6, 3)
    for (inputs,) in batches.take(4).as_numpy_iterator():
        numbers = np.rint((inputs["images"][:, 0, 0, 0] * 0.5 + 0.5) * 255).astype(int)
        np.testing.assert_array_equal(inputs["texts"], tokenizer([TEXTS[n] for n in numbers]))


def test_a_run_goes_on_where_it_stopped(records, tokenizer):
    whole = pair_batches(records, PREPROCESSING, tokenizer, 3, seed=7)
    rest = pair_batches(records, PREPROCESSING, tokenizer, 3, seed=7, start_step=2)
    for (one,), (two,) in zip(
        whole.skip(2).take(2).as_numpy_iterator(), rest.take(2).as_numpy_iterator(), strict=True
    ):
        np.testing.assert_array_equal(one["images"], two["images"])
        np.testing.assert_array_equal(one["texts"], two["texts"])


def test_rows_are_targets():
    rows = TokenRows(np.arange(6, dtype="int32").reshape(3, 2))
    assert len(rows) == 3 and rows.class_names == () and len(rows.class_sizes) == 0
    np.testing.assert_array_equal(rows.select([2, 0]).rows, [[4, 5], [0, 1]])
    assert rows.digest() != rows.select([1, 0, 2]).digest()


def test_images_without_texts_are_refused(records, tokenizer):
    plain = from_arrays(np.zeros((2, 4, 6, 3), "uint8"), [0, 1])
    with pytest.raises(ValueError, match="must have a text an image"):
        pair_batches(plain, PREPROCESSING, tokenizer, 2, seed=7)
