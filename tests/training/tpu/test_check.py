import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from keras_vit.training.tpu import check
from keras_vit.training.tpu.check import Request, compile_step, largest, require_compiler


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "vit_x16"}, "a registered name, see `keras-vit models`. Received: 'vit_x16'"),
        ({"topology": "v5e:3x3"}, "sides of a slice are even"),
        ({"road": "torch"}, r"one of \['jax', 'tensorflow'\]. Received: 'torch'"),
        ({"tensor_parallel": 3}, "must divide the number of chips. Received: tensor_parallel=3, 4"),
        ({"tensor_parallel": 2, "road": "tensorflow"}, "Tensor parallelism is the JAX road's"),
    ],
)
def test_a_wrong_request(fields, message):
    with pytest.raises(ValueError, match=message):
        Request(**{"model": "vit_ti16", **fields})


def process(monkeypatch, **result):
    calls = []

    def run(command, env, **options):
        calls.append((command, env))
        return SimpleNamespace(**{"returncode": 0, "stdout": "", "stderr": "", **result})

    monkeypatch.setattr(check.subprocess, "run", run)
    return calls


@pytest.mark.parametrize("road", ["jax", "tensorflow"])
def test_each_road_has_a_process_with_its_backend(monkeypatch, road):
    calls = process(monkeypatch, stdout='noise\n{"compiled": true}\n')
    request = Request("vit_ti16", road=road)
    assert compile_step(request) == {"compiled": True}
    ((command, environment),) = calls
    assert json.loads(command[-1]) == vars(request)
    assert environment["KERAS_BACKEND"] == road
    assert environment["TPU_ACCELERATOR_TYPE"] == "v5litepod-4"


@pytest.mark.parametrize(
    ("stderr", "error", "message"),
    [
        ("Traceback\n  frame\nValueError: `depth` is wrong.", ValueError, "`depth` is wrong."),
        ("ImportError: `libtpu` is missing.", ImportError, "`libtpu` is missing."),
        ("jaxlib.Error: no", RuntimeError, "no"),
        ("Aborted", RuntimeError, "Aborted"),
        ("", RuntimeError, "exit code -6"),
    ],
)
def test_a_failed_process_is_told_by_its_last_line(monkeypatch, stderr, error, message):
    process(monkeypatch, returncode=-6, stderr=stderr)
    with pytest.raises(error) as raised:
        compile_step(Request("vit_ti16"))
    assert str(raised.value) == message


def test_the_largest_batch_is_asked_of_the_compiler():
    asked = []

    def attempt(request):
        asked.append(request)
        needed = (1 + request.batch_per_chip / 10) * 2**30  # 150 images in 16 GiB
        return {"compiled": needed <= 16 * 2**30, "hbm": needed}

    request = Request("vit_ti16", "v5e:4x4", tensor_parallel=2)
    assert largest(request, (64, 128), attempt) == (144, 152)
    assert [each.batch_per_chip for each in asked] == [64, 128, 144, 152]
    assert {(each.topology, each.tensor_parallel) for each in asked} == {("v5e:4x4", 2)}


def test_a_compile_that_fails_for_another_reason_ends_the_search():
    with pytest.raises(RuntimeError, match="INTERNAL: a fault"):
        largest(
            Request("vit_ti16"),
            (64, 128),
            lambda request: {"compiled": False, "message": "INTERNAL: a fault"},
        )


def test_a_missing_compiler_is_told_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "libtpu", None)
    with pytest.raises(ImportError, match=r"Run: pip install 'keras-vit-kit\[tpu-check\]'"):
        require_compiler()


def test_the_worker_can_be_started():
    code = "import keras_vit.training.tpu.worker as worker; print(sorted(worker.ROADS))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == f"{sorted(check.BACKENDS)}\n", done.stderr
