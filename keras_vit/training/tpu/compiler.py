"""The TPU compiler: a program in, figures or the reason why not out."""

import re

from keras_vit.layers.extras import require
from keras_vit.training.tpu.figures import figures, gathers_of

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
SIZE = r"([\d.]+)([KMG]?)"
# libtpu says it early, of the temporaries alone, or late, of the whole program.
OUT_OF_MEMORY = re.compile(
    rf"temporaries \({SIZE}\) exceeds available HBM \({SIZE}\)|Used {SIZE} of {SIZE} hbm"
)


def compiled_jax(lowered, sharded_sizes=()):
    """Compiles a `jax.stages.Lowered` and returns its outcome.

    Args:
        lowered: the step, for devices of a `Topology`.
        sharded_sizes: numbers of elements of the weights that are spread over chips.

    Returns:
        A dict: `compiled`, and either the figures with `gathered_weights`, or `message` with
        `hbm` and `capacity` where memory ran out.
    """

    def compile_it():
        program = lowered.compile()
        text = program.as_text()
        found = figures(program.memory_analysis(), program.cost_analysis(), text)
        return {**found, "gathered_weights": gathers_of(text, sharded_sizes)}

    return _outcome(compile_it)


def compiled_text(text, device):
    """Compiles StableHLO text for one device of a `Topology` and returns its outcome.

    JAX has no public way in for a program that it did not write.
    """
    mlir = require("jax._src.interpreters.mlir", extra="tpu-check")
    ir = require("jax._src.lib.mlir", extra="tpu-check").ir
    options = require("jax._src.compiler", extra="tpu-check").get_compile_options(1, 1)
    devices = require("jaxlib._jax", extra="tpu-check").DeviceList((device,))

    def compile_it():
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
            program = device.client.compile(
                module, executable_devices=devices, compile_options=options
            )
        (hlo,) = program.hlo_modules()
        stats = program.get_compiled_memory_stats()
        return figures(stats, program.cost_analysis(), hlo.to_string())

    return _outcome(compile_it)


def out_of_memory(message):
    """Returns (bytes needed, bytes there are) as the compiler says them, or None.

    Example:

    >>> out_of_memory("Used 20.5G of 15.75G hbm. Exceeded hbm capacity by 4.75G.")
    (22011707392, 16911433728)
    """
    match = OUT_OF_MEMORY.search(message)
    if not match:
        return None
    used, unit, there, its_unit = (group for group in match.groups() if group is not None)
    return int(float(used) * UNITS[unit]), int(float(there) * UNITS[its_unit])


def _outcome(compile_it):
    error_class = require("jax.errors", extra="tpu-check").JaxRuntimeError
    try:
        return {"compiled": True, **compile_it()}
    except error_class as error:
        message = str(error)
    outcome = {"compiled": False, "message": condensed(message)}
    sizes = out_of_memory(message)
    if sizes:
        outcome["hbm"], outcome["capacity"] = sizes
    return outcome


def condensed(message):
    """The first lines of a compiler's message, without its lists of buffers."""
    paragraph = message.split("\n\n")[0]
    return " ".join(paragraph.split())[:300]
