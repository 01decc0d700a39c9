"""The real compiler, a minute or two for each step: most of this is for `make prove`."""

import dataclasses
import json
import subprocess
import sys

import pytest

from keras_vit.training.tpu.check import Request, compile_step


@pytest.mark.prove
@pytest.mark.parametrize("road", ["jax", "tensorflow"])
def test_ti16_compiles_for_four_chips(road):
    outcome = compile_step(Request("vit_ti16", "v5e:2x2", batch_per_chip=128, road=road))
    assert outcome["compiled"] and outcome["lint"] == []
    assert 1.0 <= outcome["flops"] / outcome["analytic_flops"] <= 1.10
    # 5.7 million weights with two moments, and the images.
    assert 100e6 < outcome["arguments"] < 250e6
    assert outcome["hbm"] < 8 * 2**30
    assert outcome["collectives"].keys() == ({"all-reduce"} if road == "jax" else set())


@pytest.mark.prove
@pytest.mark.parametrize("topology", ["v6e:2x2", "v5p:2x2x2"])
def test_the_other_generations_compile_too(topology):
    outcome = compile_step(Request("vit_ti16", topology, batch_per_chip=8, fields={"depth": 1}))
    assert outcome["compiled"] and outcome["lint"] == []
    assert outcome["collectives"].keys() == {"all-reduce"}


@pytest.mark.prove
def test_no_weight_is_gathered_by_the_real_compiler():
    request = Request("vit_s16", "v5e:2x2", batch_per_chip=8, tensor_parallel=2)
    outcome = compile_step(dataclasses.replace(request, fields={"depth": 4}))
    assert outcome["compiled"] and outcome["gathered_weights"] == []
    assert outcome["collectives"]["all-reduce"]["count"] >= 4 * 4


@pytest.mark.prove
def test_a_step_that_is_too_large_is_told_with_its_size():
    # The images alone are 19 GiB.
    request = Request("vit_ti16", "v5e:2x2", batch_per_chip=2**15, fields={"depth": 1})
    outcome = compile_step(request)
    assert not outcome["compiled"]
    assert outcome["hbm"] > outcome["capacity"] == int(15.75 * 2**30)
    assert "memory" in outcome["message"]


def test_a_fault_is_the_last_line_of_the_process():
    request = dataclasses.asdict(Request("vit_ti16", fields={"depth": -1}))
    command = [sys.executable, "-m", "keras_vit.training.tpu.worker", json.dumps(request)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == "ValueError: `depth` must be an integer of at least 0. Received: depth=-1."
