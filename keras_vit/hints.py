"""What a user may have meant by a name that there is not."""

import difflib


def did_you_mean(name, names):
    """Returns ` Did you mean 'NAME'?` for the closest of `names`, or nothing if none is close.

    Example:

    >>> did_you_mean("vit_b17", ["vit_b16", "swin_t"]), did_you_mean("resnet", ["vit_b16"])
    (" Did you mean 'vit_b16'?", '')
    """
    close = difflib.get_close_matches(str(name), [str(one) for one in names], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
