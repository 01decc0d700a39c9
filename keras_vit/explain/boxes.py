"""Draws what a detector found on the picture."""

from PIL import Image, ImageDraw, ImageFont

# Of Okabe and Ito: they can be told apart with any kind of colour vision.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")


def draw_boxes(picture, boxes, captions, groups=None):
    """Returns a picture with boxes and what they hold.

    Args:
        picture: PIL image, or uint8 `[h, w, 3]`.
        boxes: `[n, 4]`: left, top, right, bottom in shares of the picture, the surest first.
        captions: a text for each box.
        groups: an integer for each box, such as its class: the same colour for the same number.

    Returns:
        A PIL image, the picture's size.

    Raises:
        ValueError: if there is not one caption a box.
    """
    if len(boxes) != len(captions):
        raise ValueError(
            "`captions` must have a text for each box. "
            f"Received: {len(captions)} for {len(boxes)} boxes."
        )
    drawn = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    drawn = drawn.convert("RGB")
    wide, high = drawn.size
    line = max(1, round(min(wide, high) / 150))
    font = ImageFont.load_default(max(10, min(wide, high) / 28))
    pen = ImageDraw.Draw(drawn)
    groups = range(len(boxes)) if groups is None else groups
    # The surest last, on top of the others.
    for box, caption, group in reversed(list(zip(boxes, captions, groups, strict=True))):
        colour = COLOURS[int(group) % len(COLOURS)]
        left, top, right, bottom = (
            round(float(share) * side) for share, side in zip(box, (wide, high) * 2, strict=True)
        )
        pen.rectangle(
            (left, top, max(right - 1, left), max(bottom - 1, top)), outline=colour, width=line
        )
        _caption(pen, caption, left, top, wide, high, font, colour)
    return drawn


def _caption(pen, caption, left, top, wide, high, font, colour):
    """A text on a plate above the corner, or in it where there is no room; inside the picture."""
    _, _, right, bottom = pen.textbbox((0, 0), caption, font=font)
    top = top - bottom - 2 if top >= bottom + 2 else top
    left = max(0, min(left, wide - right - 2))
    top = max(0, min(top, high - bottom - 2))
    pen.rectangle((left, top, left + right + 1, top + bottom + 1), fill=colour)
    pen.text((left + 1, top), caption, fill="black", font=font)
