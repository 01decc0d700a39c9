"""The patches' features as colours: like parts of pictures get like colours."""

import keras
import numpy as np

from keras_vit.explain.blocks import as_float64
from keras_vit.layers.sizes import patch_grid


def principal_components(features, count=3):
    """Returns the first principal components of vectors.

    A component's sign means nothing; here its largest weight is positive, so that the same
    features give the same picture.

    Args:
        features: `[n, width]`.
        count: how many components; where the features have fewer, the rest is 0.

    Returns:
        A numpy array `[n, count]`, float64.

    Example:

    >>> import numpy as np
    >>> principal_components(np.array([[-2.0, 0.0], [2.0, 0.0]]), count=1).tolist()
    [[-2.0], [2.0]]
    """
    features = np.asarray(features, "float64")
    centred = features - features.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:count]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    found = centred @ (axes * np.where(largest < 0, -1.0, 1.0)).T
    return np.pad(found, ((0, 0), (0, count - found.shape[1])))


def patch_colours(model, images, block=None):
    """Returns the first three principal components of the patches' features as red, green, blue.

    The components are those of all the images together: a colour means the same in each.

    Args:
        model: a model of this package whose patch tokens lie on a grid, or are a map.
        images: normalised float images `[b, h, w, c]`, as for the model.
        block: name of the layer whose tokens are taken; by default, those after the final norm.

    Returns:
        uint8 `[b, rows, columns, 3]`: each colour from its least to its greatest value.

    Raises:
        ValueError: for an unknown layer, or one that gives neither tokens on the grid nor a map.

    Reference:
        Oquab et al., *DINOv2: Learning Robust Visual Features without Supervision*, 2023, arXiv
        2304.07193 (figure 1).
    """
    features = _patch_features(model, images, block)
    colours = principal_components(features.reshape(-1, features.shape[-1]))
    low, high = colours.min(axis=0), colours.max(axis=0)
    # An even component is black, as an even heat is.
    colours = (colours - low) / np.where(high > low, high - low, 1)
    return np.rint(255 * colours).astype("uint8").reshape(*features.shape[:-1], 3)


def _patch_features(model, images, block):
    """`[b, rows, columns, width]`."""
    tokens = as_float64(_tokens(model, images, block))
    if tokens.ndim == 4:  # a map, as in models of stages
        return tokens
    config = model.config
    if tokens.ndim != 3 or not hasattr(config, "num_prefix"):
        raise ValueError(
            "`block` must name a layer that gives a token for each patch of a ViT, or a map, as "
            f"the blocks of a model of stages do. Received: {block!r}, which gives {tokens.shape}."
        )
    grid = patch_grid(config.image_size, config.patch_size)
    patches = tokens[:, tokens.shape[1] - grid[0] * grid[1] :]
    return patches.reshape(len(patches), *grid, -1)


def _tokens(model, images, block):
    if block is None:
        return model.features(images)["tokens"]
    names = [layer.name for layer in model.layers]
    if block not in names:
        raise ValueError(f"`block` must be one of {', '.join(names)}. Received: {block!r}.")
    return keras.Model(model.input, model.get_layer(block).output)(images, training=False)
