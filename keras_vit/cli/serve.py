"""`keras-vit serve`."""

from pathlib import Path
from typing import Annotated

import typer


def serve(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="NAME/<version>/, a folder of such models, a SavedModel or a .tflite file.",
        ),
    ],
    port: Annotated[int, typer.Option(min=0, help="Port of gRPC; 0 takes a free one.")] = 8500,
    rest_port: Annotated[
        int, typer.Option(min=0, help="Port of REST, the page and the metrics; 0: a free one.")
    ] = 8501,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    max_batch: Annotated[int, typer.Option(help="Most examples of a batch.")] = 16,
    batch_timeout_ms: Annotated[
        float, typer.Option(help="How long an example waits for others.")
    ] = 2.0,
    queue: Annotated[int, typer.Option(help="Most requests that wait for a model.")] = 128,
    timeout_s: Annotated[float, typer.Option(help="Most seconds for a request.")] = 30.0,
    max_body_mb: Annotated[float, typer.Option(help="Most megabytes of a request.")] = 32.0,
    max_pixels: Annotated[int, typer.Option(help="Most pixels of a picture.")] = 32_000_000,
    versions: Annotated[int, typer.Option(help="How many of the newest versions.")] = 1,
    poll_s: Annotated[float, typer.Option(help="Seconds between two looks at DIR.")] = 1.0,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key, PEM.")] = None,
    token: Annotated[
        list[str] | None,
        typer.Option(
            envvar="KERAS_VIT_TOKEN",
            help="A bearer token that is accepted; may be given several times. Better by the "
            "environment: a command line can be read by others.",
        ),
    ] = None,
):
    """Serve models to TF Serving's clients, gRPC and REST, with a page to try them."""
    from keras_vit.export.server import Settings, run

    settings = {**locals(), "tokens": tuple(token or ())}
    names = set(Settings.__dataclass_fields__)
    run(Settings(**{name: value for name, value in settings.items() if name in names}))
