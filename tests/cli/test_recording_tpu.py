import pytest

from keras_vit.cli import recording_tpu
from keras_vit.cli.recording_tpu import kept, row, smallest_slice, tpu_b16, tpu_table
from keras_vit.training.tpu.check import Request

OUTCOME = {
    "compiled": True,
    "hbm": 6 * 2**20,
    "temporaries": 4 * 2**20,
    "flops": 102.0,
    "analytic_flops": 100,
    "collectives": {},
    "gathered_weights": [],
    "lint": [],
}
TOO_LARGE = {"compiled": False, "hbm": 20 * 2**30, "message": "Ran out of memory.", "lint": []}


@pytest.fixture(autouse=True)
def versions(monkeypatch):
    monkeypatch.setattr(recording_tpu, "version", lambda name: f"{name} 1")


def test_what_is_recorded_of_a_compile():
    assert row(OUTCOME) == {
        "hbm_mib": 6,
        "temporaries_mib": 4,
        "flops": 102.0,
        "flops_over_analytic": 1.02,
        "collectives": {},
    }


@pytest.mark.parametrize(
    "fault", [{"compiled": False}, {"gathered_weights": ["f32[4]"]}, {"lint": ["float64: ..."]}]
)
def test_a_fault_is_not_recorded(fault):
    with pytest.raises(ValueError, match="must compile, and move no weight"):
        row(OUTCOME | fault)


def test_a_compile_is_done_once(tmp_path):
    asked = []

    def attempt(request):
        asked.append(request)
        return OUTCOME

    first, second = Request("vit_ti16"), Request("vit_ti16", batch_per_chip=8)
    for _ in range(2):  # the second time as after a stop
        keeping = kept(tmp_path, attempt)
        assert keeping(first) == keeping(second) == OUTCOME
    assert asked == [first, second]


def test_the_smallest_slice_is_the_first_with_room():
    def attempt(request):
        full = OUTCOME | {"flops": 106.0}
        return {1: TOO_LARGE, 2: full, 4: OUTCOME}[request.tensor_parallel]

    found = smallest_slice("vit_g14", attempt)
    assert (found["topology"], found["tensor_parallel"]) == ("v5e:2x2", 4)
    assert found["too_small"] == {
        "v5e:1x1, 1 chips a copy": "Ran out of memory.",
        "v5e:2x2, 2 chips a copy": "1.06 times the FLOPs: the compiler computes things again.",
    }
    with pytest.raises(ValueError, match="room on none"):
        smallest_slice("vit_g14", lambda request: TOO_LARGE)


@pytest.mark.parametrize("model, ways", [("vit_ti16", 1), ("vit_s16", 2)])
def test_a_tiny_model_may_have_more_beside_its_products(model, ways):
    def attempt(request):
        return OUTCOME | {"flops": 106.0 if request.tensor_parallel == 1 else 105.0}

    assert smallest_slice(model, attempt)["tensor_parallel"] == ways


def test_the_row_of_b16(tmp_path):
    def attempt(request):
        hbm = (1 + request.batch_per_chip / 10) * 2**30
        if hbm > 16 * 2**30:
            return TOO_LARGE | {"hbm": hbm}
        return OUTCOME | {"hbm": hbm}

    found = tpu_b16(tmp_path, attempt)
    assert list(found["steps"]) == ["v5e:2x2", "v5e:16x16", "tensorflow, one chip"]
    largest = found["largest_batch_per_chip"]
    assert (largest["compiles"], largest["does_not"]) == (144, 152)
    assert largest["flops_over_analytic"] == 1.02
    assert found["ran"] is False


def test_the_table_has_each_size(tmp_path):
    found = tpu_table(tmp_path, lambda request: OUTCOME)
    assert list(found["sizes"]) == ["Ti/16", "S/16", "B/16", "L/16", "H/14", "g/14", "G/14"]
    assert found["batch_per_chip"] == 8
