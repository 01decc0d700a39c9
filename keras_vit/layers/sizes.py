"""Sizes that may be given as one number or as (height, width)."""


def pair(name, value):
    """Returns `value` as (height, width).

    Args:
        name: the argument's name, for the error.
        value: a positive integer, or two of them.

    Raises:
        ValueError: for anything else.

    Example:

    >>> pair("patch_size", 16), pair("patch_size", [8, 4])
    ((16, 16), (8, 4))
    """
    sides = tuple(value) if isinstance(value, list | tuple) else (value, value)
    if len(sides) != 2 or any(not isinstance(s, int) or s < 1 for s in sides):
        raise ValueError(
            f"`{name}` must be a positive integer or two of them (height, width). "
            f"Received: {value!r}."
        )
    return sides


def patch_grid(image_size, patch_size):
    """Returns (rows, columns) of the patches of an image.

    Raises:
        ValueError: if the patch does not divide the image.

    Example:

    >>> patch_grid((224, 320), 16)
    (14, 20)
    """
    image, patch = pair("image_size", image_size), pair("patch_size", patch_size)
    if image[0] % patch[0] or image[1] % patch[1]:
        raise ValueError(
            "`patch_size` must divide `image_size`. "
            f"Received: image_size={image}, patch_size={patch}."
        )
    return image[0] // patch[0], image[1] // patch[1]
