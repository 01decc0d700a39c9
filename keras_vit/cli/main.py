"""`keras-vit`: the commands and what they share."""

from typing import Annotated

import typer
from typer.core import TyperGroup

from keras_vit.cli import (
    bench,
    check_served,
    data,
    distill,
    doctor,
    evaluate,
    explain,
    export,
    lint,
    models,
    parity,
    predict,
    qat,
    serve,
    tpu_check,
    train,
    weights,
    zero_shot,
)
from keras_vit.cli.console import clear_errors, native_messages_hidden


class Commands(TyperGroup):
    """The commands, with clear errors around each."""

    def parse_args(self, ctx, args):
        # People add --debug at the end of the line that failed; it is an option of the whole.
        debug = [arg for arg in args if arg == "--debug"][:1]
        return super().parse_args(ctx, debug + [arg for arg in args if arg != "--debug"])

    def invoke(self, ctx):
        from keras_vit.backend import check_backend

        if ctx.params["debug"]:
            check_backend()
            return super().invoke(ctx)
        with clear_errors(), native_messages_hidden():
            check_backend()
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value):
    if value:
        from keras_vit.version import __version__

        typer.echo(f"keras-vit {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
):
    """Vision Transformers for Keras: train, evaluate, explain and ship them.

    MODEL is a .keras file, a SavedModel folder or a .tflite file.

    DATA is a folder with one subfolder a class, tfds:NAME, a .csv or .jsonl manifest, or
    TFRecord or ArrayRecord shards.
    """


app.command("train")(train.train)
app.command("distill")(distill.distill)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("zero-shot")(zero_shot.zero_shot)
app.command("explain")(explain.explain)
app.command("qat")(qat.qat)
app.command("export")(export.export)
app.command("lint")(lint.lint)
app.command("parity")(parity.parity)
app.command("doctor")(doctor.doctor)
app.command("bench")(bench.bench)
app.command("serve")(serve.serve)
app.command("check-served")(check_served.check_served)
app.add_typer(data.app, name="data")
app.command("tpu-check")(tpu_check.tpu_check)
app.command("models")(models.models)
app.command("weights")(weights.weights)


def main():
    """Runs the command line."""
    app(prog_name="keras-vit")


if __name__ == "__main__":
    main()
