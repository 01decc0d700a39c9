"""`keras-vit explain`."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from keras_vit.cli.console import out as console

SIDE = 448  # pixels: a smaller picture is enlarged, so that the map can be seen
TILE = 224  # pixels: a picture among many
NEIGHBOURS = 15  # with the picture itself, four rows of four


def explain(
    model: Annotated[Path, typer.Argument(help="A .keras file.")],
    image: Annotated[Path, typer.Argument(help="A picture file.")],
    out: Annotated[Path, typer.Option(help="The picture to write.")] = Path("explained.png"),
    method: Annotated[
        str,
        typer.Option(help="rollout, attention, relevance, pca, patches, painted or neighbours."),
    ] = "rollout",
    block: Annotated[
        str | None, typer.Option(help="Which block, for attention and pca: block_0, …")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="For neighbours: the folder of pictures to search.")
    ] = None,
):
    """Show what a model looks at, or which pictures it finds alike."""
    from PIL import Image

    from keras_vit import runtime
    from keras_vit.cli.opening import open_keras
    from keras_vit.files import replacing

    check(method, block, data)
    network = open_keras(model)
    if method == "neighbours":
        picture = neighbours(network, image, data)
    else:
        picture = explained(network, image.read_bytes(), method, block)
    with replacing(out) as temporary:
        Image.fromarray(picture).save(temporary)
    said = ""
    if network.config.num_classes:
        name, probability = runtime.open(network).predict_files([image], top=1)[0][0]
        said = f"{name}, {100 * probability:.1f} %. "
    console.print(f"{said}Written to {out}", soft_wrap=True, markup=False)


def check(method, block, data):
    """Checks the options against one another.

    Raises:
        ValueError: for an unknown method, or an option that the method has no use for or lacks.
    """
    if method not in (*METHODS, "neighbours"):
        raise ValueError(
            f"`--method` must be one of {', '.join(METHODS)}, neighbours. Received: {method!r}."
        )
    if block is not None and method not in ("attention", "pca"):
        raise ValueError(
            f"`--block` is for the methods attention and pca: {method} takes all blocks together. "
            f"Received: --method {method} --block {block}."
        )
    if (data is not None) != (method == "neighbours"):
        raise ValueError(
            "`--data` names the folder in which `--method neighbours` searches, and goes with it "
            f"alone. Received: --method {method}, --data {data}."
        )


def explained(model, encoded, method="rollout", block=None):
    """Returns a picture beside what a model sees in it.

    Args:
        model: a `ViT`, or what the method takes.
        encoded: bytes of a picture file.
        method: a key of `METHODS`.
        block: the name of a block, for attention and pca.

    Returns:
        uint8 `[h, w, 3]`: what the model sees of the picture, in its own resolution, on the left;
        for attention, a map a head.
    """
    from keras_vit.data import decode, fit
    from keras_vit.explain import rgb, visible_part

    preprocessing = model.preprocessing
    pixels = fit(decode(encoded, preprocessing.channels), preprocessing)
    images = np.asarray(preprocessing.normalize(pixels[None]))
    seen = rgb(visible_part(decode(encoded, 3).numpy(), preprocessing))
    factor = max(1, SIDE // max(seen.shape[:2]))
    seen = seen.repeat(factor, axis=0).repeat(factor, axis=1)
    return METHODS[method](model, images, seen, block)


def neighbours(model, image, folder):
    """Returns a picture with those of a folder that a model finds most alike.

    Args:
        model: a Keras model of this package.
        image: path of a picture.
        folder: folder of pictures, in any subfolders.

    Returns:
        uint8 `[h, w, 3]`: the picture, then the others by falling cosine of the pooled features.
    """
    from keras_vit.data import open_images
    from keras_vit.explain import nearest, pooled_features, sheet

    records = open_images([folder])
    query = pooled_features(model, open_images([image]))
    (indices,), (cosines,) = nearest(query, pooled_features(model, records), NEIGHBOURS)
    tiles, captions = [_tile(image.read_bytes())], [image.name]
    for index, cosine in zip(indices, cosines, strict=True):
        tiles.append(_tile(records.read(index)))
        captions.append(f"{cosine:.3f}  {Path(records.name(index)).name}")
    return sheet(tiles, captions)


def _tile(encoded):
    from keras_vit.data import decode, fit
    from keras_vit.layers import Preprocessing

    return fit(decode(encoded, 3), Preprocessing(TILE, resize="crop", crop=1.0)).numpy()


def _rollout(model, images, seen, block):
    from keras_vit.explain import overlay, rollout

    return np.concatenate([seen, overlay(seen, rollout(model, images)[0])], axis=1)


def _relevance(model, images, seen, block):
    from keras_vit.explain import overlay, relevance

    return np.concatenate([seen, overlay(seen, relevance(model, images)[0])], axis=1)


def _attention(model, images, seen, block):
    from keras_vit.explain import attention_maps, overlay, sheet

    seen = _scaled(seen, TILE)
    maps = attention_maps(model, images, block)[0]
    captions = ["picture", *(f"head {head}" for head in range(len(maps)))]
    return sheet([seen, *(overlay(seen, heat) for heat in maps)], captions)


def _pca(model, images, seen, block):
    from PIL import Image

    from keras_vit.explain import patch_colours

    colours = Image.fromarray(patch_colours(model, images, block)[0])
    # Each patch stays one square: smooth passages would invent parts that are not there.
    enlarged = colours.resize(seen.shape[1::-1], Image.Resampling.NEAREST)
    return np.concatenate([seen, np.asarray(enlarged)], axis=1)


def _patches(model, images, seen, block):
    from keras_vit.explain import kept_patches, kept_picture, merged_patches, merged_picture

    seen = _scaled(seen, TILE)
    if not hasattr(model.config, "keep_ratios"):
        return np.concatenate(
            [seen, merged_picture(seen, merged_patches(model, images)[0])], axis=1
        )
    config = model.config
    stages = zip(config.stage_blocks, config.kept, strict=True)
    captions = [f"before block_{block}: {count}" for block, count in stages]
    kept = kept_patches(model, images)[0]
    return kept_picture(seen, kept, [f"{config.num_patches} patches", *captions])


def _painted(model, images, seen, block):
    from keras_vit.models import MAE
    from keras_vit.training.painted_pictures import painted_rows

    if not isinstance(model, MAE):
        raise ValueError(
            "`--method painted` is for a masked autoencoder, such as mae_b16. "
            f"Received: {type(model).__name__}."
        )
    row = painted_rows(model, images)[0]
    row = row.repeat(3, axis=2) if row.shape[2] == 1 else row
    factor = max(1, SIDE // row.shape[0])
    return row.repeat(factor, axis=0).repeat(factor, axis=1)


def _scaled(picture, side):
    from PIL import Image

    factor = side / max(picture.shape[:2])
    size = [max(1, round(factor * length)) for length in picture.shape[1::-1]]
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))


# Method -> (model, normalised images, the picture, block) to the picture to write.
METHODS = {
    "rollout": _rollout,
    "attention": _attention,
    "relevance": _relevance,
    "pca": _pca,
    "patches": _patches,
    "painted": _painted,
}
