import dataclasses
import logging
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_vit import create_model, weights
from tests.weights.checkpoints import SIZES, fitting_model, jax_arrays, values, write

# Writes a B/16 file and loads it; prints the growth of the largest resident size in MB.
MEMORY = """
import pathlib, resource, sys
import numpy as np
import keras_vit
from tests.weights.test_load import published_shapes

path = pathlib.Path(sys.argv[1])
generator = np.random.default_rng(0)
import zipfile
with zipfile.ZipFile(path, "w") as archive:
    for name, shape in published_shapes().items():
        with archive.open(name + ".npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, generator.random(shape, "float32"))
small = keras_vit.create_model("vit_ti16", depth=1)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
model = keras_vit.create_model("vit_b16", weights=path, weights_format="jax")
print(peak() - before, 4 * model.count_params() / 2**20)
"""


def published_shapes():
    """The arrays of the published ViT-B/16."""
    block = {
        "LayerNorm_0/scale": (768,),
        "LayerNorm_0/bias": (768,),
        "LayerNorm_2/scale": (768,),
        "LayerNorm_2/bias": (768,),
        **{
            f"MultiHeadDotProductAttention_1/{part}/{kind}": shape
            for part in ("query", "key", "value")
            for kind, shape in (("kernel", (768, 12, 64)), ("bias", (12, 64)))
        },
        "MultiHeadDotProductAttention_1/out/kernel": (12, 64, 768),
        "MultiHeadDotProductAttention_1/out/bias": (768,),
        "MlpBlock_3/Dense_0/kernel": (768, 3072),
        "MlpBlock_3/Dense_0/bias": (3072,),
        "MlpBlock_3/Dense_1/kernel": (3072, 768),
        "MlpBlock_3/Dense_1/bias": (768,),
    }
    return {
        "cls": (1, 1, 768),
        "Transformer/posembed_input/pos_embedding": (1, 197, 768),
        "embedding/kernel": (16, 16, 3, 768),
        "embedding/bias": (768,),
        "Transformer/encoder_norm/scale": (768,),
        "Transformer/encoder_norm/bias": (768,),
        "head/kernel": (768, 1000),
        "head/bias": (1000,),
        **{
            f"Transformer/encoderblock_{index}/{name}": shape
            for index in range(12)
            for name, shape in block.items()
        },
    }


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A row of the catalogue whose file is in the cache already."""
    path = write(tmp_path, jax_arrays())
    row = weights.catalog()["vit_ti16_augreg_i21k_ft_224"]
    row = dataclasses.replace(row, image_size=20, num_classes=7)
    monkeypatch.setattr(
        sys.modules["keras_vit.weights.catalog"], "catalog", lambda: {row.name: row}
    )
    monkeypatch.setenv("KERAS_VIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    shutil.copy(path, tmp_path / "cache" / row.file)
    return row


def test_a_published_name(published):
    model = create_model("vit_ti16", weights=published.name, **SIZES)
    np.testing.assert_array_equal(values(model)["head/bias"], jax_arrays()["head/bias"])
    # The row's preprocessing, which the file does not tell.
    preprocessing = model.preprocessing
    expected = published.preprocessing
    assert preprocessing.interpolation == expected["interpolation"]
    assert list(preprocessing.mean) == expected["mean"]
    weights.load(model, published.name)


def test_a_name_that_is_neither_a_file_nor_published(published):
    with pytest.raises(ValueError, match="There are no published weights 'vit_b17'"):
        create_model("vit_ti16", weights="vit_b17")
    with pytest.raises(FileNotFoundError, match="There is no file no/such.npz"):
        create_model("vit_ti16", weights="no/such.npz", weights_format="jax")


def test_a_model_of_somebody_else(tmp_path):
    with pytest.raises(ValueError, match="`model` must be a model of this package"):
        weights.load(keras.Sequential(), write(tmp_path, jax_arrays()), "jax")


def test_create_model_says_what_it_did_beyond_filling(tmp_path, caplog):
    path = write(tmp_path, jax_arrays())
    options = {"weights": path, "weights_format": "jax", **SIZES}
    with caplog.at_level(logging.WARNING, "keras_vit"):
        create_model("vit_ti16", **options)
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "keras_vit"):
        model = create_model("vit_ti16", **options, image_size=28, num_classes=3)
    assert "The head is new: 3 classes, where the file has 7." in caplog.text
    assert "patch_encoder/position: resized from 5×5 to 7×7 (jax)." in caplog.text
    assert model.weights_report.origin == str(path)


def test_another_way_of_resizing(tmp_path):
    path = write(tmp_path, jax_arrays())
    tables = {}
    for resize in (None, *weights.RESIZES):
        model = fitting_model(image_size=28)
        report = weights.load(model, path, "jax", resize=resize)
        tables[resize] = values(model)["patch_encoder/position"]
        assert f"({resize or 'jax'})" in report.filled["patch_encoder/position"][2]
    np.testing.assert_array_equal(tables.pop(None), tables["jax"])
    tables.pop("bilinear_antialias")  # antialias changes nothing where a grid grows
    assert len({table.tobytes() for table in tables.values()}) == len(tables)
    with pytest.raises(ValueError, match="`resize` must be one of"):
        weights.load(fitting_model(image_size=28), path, "jax", resize="lanczos")


def test_weights_of_another_size(tmp_path):
    path = write(tmp_path, jax_arrays())
    with pytest.raises(ValueError, match="is no vit_s16: its width is 24, that of vit_s16 is 384"):
        create_model("vit_s16", weights=path, weights_format="jax")


def test_a_recipe_keeps_the_sources_preprocessing(tmp_path):
    path = write(tmp_path, jax_arrays())
    options = {"weights": path, "weights_format": "jax", **SIZES}
    names = {"class_names": list("abcdefg")}
    model = create_model("vit_ti16", **options, preprocessing=names)
    assert model.preprocessing.class_names == tuple("abcdefg")
    assert model.preprocessing.interpolation == "bilinear" and model.preprocessing.mean[0] == 0.5


def test_loading_takes_about_twice_the_models_memory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, tmp_path / "B_16.npz"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    growth, size = map(float, done.stdout.split())
    assert size > 330
    assert growth < 2.3 * size
