import pytest
from jax.errors import JaxRuntimeError

from keras_vit.training.tpu.compiler import compiled_jax, condensed, out_of_memory

# The two forms that libtpu 0.0.42 has.
MESSAGE = """RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory \
space hbm. Used 20.50G of 15.75G hbm. Exceeded hbm capacity by 4.75G.

Total hbm usage >= 20.75G:
    reserved        263.00M
    program          19.24G
"""
EARLY = (
    "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries "
    "(40.78G) exceeds available HBM (15.75G)."
)


def test_the_sizes_in_the_compilers_message():
    assert out_of_memory(MESSAGE) == (int(20.5 * 2**30), int(15.75 * 2**30))
    assert out_of_memory(EARLY) == (int(40.78 * 2**30), int(15.75 * 2**30))
    assert out_of_memory("INTERNAL: something else") is None


def test_a_message_is_condensed_to_its_first_paragraph():
    assert condensed(MESSAGE).endswith("Exceeded hbm capacity by 4.75G.")
    assert len(condensed("word " * 1000)) == 300


class Lowered:
    def __init__(self, message):
        self.message = message

    def compile(self):
        raise JaxRuntimeError(self.message)


def test_a_step_that_is_too_large():
    outcome = compiled_jax(Lowered(MESSAGE))
    assert outcome["compiled"] is False
    assert (outcome["hbm"], outcome["capacity"]) == out_of_memory(MESSAGE)
    assert outcome["message"] == condensed(MESSAGE)


def test_a_step_that_fails_otherwise_has_no_size():
    outcome = compiled_jax(Lowered("INTERNAL: Mosaic failed"))
    assert outcome == {"compiled": False, "message": "INTERNAL: Mosaic failed"}


def test_what_is_not_the_compilers_fault_is_raised():
    class Broken:
        def compile(self):
            raise TypeError("ours")

    with pytest.raises(TypeError, match="ours"):
        compiled_jax(Broken())
