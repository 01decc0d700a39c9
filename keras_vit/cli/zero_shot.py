"""`keras-vit zero-shot`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from keras_vit.cli.console import out
from keras_vit.cli.predict import answer_table


def zero_shot(
    model: Annotated[Path, typer.Argument(help="The .keras file of a CLIP.")],
    images: Annotated[
        list[Path] | None, typer.Argument(metavar="IMAGE...", help="Picture files.")
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="A,B,C", help="What the classes are called, with commas between.")
    ] = ...,
    template: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text with {} for the class. May be given again."),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(help="CLIP's vocabulary; by default that of the package open_clip_torch."),
    ] = None,
    clean: Annotated[
        str, typer.Option(help="How texts are cleaned: open_clip (by ftfy) or transformers.")
    ] = "open_clip",
    top: Annotated[int, typer.Option(min=1, help="How many classes to show.")] = 5,
    save: Annotated[
        Path | None, typer.Option(metavar="OUT.keras", help="Keep the classifier as a file.")
    ] = None,
):
    """Say which of some classes, told in words, is in pictures."""
    from keras_vit import runtime
    from keras_vit.data import Tokenizer
    from keras_vit.objectives import TEMPLATES, zero_shot_classifier

    clip = _open_clip(model)
    tokenizer = Tokenizer(vocabulary, clip.config.context_length, clean)
    names = [label.strip() for label in labels.split(",") if label.strip()]
    classifier = zero_shot_classifier(clip, names, tokenizer, template or TEMPLATES)
    if save is not None:
        _save(classifier, save)
    answers = runtime.open(classifier).predict_files(images or [], top=top)
    for image, answer in zip(images or [], answers, strict=True):
        out.print(Text(str(image), style="bold"), soft_wrap=True)
        out.print(answer_table(answer))


def _open_clip(path):
    from keras_vit.cli.opening import open_predictor
    from keras_vit.models import CLIP

    model = getattr(open_predictor(path), "model", None)
    if not isinstance(model, CLIP):
        raise ValueError(f"MODEL must be the .keras file of a CLIP. Received: {path}.")
    return model


def _save(classifier, path):
    from keras_vit.files import replacing

    if path.suffix != ".keras":
        raise ValueError(f"--save must end in .keras. Received: {path}.")
    with replacing(path) as temporary:
        classifier.save(temporary)
    out.print(f"Kept the classifier as {path}.", soft_wrap=True)
