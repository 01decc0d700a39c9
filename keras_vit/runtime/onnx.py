"""Runs an ONNX file that keras_vit exported."""

from pathlib import Path

import numpy as np

from keras_vit.layers.extras import require
from keras_vit.runtime.embedded import PREPROCESSING, parsed
from keras_vit.runtime.predictor import BATCH_SIZE, Predictor


class ONNX(Predictor):
    """An `.onnx` file with its description inside, on ONNX Runtime's CPU kernels.

    Args:
        path: the file.

    Raises:
        ValueError: if the file is cut short or damaged, or was not written by keras_vit.
        ImportError: if `onnxruntime` is not installed.
    """

    kind = "onnx"

    def __init__(self, path):
        runtime = require("onnxruntime", extra="onnx")
        providers = ["CPUExecutionProvider"]
        try:
            self._session = runtime.InferenceSession(str(path), providers=providers)
        except Exception as error:  # ONNX Runtime's errors have no common type
            reason = str(error).strip().partition("\n")[0]
            raise ValueError(f"{path} cannot be run by ONNX Runtime: {reason}") from error
        description = self._session.get_modelmeta().custom_metadata_map.get(PREPROCESSING)
        if description is None:
            raise ValueError(
                f"{path} holds no `{PREPROCESSING}` in its metadata: it was not written by "
                "keras_vit. Export the model again."
            )
        super().__init__(path, parsed(description, path), Path(path).stat().st_size)

    def _run(self, pixels):
        # An empty batch runs too, and gives the number of classes.
        starts = range(0, max(len(pixels), 1), BATCH_SIZE)
        return np.concatenate([self._batch(pixels[s : s + BATCH_SIZE]) for s in starts])

    def _batch(self, pixels):
        return self._session.run(["logits"], {"images": pixels.astype("float32")})[0]
