"""`keras_vit.training` is imported under JAX without TensorFlow."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keras_vit import training

ROOT = Path(__file__).parents[2]


def test_the_jax_road_imports_no_tensorflow():
    # Keras's own JAX trainer tries to import TensorFlow: here it is as if it were not installed.
    code = (
        "import sys; sys.modules['tensorflow'] = None\n"
        "from keras_vit.training import layout_map, freeze\n"
        "from keras_vit.training.tpu import check, jax_step\n"
        "import keras; print(keras.backend.backend(), layout_map.__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"KERAS_BACKEND": "jax", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "jax keras_vit.training.layout\n", done.stderr


@pytest.mark.parametrize("name", training.__all__)
def test_every_name_is_there(name):
    assert name in dir(training)
    home = importlib.import_module(f"keras_vit.training.{training._HOMES[name]}")
    assert getattr(training, name) is getattr(home, name)


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        _ = training.trian
