import sys

import pytest

from keras_vit.training.tpu.topology import CHIPS, topology


@pytest.mark.parametrize(
    ("name", "chips", "gib"),
    [("v5e:1x1", 1, 16), ("v5e:2x2", 4, 16), ("v5e:16x16", 256, 16), ("v6e:2x4", 8, 32),
     ("v5p:2x2x1", 4, 95), ("v5p:4x4x4", 64, 95)],
)  # fmt: skip
def test_a_slice_by_name(name, chips, gib):
    found = topology(name)
    assert (found.name, found.chips, found.hbm) == (name, chips, gib * 2**30)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("v4:2x2x1", r"a generation \(v5e, v6e, v5p\) and a shape, like 'v5e:2x2'"),
        ("v5e", "and a shape"),
        ("v5e:2x", "and a shape"),
        ("v5e:2x2x2", "A v5e slice has 2 axes. Received: 'v5e:2x2x2'"),
        ("v5p:2x2", "A v5p slice has 3 axes"),
        ("v5e:3x3", "sides of a slice are even"),
        ("v5e:0x2", "sides of a slice are even"),
        ("v5e:1x2", "sides of a slice are even"),
        ("v5e:16x32", "at most 256 chips here. Received: 'v5e:16x32'"),
    ],
)
def test_what_is_no_slice(name, message):
    with pytest.raises(ValueError, match=message):
        topology(name)


def test_one_chip_of_each_generation():
    for generation, chip in CHIPS.items():
        shape = "x".join("2" * chip.axes)
        assert topology(f"{generation}:{shape}").one_chip().chips == 1


def test_the_environment_names_the_slice():
    environment = topology("v5e:4x4").environment()
    assert environment["TPU_ACCELERATOR_TYPE"] == "v5litepod-16"
    assert environment["JAX_PLATFORMS"] == "cpu"


def test_a_missing_compiler_is_told_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "libtpu", None)
    with pytest.raises(ImportError, match=r"Run: pip install 'keras-vit-kit\[tpu-check\]'"):
        topology("v5e:2x2").devices()
