import json
import sys

import pytest

from keras_vit.training.tpu import check

FIGURES = {
    "compiled": True,
    "hbm": 3 * 2**30,
    "temporaries": 2**30,
    "flops": 1.04e12,
    "analytic_flops": 1e12,
    "collectives": {"all-reduce": {"count": 2, "bytes": 3 * 2**20}},
    "gathered_weights": [],
    "lint": [],
}
FAILED = {"compiled": False, "message": "Used 20G of 15.75G hbm.", "lint": []}


@pytest.fixture
def compiler(monkeypatch):
    """A compiler with room for 150 images a chip; gives the requests that it got."""
    asked = []

    def attempt(request):
        asked.append(request)
        if request.batch_per_chip > 150:
            return FAILED | {"hbm": request.batch_per_chip * 16 / 150 * 2**30}
        return FIGURES | {"hbm": request.batch_per_chip * 16 / 150 * 2**30}

    monkeypatch.setattr(check, "require_compiler", lambda: None)
    monkeypatch.setattr(check, "compile_step", attempt)
    return asked


def test_the_figures_of_both_roads(cli, compiler, tmp_path):
    path = tmp_path / "figures.json"
    result = cli("tpu-check", "vit_b16", "--topology", "v5e:4x4", "--json", path)
    assert result.exit_code == 0, result.output
    assert "JAX, the step over the whole slice" in result.output
    assert "TensorFlow, the step of one replica" in result.output
    assert "13.65 of 16 GiB" in result.output
    assert "1.04e+12, 1.040 x the model's own" in result.output
    assert "2, 3.0 MiB" in result.output
    assert "Largest batch a chip: 144 compiles, 152 does not." in result.output
    assert result.output.endswith("Compiled, not run: no TPU was there.\n")
    # Once on each road, then for the largest batch; 128 was known by then.
    asked = [(request.road, request.batch_per_chip) for request in compiler]
    assert asked == [("jax", 128), ("tensorflow", 128), ("jax", 64), ("jax", 144), ("jax", 152)]
    assert {request.topology for request in compiler} == {"v5e:4x4"}
    written = json.loads(path.read_text())
    assert written["ran"] is False
    assert written["jax"]["flops"] == 1.04e12
    assert written["largest_batch_per_chip"] == {"compiles": 144, "does_not": 152}


def test_what_does_not_compile_is_exit_code_1(cli, compiler):
    result = cli("tpu-check", "vit_b16", "--batch-per-chip", "512", "--no-largest")
    assert result.exit_code == 1
    assert "does not compile. Used 20G of 15.75G hbm." in result.output


@pytest.mark.parametrize("fault", [{"lint": ["float64: %1"]}, {"gathered_weights": ["f32[9]"]}])
def test_what_compiled_with_a_fault_is_exit_code_1(cli, monkeypatch, fault):
    monkeypatch.setattr(check, "require_compiler", lambda: None)
    monkeypatch.setattr(check, "compile_step", lambda request: FIGURES | fault)
    result = cli("tpu-check", "vit_b16", "--no-largest")
    assert result.exit_code == 1
    assert str(*fault.values()).strip("[]'") in result.output


def test_tensor_parallelism_and_remat_reach_the_request(cli, compiler):
    result = cli("tpu-check", "vit_b16", "--tensor-parallel", "4", "--remat", "--no-largest")
    assert result.exit_code == 0, result.output
    (request,) = compiler  # by JAX alone
    assert (request.tensor_parallel, request.fields) == (4, {"remat": True})


def test_a_missing_compiler_is_one_sentence(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "libtpu", None)
    result = cli("tpu-check", "vit_b16")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: `libtpu` cannot be imported: `libtpu` is not installed. "
        "Run: pip install 'keras-vit-kit[tpu-check]'\n"
    )


def test_a_wrong_slice_is_one_sentence(cli):
    result = cli("tpu-check", "vit_b16", "--topology", "v5e:3x3")
    assert result.exit_code == 1
    assert "sides of a slice are even" in result.stderr


@pytest.mark.prove
def test_the_real_compiler_takes_a_tensor_parallel_step_with_remat(cli, tmp_path):
    path = tmp_path / "figures.json"
    options = ["--batch-per-chip", "8", "--tensor-parallel", "2", "--remat", "--no-largest"]
    result = cli("tpu-check", "vit_s16", *options, "--json", path)
    assert result.exit_code == 0, result.output
    found = json.loads(path.read_text())["jax"]
    assert found["compiled"] and found["gathered_weights"] == found["lint"] == []
    # The forward pass of the blocks once more: a third of their products.
    assert 1.2 < found["flops"] / found["analytic_flops"] < 1.4
