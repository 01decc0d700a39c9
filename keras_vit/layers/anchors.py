"""Anchors: boxes at fixed places, from which a detector measures what it finds.

Everything is in shares of the image, 0 to 1: left, top, right, bottom. How much two boxes overlap
and how one lies to another do not change when width and height are scaled.

KerasHub's `AnchorGenerator` is not used: it sets anchors on the upper left corner of each cell,
where ours stand on its middle, and rounds their sides to whole pixels, which at strides of 4 or 8
takes up to a tenth of one.
"""

import numpy as np
from keras import ops


def anchor_boxes(image_size, levels, scales=3, aspects=(0.5, 1.0, 2.0), size=4.0):
    """Returns all anchors of an image, in the order of a detector's outputs.

    Args:
        image_size: (height, width) in pixels.
        levels: (first, last); a level's cells are `2 ** level` pixels wide, the last of a row
            may lie partly outside.
        scales: anchors of each shape; their sides differ by factors of `2 ** (1 / scales)`.
        aspects: height / width of each shape.
        size: side of the smallest square anchor, in cells.

    Returns:
        float32 numpy `[n, 4]`: level by level, row by row, of a cell shape by shape, each from
        small to large. They may reach outside the image.

    Example:

    >>> anchor_boxes((8, 16), (3, 3), scales=1, aspects=(1.0,), size=1.0).tolist()
    [[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 1.0, 1.0]]
    """
    found = []
    for level in range(levels[0], levels[1] + 1):
        stride = 2**level
        sides = size * stride * 2 ** (np.arange(scales) / scales)
        # Of each shape the same area.
        wide = np.concatenate([sides / aspect**0.5 for aspect in aspects])
        high = np.concatenate([sides * aspect**0.5 for aspect in aspects])
        half = np.stack([wide, high], axis=-1) / 2
        rows, columns = (stride * (np.arange(-(-side // stride)) + 0.5) for side in image_size)
        centres = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 1, 2)
        found.append(np.concatenate([centres - half, centres + half], axis=-1).reshape(-1, 4))
    pixels = np.concatenate(found)
    return (pixels / np.tile(image_size[::-1], 2)).astype("float32")


def boxes_of_deltas(deltas, anchors):
    """Returns the boxes that a detector says, by what it says of each anchor.

    Args:
        deltas: `[..., n, 4]`: the way of the centre to the right and down, in widths and heights of
            the anchor, and the logarithms of the factors on its width and height.
        anchors: `[n, 4]`, see `anchor_boxes`.

    Returns:
        `[..., n, 4]`: left, top, right, bottom, cut to the image, 0 to 1.
    """
    centre, size = _centre_and_size(ops.cast(anchors, deltas.dtype))
    centre = centre + deltas[..., :2] * size
    # A factor of e ** 4 is beyond any box: before it is learned, nothing overflows.
    half = ops.exp(ops.minimum(deltas[..., 2:], 4.0)) * size / 2
    return ops.clip(ops.concatenate([centre - half, centre + half], axis=-1), 0.0, 1.0)


def deltas_of_boxes(boxes, anchors):
    """Returns what a detector should say of each anchor: the reverse of `boxes_of_deltas`.

    Args:
        boxes: `[..., n, 4]`, one box an anchor. One without area gives zeros.
        anchors: `[n, 4]`.
    """
    anchor_centre, anchor_size = _centre_and_size(ops.cast(anchors, boxes.dtype))
    centre, size = _centre_and_size(boxes)
    real = ops.all(size > 0, axis=-1, keepdims=True)
    size = ops.where(real, size, anchor_size)
    moves = ops.concatenate(
        [(centre - anchor_centre) / anchor_size, ops.log(size / anchor_size)], axis=-1
    )
    return ops.where(real, moves, 0.0)


def overlaps(boxes, others):
    """Returns the intersection over union of each box with each of the others.

    Args:
        boxes: `[..., n, 4]`.
        others: `[..., m, 4]`.

    Returns:
        `[..., n, m]`, 0 to 1; 0 for boxes without area.

    Example:

    >>> float(overlaps(np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([[0.5, 0.0, 1.0, 1.0]]))[0, 0])
    0.5
    """
    first, second = boxes[..., :, None, :], others[..., None, :, :]
    low = ops.maximum(first[..., :2], second[..., :2])
    high = ops.minimum(first[..., 2:], second[..., 2:])
    common = ops.prod(ops.maximum(high - low, 0), axis=-1)
    return ops.divide_no_nan(common, _area(first) + _area(second) - common)


def _area(boxes):
    return ops.prod(boxes[..., 2:] - boxes[..., :2], axis=-1)


def _centre_and_size(boxes):
    return (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]
