"""What is in a lowered step under JAX, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import pytest

from keras_vit.models import NAMES, ViT, ViTConfig
from keras_vit.training.tpu.jax_step import training_step

ROOT = Path(__file__).parents[3]
# The second head of a distilled DeiT is not in the count: forward and two products back.
SECOND_HEAD = {"deit_ti16": 192, "deit_s16": 384, "deit_b16": 768}


# Half a minute for all of them together.
pytestmark = pytest.mark.prove


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    out = tmp_path_factory.mktemp("lowering") / "found.json"
    environment = os.environ | {
        "KERAS_BACKEND": "jax",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, Path(__file__).with_name("lowering.py"), out]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text())


def test_every_published_variant_is_clean(found):
    assert list(found["published"]) == list(NAMES)
    assert {name: numbers["lint"] for name, numbers in found["published"].items()} == {
        name: [] for name in NAMES
    }


def test_the_products_are_those_of_the_analytic_count(found):
    plain = {name: it for name, it in found["published"].items() if "product_flops" in it}
    assert len(plain) > 40
    for name, numbers in plain.items():
        more = 4 * 3 * 2 * SECOND_HEAD.get(name, 0) * 1000
        assert numbers["product_flops"] == numbers["analytic_flops"] + more, name


@pytest.mark.parametrize("kind", ["mlp", "swiglu", "map", "video"])
@pytest.mark.parametrize("ways", [2, 4])
def test_no_weight_is_gathered(found, kind, ways):
    numbers = found["spread"][f"{kind} {ways}"]
    assert numbers["gathers"] == []
    # 32 x 3 x 4 x 8, 3 x 4 x 8 and 32 x 32 in attention; kernels and bias of the MLP.
    mlp = {32 * 96, 96, 48 * 32} if kind == "swiglu" else {32 * 48, 48}
    assert {32 * 96, 96, 32 * 32} | mlp <= set(numbers["sharded_sizes"])


def test_a_block_needs_two_sums_each_way(found):
    # Two blocks; the first's input has a gradient too, since the patches' projection is a weight.
    assert found["spread"]["mlp 4"]["collectives"].keys() == {"all-reduce"}
    assert found["spread"]["mlp 4"]["collectives"]["all-reduce"]["count"] == 2 * 4


def test_data_parallelism_only_sums(found):
    numbers = found["spread"]["mlp 1"]
    assert numbers["sharded_sizes"] == []
    assert numbers["collectives"].keys() == {"all-reduce"}


def test_tensorflow_is_refused():
    assert keras.backend.backend() == "tensorflow"
    with pytest.raises(RuntimeError, match="works with the JAX backend only"):
        training_step(ViT, ViTConfig(), [], 8)
