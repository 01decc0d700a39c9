"""How often the partner of an image or a text is among those that are nearest to it."""

import numpy as np


def recall_at(k, images, texts):
    """Returns the recall at `k` in both directions, of pairs that stand at the same place.

    A text that is as near as the true one counts as nearer: of vectors that are all alike none is
    found.

    Args:
        k: how many neighbours are looked at.
        images, texts: vectors of length one, `[n, width]`.

    Returns:
        A dict: `image_to_text`, the share of images whose text is among the `k` nearest texts,
        and `text_to_image`.

    Raises:
        ValueError: for another `k` than 1 to `n`, or arrays that do not fit one another.

    Example:

    >>> vectors = np.eye(3)
    >>> recall_at(1, vectors, vectors[[0, 2, 1]])["image_to_text"] == 1 / 3
    True
    """
    images, texts = np.asarray(images, "float64"), np.asarray(texts, "float64")
    if images.shape != texts.shape or images.ndim != 2:
        raise ValueError(
            "`images` and `texts` must be of one shape [n, width]. "
            f"Received: {images.shape} and {texts.shape}."
        )
    if not 1 <= k <= len(images):
        raise ValueError(f"`k` must be from 1 to {len(images)}. Received: {k}.")
    products = images @ texts.T
    return {
        "image_to_text": _found(products, k),
        "text_to_image": _found(products.T, k),
    }


def _found(products, k):
    """The share of rows whose diagonal value is above all but `k - 1` others."""
    nearer = (products >= np.diag(products)[:, None]).sum(axis=1) - 1
    return float((nearer < k).mean())
