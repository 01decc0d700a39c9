"""`keras-vit export`."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from keras_vit.cli.console import out as console
from keras_vit.cli.data import DataDir

# Not read from the package, which loads TensorFlow; a test compares them.
PROFILES = (
    "cpu, mobile, gpu, web, npu, npu-16x8, edgetpu, mcu, server, onnx or float32. edgetpu and mcu "
    "report what would not map, and then write nothing."
)


def export(
    model: Annotated[Path, typer.Argument(help="A .keras file, or a registered name.")],
    profile: Annotated[str, typer.Option(help=PROFILES)],
    out: Annotated[Path | None, typer.Option(help="File, or folder for server, to write.")] = None,
    calibration: Annotated[
        str | None, typer.Option(help="DATA of the kind the model will see; npu needs it.")
    ] = None,
    data_dir: DataDir = None,
    xla_batch: Annotated[
        list[int] | None,
        typer.Option(help="For server: a batch size to compile by XLA; may be given again."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="For web: a folder for a page that runs the model.")
    ] = None,
):
    """Write a model for a server, a CPU, a phone or an NPU."""
    from keras_vit import runtime
    from keras_vit.cli.export_page import export_page
    from keras_vit.cli.opening import open_keras
    from keras_vit.export import export as run
    from keras_vit.models import CLIP, Detector
    from keras_vit.training.inputs import inputs_of
    from keras_vit.training.report_sections import file_size

    if (out is None) == (page is None):
        raise ValueError("`--out` or, for web, `--page` must be given.")
    network = open_keras(model)
    records = None
    if calibration is not None:
        records = inputs_of(network).find(calibration, data_dir).open_for_training()
    if page is not None:
        return export_page(network, profile, page, records)
    if isinstance(network, CLIP):
        return export_towers(network, profile, out)
    if isinstance(network, Detector):
        return export_boxes(network, profile, out, calibration)
    with console.status(f"exporting for {profile}"), reported():
        path = run(network, profile, out, records, xla_batches=xla_batch or ())
        size = file_size(runtime.open(path).size_bytes)
    console.print(f"Written to {path} ({size})", soft_wrap=True)


@contextlib.contextmanager
def reported():
    """Shows the linter's verdict on an artefact that is refused for what a device does not take."""
    from keras_vit.cli.lint import show
    from keras_vit.export.refused import Refused

    try:
        yield
    except Refused as error:
        if error.verdict is not None:
            show(error.verdict)
        raise


def export_boxes(network, profile, out, calibration):
    """Writes a detector."""
    from keras_vit.export.detector import export_detector
    from keras_vit.export.serving.versions import version_folder

    if calibration is not None:
        raise ValueError(
            f"No profile of a detector is calibrated: leave `--calibration` out. "
            f"Received: {calibration}."
        )
    with console.status(f"exporting for {profile}"):
        path = export_detector(
            network, profile, version_folder(out) if profile == "server" else out
        )
    console.print(f"Written to {path}", soft_wrap=True)


def export_towers(network, profile, out):
    """Writes both towers of a CLIP as one SavedModel; refuses other profiles with the remedy."""
    from keras_vit.export.clip_saved_model import export_clip
    from keras_vit.export.serving.versions import version_folder

    if profile != "server":
        raise ValueError(
            "A whole CLIP is exported for `server` alone, both towers in one. For other profiles "
            "export a classifier of it: `keras-vit zero-shot CLIP --labels ... --save CLASSIFIER`. "
            f"Received: profile={profile}."
        )
    with console.status("exporting both towers"):
        path = export_clip(network, version_folder(out))
    console.print(f"Written to {path}", soft_wrap=True)
