"""`keras-vit explain`."""

from pathlib import Path
from typing import Annotated

import typer

from keras_vit.cli.console import out as console

SIDE = 448  # pixels: a smaller picture is enlarged, so that the map can be seen


def explain(
    model: Annotated[Path, typer.Argument(help="A .keras file.")],
    image: Annotated[Path, typer.Argument(help="A picture file.")],
    out: Annotated[Path, typer.Option(help="The picture to write.")] = Path("explained.png"),
):
    """Show what a model looks at: the picture beside its attention rollout."""
    from PIL import Image

    from keras_vit import runtime
    from keras_vit.cli.opening import open_keras
    from keras_vit.files import replacing

    network = open_keras(model)
    name, probability = runtime.open(network).predict_files([image], top=1)[0][0]
    picture = Image.fromarray(explained(network, image.read_bytes()))
    with replacing(out) as temporary:
        picture.save(temporary)
    console.print(f"{name}, {100 * probability:.1f} %. Written to {out}", soft_wrap=True)


def explained(model, encoded):
    """Returns a picture beside its attention rollout.

    Args:
        model: a `ViT`.
        encoded: bytes of a picture file.

    Returns:
        uint8 `[h, 2 * w, 3]`: what the model sees of the picture, in its own resolution.
    """
    import numpy as np

    from keras_vit.data import decode, fit
    from keras_vit.explain import overlay, rgb, rollout, visible_part

    preprocessing = model.preprocessing
    pixels = fit(decode(encoded, preprocessing.channels), preprocessing)
    heat = rollout(model, preprocessing.normalize(pixels[None]))[0]
    seen = rgb(visible_part(decode(encoded, 3).numpy(), preprocessing))
    factor = max(1, SIDE // max(seen.shape[:2]))
    seen = seen.repeat(factor, axis=0).repeat(factor, axis=1)
    return np.concatenate([seen, overlay(seen, heat)], axis=1)
