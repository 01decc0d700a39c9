"""`keras-vit lint`."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from keras_vit.cli.console import out


def lint(
    file: Annotated[Path, typer.Argument(help="A .tflite file of any origin.")],
    target: Annotated[
        str, typer.Option(help="edgetpu, gpu, web, mcu, ethos-u55, ethos-u65 or ethos-u85.")
    ],
    json_: Annotated[
        Path | None, typer.Option("--json", help="Also write all that was found to this file.")
    ] = None,
):
    """Say whether a device would take a .tflite file; exit with 1 where it would not."""
    from keras_vit.cli.evaluate import write_json
    from keras_vit.export.lint import lint as run

    if not file.is_file():
        raise FileNotFoundError(f"There is no file at {file}.")
    with out.status(f"checking for {target}"):
        verdict = run(file, target)
    show(verdict)
    if json_:
        write_json(verdict.summary(), json_)
    if not verdict.passes:
        raise typer.Exit(1)


def show(verdict):
    """Prints a verdict."""
    out.print(f"[bold]{escape(str(verdict))}[/]", soft_wrap=True)
    place = f", in {verdict.peak_block}" if verdict.peak_block else ""
    out.print(f"Activations: {verdict.peak_bytes / 1024:,.0f} KiB at most{place}", soft_wrap=True)
    figures = verdict.figures
    if figures:
        out.print(
            f"Estimated by the compiler for {figures['configuration']} at {figures['mhz']} MHz: "
            f"{figures['milliseconds']:,.2f} ms, {figures['cycles']:,} cycles, "
            f"{figures['sram_bytes'] / 1024:,.0f} KiB of SRAM",
            soft_wrap=True,
        )
    for title, findings in (("Blockers", verdict.blockers), ("Doubts", verdict.warnings)):
        # One line a reason: a model says the same of each of its blocks.
        counts = Counter((one.operator, one.reason, one.source) for one in findings)
        if counts:
            out.print(f"{title}:")
        for (operator, reason, source), count in counts.items():
            out.print(escape(f"  {count} x {operator} {reason} ({source})"), soft_wrap=True)
