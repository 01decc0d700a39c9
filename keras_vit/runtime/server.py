"""Runs a model on a server: ours, TF Serving, or another of its protocol."""

import os
import re
from pathlib import Path

import numpy as np

from keras_vit.layers import Preprocessing
from keras_vit.runtime.predictor import Predictor, softmax
from keras_vit.runtime.server_grpc import Grpc
from keras_vit.runtime.server_http import Http

PIXELS, BYTES = "serving_default", "serving_bytes"
TOKEN, SECONDS = "KERAS_VIT_TOKEN", 60
# Few enough for any server's limit on batches and bodies; it joins them itself.
IMAGES_AT_ONCE = 8
_HTTP = re.compile(r"https?://[^/]+/v1/models/[^/:]+(/versions/\d+|/labels/[^/:]+)?/?")
_GRPC = re.compile(r"(?P<scheme>grpcs?)://(?P<target>[^/]+)/(?P<name>[^/]+)(/(?P<version>\d+))?/?")


def is_address(model):
    """Whether `model` is the address of a server rather than a path.

    Example:

    >>> is_address("grpc://127.0.0.1:8500/cats"), is_address("cats.keras")
    (True, False)
    """
    return isinstance(model, str) and re.match(r"(https?|grpcs?)://", model) is not None


class Server(Predictor):
    """A model on a server that speaks TF Serving's protocol.

    Pictures are sent as they are, and the server decodes and resizes them. Its protocol tells
    neither class names nor preprocessing: `class_names` is empty, and of `preprocessing` only
    `image_size` and the number of channels mean something.

    Args:
        address: `http://host:port/v1/models/NAME[/versions/N]` (or `https`), or
            `grpc://host:port/NAME[/N]` (or `grpcs`).
        token: bearer token; by default the environment's `KERAS_VIT_TOKEN`.
        seconds: most seconds for an answer.

    Raises:
        ValueError: for an address of another form, an unknown model, or one that takes no images.
        ConnectionError: if nobody answers there.
        PermissionError: if a token is needed.
    """

    kind = "server"

    def __init__(self, address, token=None, seconds=SECONDS):
        self.address = address
        self._client = _client(address, token or os.environ.get(TOKEN), seconds)
        self._inputs = self._client.inputs()
        shape = self._inputs.get(PIXELS, {}).get("images", ())
        if len(shape) != 4 or min(shape[1:]) < 1:
            raise ValueError(
                f"{address}: the model takes no images of a fixed size: its signature {PIXELS} "
                f"has the inputs {self._inputs.get(PIXELS, {})}."
            )
        half = (0.5,) * shape[3]
        super().__init__(None, Preprocessing(image_size=shape[1:3], mean=half, std=half), None)

    def predict_files(self, paths, top=5, clips=1):
        """Classifies picture files; at most as many classes as the server tells (ours: 5).

        Args, returns, raises: those of `Predictor.predict_files`; no server takes videos.
        """
        if top < 1:
            raise ValueError(f"`top` must be at least 1. Received: {top}.")
        if clips != 1:
            raise ValueError(f"`clips` is for videos, which a server takes none of. Got {clips}.")
        if "image_bytes" not in self._inputs.get(BYTES, {}):
            raise ValueError(f"{self.address}: the model takes no encoded pictures.")
        paths, results = [Path(path) for path in paths], []
        for start in range(0, len(paths), IMAGES_AT_ONCE):
            part = paths[start : start + IMAGES_AT_ONCE]
            encoded = [path.read_bytes() for path in part]
            outputs = self._client.predict(BYTES, "image_bytes", encoded)
            for path, error in zip(part, outputs.get("error", ()), strict=False):
                if error:
                    raise ValueError(f"{path} cannot be decoded as a picture: {error}")
            results += _best(outputs, top)
        return results

    def _run(self, pixels):
        # An empty batch is what no server takes: its number of classes is that of any image.
        count = len(pixels)
        pixels = pixels if count else np.zeros((1, *pixels.shape[1:]))
        starts = range(0, len(pixels), IMAGES_AT_ONCE)
        parts = [self._logits(pixels[start : start + IMAGES_AT_ONCE]) for start in starts]
        return np.concatenate(parts)[:count]

    def _logits(self, pixels):
        return self._client.predict(PIXELS, "images", pixels.astype("float32"))["logits"]


def _client(address, token, seconds):
    if _HTTP.fullmatch(address):
        return Http(address, token, seconds)
    if match := _GRPC.fullmatch(address):
        version = match["version"] and int(match["version"])
        secure = match["scheme"] == "grpcs"
        return Grpc(address, match["target"], match["name"], version, secure, token, seconds)
    raise ValueError(
        "The address of a served model must be http://HOST:PORT/v1/models/NAME or "
        f"grpc://HOST:PORT/NAME. Received: {address}."
    )


def _best(outputs, top):
    """For each image a list of (class name, probability), the most probable first."""
    if "labels" in outputs and "scores" in outputs:
        rows = zip(outputs["labels"].tolist(), outputs["scores"].tolist(), strict=True)
        return [list(zip(*row, strict=True))[:top] for row in rows]
    known = "probabilities" in outputs
    shares = outputs["probabilities"] if known else softmax(outputs["logits"])
    best = np.argsort(-shares, axis=-1, kind="stable")[:, :top]
    return [
        [(str(index), float(row[index])) for index in order]
        for row, order in zip(shares, best.tolist(), strict=True)
    ]
