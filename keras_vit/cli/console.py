"""Where commands print, and how they fail."""

import contextlib
import os
import re
import sys

import typer
from rich.console import Console
from rich.markup import escape

# What a user can put right, told in one sentence. Anything else is told as a fault of ours.
EXPECTED = (ValueError, OSError, ImportError)
INTERRUPTED = 130  # the shell's number for a process that Ctrl-C ended

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


@contextlib.contextmanager
def clear_errors():
    """Turns errors into one sentence on stderr and an exit code: 1, or 130 for Ctrl-C.

    Raises:
        typer.Exit: with the exit code.
    """
    try:
        yield
    except KeyboardInterrupt:
        err.print("Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort) or _is_usage(error):
            raise
        err.print(f"[bold red]Error:[/] {escape(sentence(error))}", soft_wrap=True)
        raise typer.Exit(1) from None


def sentence(error):
    """Returns an exception as one line of text.

    Example:

    >>> sentence(ValueError("`width` must be\\n  positive."))
    '`width` must be positive.'
    """
    if isinstance(error, OSError) and error.strerror:
        # str() puts "[Errno 13]" in front, which helps nobody.
        where = f": {error.filename}" if error.filename is not None else "."
        return f"{error.strerror}{where}"
    message = " ".join(_own_words(str(error)).split()) or type(error).__name__
    if isinstance(error, EXPECTED):
        return message
    return f"{type(error).__name__}: {message} (unexpected; --debug shows where)"


@contextlib.contextmanager
def native_messages_hidden():
    """Hides what native code writes to stderr while the block runs.

    TensorFlow, its converter and LiteRT write dozens of lines there, some whatever the log level
    is. What Python writes to `sys.stderr` is shown as ever, and errors come as exceptions.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    stderr = sys.stderr
    stderr.flush()
    kept = os.dup(2)
    if _is_descriptor_2(stderr):
        sys.stderr = os.fdopen(os.dup(kept), "w", 1, stderr.encoding, stderr.errors)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        sys.stderr = stderr


def bar(share, width=20):
    """Returns a share from 0 to 1 as a bar of text.

    Example:

    >>> bar(0.5, width=4)
    '██░░'
    """
    full = round(width * min(max(share, 0.0), 1.0))
    return "█" * full + "░" * (width - full)


def _own_words(message):
    """A layer's own message, out of the frame that Keras puts around it."""
    framed = re.search(r"Exception encountered when calling.*?\x1b\[1m(.*?)\x1b\[0m", message, re.S)
    return framed[1] if framed else message


def _is_usage(error):
    # Wrong options: typer prints them itself. It may carry its own copy of click.
    return any(kind.__name__ == "ClickException" for kind in type(error).__mro__)


def _is_descriptor_2(file):
    try:
        return file.fileno() == 2
    except (OSError, ValueError):  # a test's own stand-in
        return False
