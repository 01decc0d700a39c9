"""The page on which a person tries a model, and what it asks."""

import dataclasses
import json
import time
from importlib import resources

import numpy as np

from keras_vit.export.server.engine import Spec
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.picture_calls import PIXELS

EXPLAIN, TOP = "explain", 5
FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
# The page loads nothing from elsewhere, and nothing else may frame it.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def text_of(path):
    """Returns (text, content type) of one of the page's files, by its path in `FILES`."""
    name, kind = FILES[path]
    return resources.files(__package__).joinpath("page", name).read_text("utf-8"), kind


def described(models):
    """Returns what the page needs to know of the models, as JSON.

    Args:
        models: `Models`.
    """
    return json.dumps({"models": [_described(models, name) for name in models.names]})


def _described(models, name):
    with models.use(name) as loaded:
        runner = loaded.runner
        known = runner.preprocessing
        return {
            "name": name,
            "version": loaded.number,
            "takes_pictures": runner.pictures.can_read,
            "preprocessing": dataclasses.asdict(known) if known else None,
        }


async def look(engine, name, encoded):
    """Returns what a model sees in one picture, as JSON.

    Args:
        engine: `Engine`.
        name: the model.
        encoded: the picture's bytes.

    Raises:
        Refused: if it is no picture, or the model takes none.
    """
    with engine.models.use(name) as loaded:
        if not loaded.runner.pictures.can_read:
            raise Refused("FAILED_PRECONDITION", f"{name} takes no pictures, only arrays.")
        started = time.monotonic()
        pixels, (reason,) = await engine.in_thread(loaded.runner.pictures.read, [encoded])
        if reason:
            raise Refused("INVALID_ARGUMENT", reason)
        decoded = time.monotonic()
        definitions = loaded.runner.definitions
        spec = Spec(name, signature=EXPLAIN if EXPLAIN in definitions else PIXELS)
        definition = definitions[spec.signature]
        answer = await engine.compute(loaded, definition, spec, {"images": pixels})
        outputs = answer.outputs
        return json.dumps(
            {
                "model": name,
                "version": answer.version,
                "classes": best(outputs, loaded.runner.preprocessing.class_names),
                "attention": outputs["attention"][0].tolist() if "attention" in outputs else None,
                "decode_ms": 1000 * (decoded - started),
                "model_ms": 1000 * (time.monotonic() - decoded),
            }
        )


def best(outputs, names):
    """Returns the best classes of the first image as a list of [name, probability].

    Args:
        outputs: dict of name to array: `labels` and `scores`, or `probabilities`.
        names: the classes' names, or nothing.

    Example:

    >>> best({"probabilities": np.array([[0.25, 0.75]])}, ("cat", "dog"))
    [['dog', 0.75], ['cat', 0.25]]
    """
    if "labels" in outputs:
        labels = [label.decode("utf-8") for label in outputs["labels"][0].tolist()]
        return [list(pair) for pair in zip(labels, outputs["scores"][0].tolist(), strict=True)]
    row = outputs["probabilities"][0]
    order = np.argsort(-row, kind="stable")[:TOP].tolist()
    return [[names[index] if names else str(index), float(row[index])] for index in order]
