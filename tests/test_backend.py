import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keras_vit import backend

ROOT = Path(__file__).parents[1]


@pytest.fixture
def keras_home(tmp_path, monkeypatch):
    """An empty `KERAS_HOME`, and no `KERAS_BACKEND`."""
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    return tmp_path


def install(monkeypatch, *names):
    monkeypatch.setattr(backend, "find_spec", lambda name: name in names or None)


def test_backend_is_tensorflow_when_nothing_is_said(keras_home):
    assert backend.configured_backend() == "tensorflow"


def test_backend_from_keras_json(keras_home):
    (keras_home / "keras.json").write_text(json.dumps({"backend": "jax"}))
    assert backend.configured_backend() == "jax"


def test_backend_from_keras_json_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    monkeypatch.delenv("KERAS_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".keras").mkdir()
    (tmp_path / ".keras/keras.json").write_text(json.dumps({"backend": "jax"}))
    assert backend.configured_backend() == "jax"


def test_environment_is_stronger_than_keras_json(keras_home, monkeypatch):
    (keras_home / "keras.json").write_text(json.dumps({"backend": "jax"}))
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    assert backend.configured_backend() == "torch"
    monkeypatch.setenv("KERAS_BACKEND", "")
    assert backend.configured_backend() == "jax"


def test_broken_keras_json_is_passed_over(keras_home):
    (keras_home / "keras.json").write_text("{")
    assert backend.configured_backend() == "tensorflow"


def test_configured_backend_is_the_one_keras_takes(keras_home):
    (keras_home / "keras.json").write_text(json.dumps({"backend": "numpy"}))
    code = "import keras; print(keras.backend.backend())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split()[-1] == backend.configured_backend(), done.stderr


def test_installed_backend_passes(keras_home, monkeypatch):
    install(monkeypatch, "tensorflow")
    backend.check_backend()


def test_missing_backend_names_the_extra(keras_home, monkeypatch):
    install(monkeypatch)
    with pytest.raises(ImportError, match=r"pip install 'keras-vit-kit\[tensorflow\]'$"):
        backend.check_backend()


def test_missing_backend_names_the_other_one_that_is_installed(keras_home, monkeypatch):
    install(monkeypatch, "tensorflow")
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    with pytest.raises(ImportError, match=r"keras-vit-kit\[jax\].*KERAS_BACKEND=tensorflow"):
        backend.check_backend()


def test_other_backends_are_left_to_keras(keras_home, monkeypatch):
    install(monkeypatch)
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    backend.check_backend()


def test_import_without_a_backend_is_one_clear_error(keras_home):
    code = (
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "gone = ('tensorflow', 'jax')\n"
        "util.find_spec = lambda name, *rest: None if name in gone else find(name, *rest)\n"
        "import keras_vit\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=keras_home,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    last_line = done.stderr.strip().splitlines()[-1]
    assert done.returncode != 0
    assert last_line.startswith("ImportError: keras_vit needs a Keras backend"), done.stderr
    assert "pip install 'keras-vit-kit[tensorflow]'" in last_line
