"""One clear error for whatever a damaged file makes other code stumble over."""

import contextlib
import textwrap


@contextlib.contextmanager
def refused(what):
    """Turns any error of the block into one `ValueError`: `what`, a colon, the reason.

    Raises:
        ValueError: if the block raises.
    """
    try:
        yield
    # Damaged bytes lead zipfile, pickle, numpy and JSON into more kinds of errors than can be
    # listed: struct.error, NotImplementedError, RuntimeError, MemoryError, ...
    except Exception as error:
        raise ValueError(f"{what}: {_reason(error)}.") from error


def _reason(error):
    # str() of a KeyError is the repr of its text.
    text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    return textwrap.shorten(text, 300).rstrip(".") or type(error).__name__
