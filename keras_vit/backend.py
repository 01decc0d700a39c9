"""Says what to install when Keras's backend is missing, before Keras fails on it."""

import json
import os
from importlib.util import find_spec
from pathlib import Path

# Those that an extra of this distribution brings.
EXTRAS = ("tensorflow", "jax")


def configured_backend():
    """The name of the backend that Keras is going to use, found without importing Keras.

    Keras's own order holds: the environment variable `KERAS_BACKEND`, then `"backend"` in
    `keras.json` (in `KERAS_HOME`, else in `~/.keras`, or `/tmp/.keras` when the home folder cannot
    be written), then `"tensorflow"`.

    Returns:
        A string, such as `"tensorflow"` or `"jax"`.
    """
    from_environment = os.environ.get("KERAS_BACKEND")
    if from_environment:
        return from_environment
    home = os.environ.get("KERAS_HOME")
    if home is None:
        base = Path.home()
        home = (base if os.access(base, os.W_OK) else Path("/tmp")) / ".keras"
    try:
        settings = json.loads((Path(home).expanduser() / "keras.json").read_text("utf-8"))
    except (OSError, ValueError):  # Keras passes over a file that it cannot read, too
        settings = {}
    return settings.get("backend", "tensorflow")


def check_backend():
    """Checks that the backend which Keras is going to use is installed. Imports nothing.

    Raises:
        ImportError: when it is not; the message says what to install, or which environment
            variable to set when another backend is there.
    """
    name = configured_backend()
    if name not in EXTRAS or find_spec(name):  # another name is Keras's to judge
        return
    message = (
        f"keras_vit needs a Keras backend, and `{name}` is not installed. "
        f"Run: pip install 'keras-vit-kit[{name}]'"
    )
    others = [other for other in EXTRAS if other != name and find_spec(other)]
    if others:
        message += f" (or set KERAS_BACKEND={others[0]}, which is installed)"
    raise ImportError(message)
