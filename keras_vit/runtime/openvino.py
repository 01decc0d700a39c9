"""Runs a SavedModel or an ONNX file that keras_vit exported, by OpenVINO."""

import numpy as np

from keras_vit.layers.extras import require
from keras_vit.runtime.predictor import BATCH_SIZE, Predictor

# On CPUs with AMX, OpenVINO computes in bfloat16 unless it is told not to: logits are then off
# by 0.07 (2026.4).
CONFIG = {"INFERENCE_PRECISION_HINT": "f32"}


class OpenVINO(Predictor):
    """An artefact on OpenVINO's CPU kernels, in float32.

    Args:
        source: the artefact's own `Predictor`: a `SavedModel` or an `ONNX`.

    Raises:
        ValueError: for another kind, or if OpenVINO cannot read the artefact.
        ImportError: if `openvino` is not installed.
    """

    kind = "openvino"

    def __init__(self, source):
        openvino = require("openvino", extra="onnx")
        if source.kind not in ("saved_model", "onnx"):
            raise ValueError(
                "OpenVINO runs a SavedModel or an .onnx file here. "
                f"Received: {source.path}, a {source.kind}."
            )
        try:
            model = openvino.convert_model(str(source.path), output=["logits"])
            self._compiled = openvino.compile_model(model, "CPU", CONFIG)
        except Exception as error:  # OpenVINO's errors have no common type
            reason = " ".join(str(error).split())
            raise ValueError(f"{source.path} cannot be run by OpenVINO: {reason}") from error
        super().__init__(source.path, source.preprocessing, source.size_bytes)

    def _run(self, pixels):
        starts = range(0, max(len(pixels), 1), BATCH_SIZE)
        return np.concatenate([self._batch(pixels[s : s + BATCH_SIZE]) for s in starts])

    def _batch(self, pixels):
        return self._compiled(pixels.astype("float32"))["logits"]
