"""The SavedModel as a server sees it: no keras_vit, any batch, encoded pictures."""

import json
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_vit.data.decode import decode, fit
from keras_vit.export import export
from keras_vit.layers import Preprocessing
from tests.small_vit import small_vit

CLIENT = """
import sys
sys.modules["keras_vit"] = None  # importing it fails
import numpy as np
import tensorflow as tf
pixels, pictures, out, path = sys.argv[1:]
signatures = tf.saved_model.load(path).signatures
images = np.load(pixels).astype("float32")
arrays = {f"batch_{n}": signatures["serving_default"](images=tf.constant(images[:n]))["logits"]
          for n in (1, 3, 5)}
encoded = tf.constant([open(name, "rb").read() for name in pictures.split("|")])
answer = signatures["serving_bytes"](image_bytes=encoded)
np.savez(out, probabilities=answer["probabilities"], bytes=answer["logits"], **arrays)
"""


@pytest.fixture
def pictures(tmp_path):
    from PIL import Image

    generator = np.random.default_rng(0)
    paths = []
    for index, mode in enumerate(("L", "RGB", "RGBA", "P")):
        array = generator.integers(0, 256, (30 + index, 20, 3), dtype="uint8")
        paths.append(tmp_path / f"picture_{index}.png")
        Image.fromarray(array).convert(mode).save(paths[-1])
    return paths


def test_plain_tensorflow_gets_the_models_answers(artefacts, pictures, tmp_path):
    pixels = artefacts.pixels[:5]
    np.save(tmp_path / "pixels.npy", pixels)
    names = "|".join(map(str, pictures))
    (tmp_path / "client.py").write_text(CLIENT)
    command = ["client.py", "pixels.npy", names, "out.npz", str(artefacts["server"])]
    subprocess.run([sys.executable, *command], cwd=tmp_path, check=True)
    model, out = artefacts.model, np.load(tmp_path / "out.npz")

    def logits(pixels):
        return keras.ops.convert_to_numpy(model(model.preprocessing.normalize(pixels)))

    def same(found, expected):
        assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()

    for n in (1, 3, 5):
        same(out[f"batch_{n}"], logits(pixels[:n]))
    fitted = [fit(decode(path.read_bytes(), 1), model.preprocessing) for path in pictures]
    same(out["bytes"], logits(np.stack(fitted)))
    np.testing.assert_allclose(out["probabilities"].sum(axis=-1), 1, rtol=1e-5)


def test_names_and_preprocessing_are_assets(artefacts):
    assets = artefacts["server"] / "assets"
    labels = (assets / "labels.txt").read_text("utf-8").splitlines()
    assert labels == list(artefacts.model.preprocessing.class_names)
    description = json.loads((assets / "preprocessing.json").read_text("utf-8"))
    assert Preprocessing(**description) == artefacts.model.preprocessing


def test_an_image_that_no_picture_gives_is_served_as_an_array_only(tmp_path):
    import tensorflow as tf

    model = small_vit(channels=2, depth=1)
    path = export(model, "server", tmp_path / "two_channels")
    names = {"serving_default", "serving_uint8", "features", "explain"}
    assert set(tf.saved_model.load(str(path)).signatures) == names
    assert set(json.loads((path / "SERVING.json").read_text("utf-8"))["left_out"]) == {
        "serving_bytes",
        "classify",
    }
