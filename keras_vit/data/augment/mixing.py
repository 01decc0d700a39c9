"""What the parts that mix images and labels share."""

PER = ("batch", "example")


def check(per, **alphas):
    """Raises a ValueError for what no mixing can be."""
    if per not in PER:
        raise ValueError(f"`per` must be one of {PER}. Received: {per!r}.")
    for name, alpha in alphas.items():
        if not 0 <= alpha <= 1:
            raise ValueError(f"`{name}` must be between 0 and 1. Received: {alpha}.")


def drawn_by(keys, per):
    """Returns the keys that draws are made by: each image's own, or the first one's for all."""
    return keys if per == "example" else keys[:1]


def mixed(first, second, share):
    """Returns `share` of one tensor and the rest of another; `share` broadcasts to them."""
    return share * first + (1 - share) * second
