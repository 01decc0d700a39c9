"""Runs a `.tflite` file that keras_vit exported."""

import os
from pathlib import Path

import numpy as np

from keras_vit.layers.extras import require
from keras_vit.runtime.embedded import embedded
from keras_vit.runtime.predictor import Predictor

SIGNATURE = "serving_default"


class TFLite(Predictor):
    """A `.tflite` file with its description inside, on LiteRT's CPU kernels.

    Its batch is one: images run one by one. Integer inputs and outputs are scaled here.

    Args:
        path: the file.
        threads: number of threads; by default 2, or 1 on a machine with one core.

    Raises:
        ValueError: if the file is cut short or damaged, or was not written by keras_vit.
        ImportError: if `ai_edge_litert` is not installed.
    """

    kind = "tflite"

    def __init__(self, path, threads=None):
        preprocessing, self._interpreter, self._runner = opened(path, threads)
        self._input = self._runner.get_input_details()["images"]
        self._output = self._runner.get_output_details()["logits"]
        super().__init__(path, preprocessing, Path(path).stat().st_size)

    def _run(self, pixels):
        rows = [self._image(image[None]) for image in pixels]
        return np.concatenate(rows) if rows else np.zeros((0, self._output["shape"][-1]))

    def _image(self, image):
        output = self._runner(images=quantised(image, self._input))["logits"]
        return dequantised(output, self._output)


def opened(path, threads=None):
    """Returns (preprocessing, interpreter, signature runner) of a file; see `TFLite`."""
    litert = require("ai_edge_litert.interpreter", extra="edge")
    preprocessing = embedded(path)
    threads = threads or min(2, os.cpu_count() or 1)
    try:
        interpreter = litert.Interpreter(str(path), num_threads=threads)
        runner = interpreter.get_signature_runner(SIGNATURE)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be run by LiteRT: {error}") from error
    return preprocessing, interpreter, runner


def quantised(values, details):
    """Returns real numbers as the tensor of `details` stores them.

    Args:
        values: array of numbers.
        details: LiteRT's description of the tensor: its dtype and (scale, zero point).
    """
    scale, zero = details["quantization"]
    if not scale:  # a float tensor
        return values.astype(details["dtype"])
    limits = np.iinfo(details["dtype"])
    steps = np.round(values.astype("float32") / scale) + zero
    return np.clip(steps, limits.min, limits.max).astype(details["dtype"])


def dequantised(values, details):
    """Returns as float32 the real numbers that the tensor of `details` stores as `values`."""
    scale, zero = details["quantization"]
    if not scale:
        return values.astype("float32")
    return (values.astype("float32") - zero) * np.float32(scale)
