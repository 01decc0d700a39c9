"""Which patches of a picture a ViT with token merging takes for one."""

import keras
import numpy as np

from keras_vit.explain.kept_patches import by_pixel
from keras_vit.explain.overlay import rgb
from keras_vit.layers.sizes import patch_grid


def merged_patches(model, images):
    """Returns which patches end as one token.

    Args:
        model: a ViT of `keras_vit.models.merge_tokens`.
        images: normalised float images `[b, h, w, c]`, as for the model.

    Returns:
        A numpy array of integers `[b, rows, columns]`: patches of one number are one token.

    Raises:
        ValueError: for a model that merges nothing.

    Example:

    >>> from keras_vit.factory import create_model
    >>> model = create_model("vit_ti16", image_size=(32, 64), depth=2, merged=2)
    >>> len(set(merged_patches(model, np.ones((1, 32, 64, 3), "float32")).ravel().tolist()))
    4
    """
    config = getattr(model, "config", None)
    if not getattr(config, "merged", ()):
        raise ValueError(
            "`model` must merge tokens, as `merge_tokens` makes it. "
            f"Received: {type(model).__name__}."
        )
    _, groups = model.get_layer(f"block_{config.depth - 1}").output
    found = keras.Model(model.input, groups)(images, training=False)
    grid = patch_grid(config.image_size, config.patch_size)
    return keras.ops.convert_to_numpy(found).reshape(-1, *grid)


def merged_picture(picture, groups):
    """Returns a picture in which the patches of each token have their mean colour.

    Args:
        picture: 0 to 255, `[h, w]`, `[h, w, 1]` or `[h, w, 3]`.
        groups: integers `[rows, columns]`, one image of `merged_patches`.

    Returns:
        uint8 `[h, w, 3]`.
    """
    whole = rgb(picture)
    number = by_pixel(groups, whole.shape)
    painted = np.empty_like(whole)
    for group in np.unique(groups):
        painted[number == group] = np.rint(whole[number == group].mean(axis=0))
    return painted
