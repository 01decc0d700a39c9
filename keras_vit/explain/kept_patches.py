"""Which patches of a picture a DynamicViT keeps, stage by stage."""

import keras
import numpy as np

from keras_vit.explain.overlay import rgb
from keras_vit.explain.sheet import sheet
from keras_vit.layers.sizes import patch_grid
from keras_vit.models import DynamicViT

FADED = 0.8  # of a dropped patch's colour is white


def kept_patches(model, images):
    """Returns which patches are still there after each stage.

    Args:
        model: a `DynamicViT`.
        images: normalised float images `[b, h, w, c]`, as for the model.

    Returns:
        A numpy array `[b, stages, rows, columns]`, True for a patch that is kept.

    Raises:
        ValueError: for another model.

    Example:

    >>> from keras_vit.factory import create_model
    >>> model = create_model("dynamic_deit_ti16", image_size=(32, 64), depth=4, keep_ratios=0.5)
    >>> kept_patches(model, np.zeros((1, 32, 64, 3), "float32")).sum(axis=(2, 3)).tolist()
    [[4, 2, 1]]
    """
    if not isinstance(model, DynamicViT):
        raise ValueError(
            f"`model` must be a DynamicViT, which drops patches. Received: {type(model).__name__}."
        )
    config, stages = model.config, range(len(model.config.stage_blocks))
    outputs = [model.get_layer(f"score_{stage}").output for stage in stages]
    scores = keras.tree.flatten(keras.Model(model.input, outputs)(images, training=False))
    there = np.tile(np.arange(config.num_patches), (len(images), 1))
    kept = np.zeros((len(images), len(outputs), config.num_patches), bool)
    for stage, stage_scores in enumerate(scores):
        select = model.get_layer(f"select_{stage}")
        if select.count < there.shape[1]:  # of all, none moves
            chosen = keras.ops.convert_to_numpy(select.chosen(stage_scores))
            there = np.take_along_axis(there, chosen, axis=1)
        np.put_along_axis(kept[:, stage], there, True, axis=1)
    return kept.reshape(*kept.shape[:2], *patch_grid(config.image_size, config.patch_size))


def kept_picture(picture, kept, captions):
    """Returns a picture beside what is left of it after each stage.

    Args:
        picture: 0 to 255, `[h, w]`, `[h, w, 1]` or `[h, w, 3]`.
        kept: bool `[stages, rows, columns]`, one image of `kept_patches`.
        captions: a text for the picture and one for each stage.

    Returns:
        uint8 `[h, w, 3]`: a `sheet`; dropped patches are faded.
    """
    whole = rgb(picture)
    faded = np.rint(whole + FADED * (255.0 - whole)).astype("uint8")
    left = [np.where(by_pixel(one, whole.shape)[..., None], whole, faded) for one in kept]
    return sheet([whole, *left], captions)


def by_pixel(grid, shape):
    """Returns what a grid `[rows, columns]` holds where each pixel of a picture lies, `[h, w]`."""
    (rows, height), (columns, width) = zip(grid.shape, shape[:2], strict=True)
    places = np.arange(height) * rows // height, np.arange(width) * columns // width
    return grid[np.ix_(*places)]
