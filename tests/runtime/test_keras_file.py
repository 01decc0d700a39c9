"""Keras models in files and in memory, and files that are none."""

import keras
import numpy as np
import pytest

from keras_vit.runtime.keras_file import KerasFile
from keras_vit.runtime.predictor import BATCH_SIZE


@pytest.fixture(scope="module")
def file(artefacts, tmp_path_factory):
    path = tmp_path_factory.mktemp("keras") / "model.keras"
    artefacts.model.save(path)
    return path


def test_file_and_memory_give_the_models_own_logits(artefacts, file):
    pixels = artefacts.pixels[: BATCH_SIZE + 3]  # two batches
    model = artefacts.model
    expected = keras.ops.convert_to_numpy(model(model.preprocessing.normalize(pixels)))
    for source in (file, model):
        predictor = KerasFile(source)
        np.testing.assert_allclose(predictor.logits(pixels), expected, rtol=1e-4, atol=1e-4)
        assert predictor.logits(pixels[:0]).shape == (0, 10)
        assert predictor.kind == "keras"
    assert KerasFile(file).size_bytes == file.stat().st_size
    assert KerasFile(model).size_bytes == 4 * model.count_params()
    assert KerasFile(model).path is None and KerasFile(model).model is model


def test_a_file_cut_short_is_refused(file, tmp_path):
    content = file.read_bytes()
    for length in (0, 100, len(content) // 2, len(content) - 10):
        (tmp_path / "short.keras").write_bytes(content[:length])
        with pytest.raises(ValueError, match="short.keras .*cut short or another kind"):
            KerasFile(tmp_path / "short.keras")


def test_a_damaged_file_is_refused(file, tmp_path):
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 3000] = bytes(3000)
    (tmp_path / "damaged.keras").write_bytes(content)
    with pytest.raises(ValueError, match="damaged.keras cannot be loaded as a Keras model"):
        KerasFile(tmp_path / "damaged.keras")


def test_a_model_without_preprocessing_is_refused(tmp_path):
    inputs = keras.Input((4,))
    model = keras.Model(inputs, keras.layers.Dense(2)(inputs), name="plain")
    model.save(tmp_path / "plain.keras")
    with pytest.raises(ValueError, match="plain is a Keras model without a `preprocessing`"):
        KerasFile(model)
    with pytest.raises(ValueError, match="plain.keras is a Keras model without"):
        KerasFile(tmp_path / "plain.keras")
