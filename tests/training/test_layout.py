"""Tensor parallelism: the rules, and what training by them gives, on four virtual devices."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.models import SwinConfig, ViTConfig
from keras_vit.training import layout_map

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("jax_training.py")
MESHES = ("4x1", "1x4", "2x2")


def environment(devices):
    return os.environ | {
        "KERAS_BACKEND": "jax",
        "JAX_PLATFORMS": "cpu",
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
        # LLVM's own optimisation is off: it is most of the time.
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices} "
        "--xla_backend_optimization_level=0",
        "PYTHONPATH": str(ROOT),
    }


def start(*arguments, devices):
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, env=environment(devices), **pipes)


def finish(processes, seconds=300):
    """Waits for all, and ends those that do not end."""
    try:
        for process in processes:
            output, _ = process.communicate(timeout=seconds)
            assert process.returncode == 0, output[-3000:]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()


@pytest.fixture(scope="module", params=["mlp", pytest.param("swiglu", marks=pytest.mark.prove)])
def trained(request, tmp_path_factory):
    """mesh -> name -> array, for one device and for each of MESHES."""
    path = tmp_path_factory.mktemp("layout") / "trained.npz"
    finish([start(path, request.param, ",".join(("1x1", *MESHES)), devices=4)])
    found = {}
    for name, array in np.load(path).items():
        mesh, _, rest = name.partition(":")
        found.setdefault(mesh, {})[rest] = array
    return found


def of_kind(found, kind):
    return {
        name.partition(":")[2]: array
        for name, array in found.items()
        if name.startswith(f"{kind}:")
    }


def assert_same_training(found, expected):
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=1e-5)
    weights = of_kind(expected, "weight")
    assert len(weights) > 30
    for path, weight in of_kind(found, "weight").items():
        largest = np.abs(weights[path]).max()
        np.testing.assert_allclose(weight, weights[path], rtol=0, atol=1e-5 * largest, err_msg=path)


@pytest.mark.parametrize("mesh", MESHES)
def test_a_mesh_gives_what_one_device_gives(trained, mesh):
    one = trained["1x1"]
    assert one["losses"][1] < one["losses"][0]  # something was learned
    assert_same_training(trained[mesh], one)


@pytest.mark.parametrize("mesh", ["1x4", "2x2"])
def test_every_rule_matches_a_weight(trained, mesh):
    paths = of_kind(trained[mesh], "weight")
    for rule in trained[mesh]["rules"]:
        assert any(re.fullmatch(rule, path) for path in paths), rule


@pytest.mark.parametrize(("mesh", "ways"), [("1x4", 4), ("2x2", 2)])
def test_each_chip_holds_its_share(trained, mesh, ways):
    layouts, weights = of_kind(trained[mesh], "layout"), of_kind(trained[mesh], "weight")
    # path of a weight -> the axis that is spread
    axes = {
        "block_0/attention/qkv/kernel": 2,
        "block_0/attention/qkv/bias": 1,
        "block_0/attention/out/kernel": 0,
        "block_0/mlp/fc1/kernel": 1,
        "block_0/mlp/fc1/bias": 0,
        "block_0/mlp/fc2/kernel": 0,
    }
    for path, axis in axes.items():
        expected = list(weights[path].shape)
        expected[axis] //= ways
        assert list(layouts[path]) == expected, path
    for path in ("head/kernel", "block_0/norm1/gamma", "block_0/attention/out/bias"):
        assert tuple(layouts[path]) == weights[path].shape, path


@pytest.mark.parametrize("mesh", MESHES)
def test_the_optimizer_is_spread_as_the_weights_are(trained, mesh):
    moments = of_kind(trained[mesh], "moment")
    for path, layout in of_kind(trained[mesh], "layout").items():
        assert list(moments[path]) == list(layout), path


@pytest.mark.prove
def test_two_processes_give_what_one_gives(tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    meshes = "4x1,2x2"
    finish([start(tmp_path / "one.npz", "mlp", meshes, devices=4)])
    out = tmp_path / "two.npz"
    finish([start(out, "mlp", meshes, number, 2, address, devices=2) for number in range(2)])
    one, two = np.load(tmp_path / "one.npz"), np.load(out)
    assert set(one) == set(two)
    for mesh in meshes.split(","):
        assert_same_training(
            *({name.removeprefix(f"{mesh}:"): found[name] for name in found if mesh in name}
              for found in (two, one))
        )  # fmt: skip


def test_another_backend_is_refused_at_once():
    assert keras.backend.backend() == "tensorflow"
    with pytest.raises(RuntimeError, match="Set KERAS_BACKEND=jax, or call `model.fit` under a tf"):
        layout_map(ViTConfig(), mesh=None)


class Mesh:
    """What the checks read of a `DeviceMesh`."""

    axis_names = ("batch", "model")

    def __init__(self, ways):
        self.shape = (1, ways)


@pytest.mark.parametrize(
    ("fields", "ways", "message"),
    [
        ({"width": 192, "num_heads": 3}, 2, "divide `num_heads`. Received: num_heads=3, 2 chips"),
        ({"mlp_dim": 30}, 4, "divide `mlp_dim`. Received: mlp_dim=30, 4 chips"),
    ],
)
def test_what_cannot_be_divided_is_refused(monkeypatch, fields, ways, message):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(ValueError, match=message):
        layout_map(ViTConfig(**fields), Mesh(ways))


def test_a_mesh_without_the_axis_is_refused(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    mesh = Mesh(2)
    mesh.axis_names = ("batch", "heads")
    with pytest.raises(ValueError, match=r"an axis 'model'. Received: axis_names=\('batch', 'he"):
        layout_map(ViTConfig(), mesh)


def test_other_families_are_refused(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(ValueError, match="must be 1 for other models.*SwinConfig, 2 chips"):
        layout_map(SwinConfig(), Mesh(2))
