"""`keras-vit qat`."""

from pathlib import Path
from typing import Annotated

import typer

from keras_vit.cli.console import out as console
from keras_vit.cli.data import DATA, DataDir


def qat(
    model: Annotated[Path, typer.Argument(help="A trained .keras file of a ViT or DeiT.")],
    data: Annotated[str, typer.Argument(help=DATA)],
    out: Annotated[Path, typer.Option(help="Folder for model.keras and model.tflite.")],
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training images.")] = 3,
    batch_size: Annotated[int, typer.Option(min=1, help="Images a step.")] = 32,
    learning_rate: Annotated[float, typer.Option(help="The highest; it falls to zero.")] = 1e-5,
    augment: Annotated[
        list[str] | None, typer.Option(help="Augmentation, such as flip; may be given again.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of order, augmentation and split.")] = 0,
    data_dir: DataDir = None,
):
    """Fine-tune a model with the rounding of its full int8 file, and write both."""
    from keras_vit import runtime
    from keras_vit.cli.opening import open_keras
    from keras_vit.data import find_data
    from keras_vit.export import export
    from keras_vit.export.qat import quantization_aware
    from keras_vit.export.qat.tuning import fine_tune

    network = open_keras(model)
    training, held_out = find_data(data, data_dir).open_train_and_held_out(0.2, seed)
    with console.status("calibrating"):
        rounding = quantization_aware(network, training)
    console.print(f"In floats: {accuracy(network, held_out)}")
    console.print(f"In integers, before: {accuracy(rounding, held_out)}")
    with console.status("fine-tuning"):
        fine_tune(rounding, training, epochs, batch_size, learning_rate, augment or (), seed)
    out.mkdir(parents=True, exist_ok=True)
    rounding.save(out / "model.keras")
    with console.status("exporting"):
        path = export(rounding, "npu", out / "model.tflite", training)
    console.print(f"In integers, after: {accuracy(runtime.open(path), held_out)}")
    console.print(f"Written to {out}", soft_wrap=True)


def accuracy(model, records):
    """The share of held-out images whose best class is theirs, as text."""
    from keras_vit import runtime
    from keras_vit.training.evaluation import evaluate

    predictor = model if hasattr(model, "logits") else runtime.open(model)
    return f"{100 * evaluate(predictor, records).accuracy:.1f} % of {len(records):,} images"
