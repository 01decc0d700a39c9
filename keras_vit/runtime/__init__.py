"""Runs a trained model, whatever it was exported to: one call, one predictor."""

from pathlib import Path

import keras

from keras_vit.layers.choices import check_choice
from keras_vit.runtime.detector import is_detector, open_detector
from keras_vit.runtime.keras_file import KerasFile
from keras_vit.runtime.onnx import ONNX
from keras_vit.runtime.openvino import OpenVINO
from keras_vit.runtime.predictor import Predictor, softmax
from keras_vit.runtime.saved_model import SavedModel, newest_version
from keras_vit.runtime.server import Server, is_address
from keras_vit.runtime.tensorrt import refuse_engine
from keras_vit.runtime.tflite import TFLite

__all__ = [
    "ENGINES",
    "KINDS",
    "ONNX",
    "KerasFile",
    "OpenVINO",
    "Predictor",
    "SavedModel",
    "Server",
    "TFLite",
    "open",
    "softmax",
]

# What is found at a path -> the class that runs it.
KINDS = {".keras": KerasFile, "saved_model.pb": SavedModel, ".tflite": TFLite, ".onnx": ONNX}
# What can run an artefact in place of its own runtime.
ENGINES = {"openvino": OpenVINO}


def open(model, engine=None):
    """Opens a model for prediction.

    Args:
        model: a `.keras` file, a SavedModel folder or the folder of its versions (the newest is
            taken), a `.tflite` or `.onnx` file, a Keras model in memory, or the address of a
            served model, `http://HOST:PORT/v1/models/NAME` or `grpc://HOST:PORT/NAME`.
        engine: `"openvino"` to run a SavedModel or an `.onnx` file by OpenVINO; by default each
            kind has its own runtime.

    Returns:
        A `Predictor`: `.logits(pixels)`, `.predict_files(paths)`, `.preprocessing`,
        `.class_names`, `.kind`, `.size_bytes`, `.path`. A detector has `.detect(pixels)` and
        `.detect_files(paths)` in place of the first two.

    Raises:
        FileNotFoundError: if nothing is at the path.
        ValueError: if what is there is no model, is damaged, or has no preprocessing; or for
            an unknown `engine`.
        ImportError: if its runtime is not installed; the message names the extra.

    Example:

    >>> import numpy as np
    >>> from keras_vit import create_model
    >>> model = create_model("vit_ti16", image_size=32, depth=1, num_classes=10)
    >>> open(model).logits(np.zeros((2, 32, 32, 3), "uint8")).shape
    (2, 10)
    """
    if engine is not None:
        check_choice("engine", engine, ENGINES)
        return ENGINES[engine](open(model))
    if isinstance(model, keras.Model):
        return open_detector(model) if is_detector(model) else KerasFile(model)
    if is_address(model):
        return Server(model)
    path = newest_version(Path(model))
    refuse_engine(path)
    if is_detector(path):
        return open_detector(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no model at {path}.")
    for sign, kind in KINDS.items():
        if (path / sign).is_file() if path.is_dir() else path.suffix == sign:
            return kind(path)
    raise ValueError(
        f"{path} is no model. It must be a `.keras` file, a SavedModel folder (with "
        "`saved_model.pb` in it, or versions of it), a `.tflite` or an `.onnx` file."
    )
