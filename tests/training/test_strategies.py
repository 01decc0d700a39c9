import ast
import json
import re
from pathlib import Path

import pytest
import tensorflow as tf

import keras_vit
from keras_vit.training import strategies, strategy

PACKAGE = Path(keras_vit.__file__).parent
# The only files whose code may name a TPU, each with its reason.
ALLOWED = {
    "cli/main.py": "the command that compiles for a TPU",
    "cli/recording.py": "its recorded row",
    "cli/train.py": "its option says which strategies there are",
    "cli/recording_tpu.py": "its recorded row",
    "cli/tpu_check.py": "the command that compiles for a TPU",
    "step/guards.py": "Keras's `fit` is refused under it, and `keras_vit.training.fit` named",
    "training/strategies.py": "makes the strategy",
}


def names_tpu(path):
    """Whether code, comments and docstrings apart, names a TPU."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    # The Edge TPU of a small board is another thing.
    return re.search(r"(?<!edge.)(?<![a-z])tpu", ast.unparse(tree), re.IGNORECASE) is not None


def test_no_other_branch_of_the_package_names_the_tpu():
    files = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    named = {name for name, path in files.items() if names_tpu(path)}
    named -= {name for name in named if name.startswith("training/tpu/")}
    assert "training/strategies.py" in named
    assert named <= set(ALLOWED), named - set(ALLOWED)


def test_one_and_mirrored():
    assert isinstance(strategy("one"), tf.distribute.OneDeviceStrategy)
    assert isinstance(strategy("mirrored"), tf.distribute.MirroredStrategy)


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match=r"one of \['auto', .*Received: 'many'"):
        strategy("many")


@pytest.mark.parametrize(
    "devices, config, expected",
    [
        ({}, [], "_one"),
        ({"GPU": 1}, [], "_one"),
        ({"GPU": 2}, [], "_mirrored"),
        ({"GPU": 2}, ["a:1"], "_mirrored"),
        ({"GPU": 2}, ["a:1", "b:1"], "_workers"),
        ({"TPU": 1}, ["a:1", "b:1"], "_tpu"),
    ],
)
def test_what_the_machine_is_set_up_for(monkeypatch, devices, config, expected):
    monkeypatch.setattr(
        tf.config, "list_physical_devices", lambda kind: ["it"] * devices.get(kind, 0)
    )
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if config:
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": config}}))
    for name in ("_one", "_mirrored", "_workers", "_tpu"):
        monkeypatch.setattr(strategies, name, lambda name=name: name)
    assert strategy("auto") == expected


def test_workers_that_nobody_names_are_refused(monkeypatch):
    monkeypatch.setattr(strategies.os, "environ", {})
    with pytest.raises(ValueError, match="need TF_CONFIG, or KERAS_VIT_WORKERS and"):
        strategy("workers")


def test_a_tpu_is_connected_to_and_set_up_first(monkeypatch):
    """What the calls are, not that they work: there is no TPU here."""
    done = []
    cluster, experimental = tf.distribute.cluster_resolver, tf.tpu.experimental
    monkeypatch.setenv("TPU_NAME", "slice")
    monkeypatch.setattr(cluster, "TPUClusterResolver", lambda name: done.append(name) or "there")
    monkeypatch.setattr(
        tf.config, "experimental_connect_to_cluster", lambda r: done.append(("connected", r))
    )
    monkeypatch.setattr(experimental, "initialize_tpu_system", lambda r: done.append(("set up", r)))
    monkeypatch.setattr(tf.distribute, "TPUStrategy", lambda r: ("strategy", r))
    assert strategy("tpu") == ("strategy", "there")
    assert done == ["slice", ("connected", "there"), ("set up", "there")]
