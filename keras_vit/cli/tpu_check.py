"""`keras-vit tpu-check`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from keras_vit.cli.console import out

GIB = 2**30
ROADS = {
    "jax": "JAX, the step over the whole slice",
    "tensorflow": "TensorFlow, the step of one replica on one chip",
}


def tpu_check(
    model: Annotated[str, typer.Argument(help="A registered name.")],
    topology: Annotated[
        str, typer.Option(help="A slice: v5e, v6e or v5p, and chips a side; up to 256 chips.")
    ] = "v5e:2x2",
    batch_per_chip: Annotated[int, typer.Option(min=2, help="Images a step and chip.")] = 128,
    tensor_parallel: Annotated[
        int, typer.Option(min=1, help="Chips that share one copy of the weights; by JAX only.")
    ] = 1,
    remat: Annotated[
        bool, typer.Option("--remat", help="Compute each block again in the backward pass.")
    ] = False,
    largest: Annotated[
        bool, typer.Option(help="Look for the largest batch: a few more compiles.")
    ] = True,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Write the figures here.")
    ] = None,
):
    """Compile a training step with the real TPU compiler, on a machine without a TPU."""
    from keras_vit.cli.evaluate import write_json
    from keras_vit.training.tpu.check import Request, compile_step, is_clean, require_compiler

    fields = {"remat": True} if remat else {}
    request = Request(model, topology, batch_per_chip, tensor_parallel, fields)
    require_compiler()
    requests = [request] if tensor_parallel > 1 else [request, request.on("tensorflow")]
    found = {}
    for each in requests:
        with out.status(f"compiling: {ROADS[each.road]} (a minute or more)"):
            outcome = found[each.road] = compile_step(each)
        out.print(_road(each, outcome), soft_wrap=True)
    if largest:
        found["largest_batch_per_chip"] = _largest(request, found["jax"])
    out.print("Compiled, not run: no TPU was there.")
    if json_path:
        write_json({"request": vars(request), **found, "ran": False}, json_path)
    if not all(is_clean(found[each.road]) for each in requests):
        raise typer.Exit(1)


def _largest(request, outcome):
    """Looks for the largest batch from the outcome of a request, and tells it."""
    from keras_vit.training.tpu.check import compile_step, largest

    batch = request.batch_per_chip

    def attempt(each):
        return outcome if each.batch_per_chip == batch else compile_step(each)

    with out.status("looking for the largest batch (a few compiles)"):
        fits, does_not = largest(request, (batch // 2, batch), attempt)
    out.print(f"Largest batch a chip: {fits} compiles, {does_not} does not.")
    return {"compiles": fits, "does_not": does_not}


def _road(request, outcome):
    """The table of one compile, or why there is none."""
    if not outcome["compiled"]:
        return f"{ROADS[request.road]}: does not compile. {outcome['message']}"
    from keras_vit.training.tpu.topology import topology

    hbm = topology(request.topology).hbm
    ratio = outcome["flops"] / outcome["analytic_flops"]
    table = Table(box=None, pad_edge=False, show_header=False, title=ROADS[request.road])
    table.add_row("HBM a chip", f"{outcome['hbm'] / GIB:.2f} of {hbm / GIB:.0f} GiB")
    table.add_row("  of it temporaries", f"{outcome['temporaries'] / GIB:.2f} GiB")
    table.add_row("FLOPs a step and chip", f"{outcome['flops']:.3g}, {ratio:.3f} x the model's own")
    for kind, numbers in outcome["collectives"].items():
        size = f"{numbers['bytes'] / 2**20:,.1f} MiB"
        table.add_row(f"  {kind}", f"{numbers['count']}, {size}")
    table.add_row("gathered weights", ", ".join(outcome.get("gathered_weights", [])) or "none")
    table.add_row("what no TPU can run", "; ".join(outcome["lint"]) or "none")
    return table
