"""One version of a model that is a `.tflite` file."""

import threading

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2

from keras_vit.export.server.errors import Refused
from keras_vit.export.server.picture_calls import BYTES, PIXELS, PictureCalls
from keras_vit.export.server.signatures import tensor_info
from keras_vit.export.serving.answers import TOP, class_names
from keras_vit.runtime.tflite import TFLite as Predictor


class TFLite:
    """Runs a `.tflite` file that keras_vit exported, one picture at a time.

    Its signatures are those of our SavedModels as far as the file can give them.

    Args:
        path: the file.
        max_pixels: most pixels of a picture.

    Attributes:
        definitions: dict of name to `SignatureDef`.
        callable: the names of those that a client may call.
        preprocessing: the model's `Preprocessing`.
        pictures: its `PictureCalls`.
        prepare: what comes before a request joins a batch; see `PictureCalls.prepare`.

    Raises:
        ValueError: if the file is damaged, or was not written by keras_vit.
    """

    # An interpreter a thread, each with one thread of its own.
    workers = 2

    def __init__(self, path, max_pixels):
        self._path, self._own = path, threading.local()
        predictor = self._predictor()
        self.preprocessing = predictor.preprocessing
        self.definitions = self._definitions(predictor)
        self.callable = frozenset(self.definitions)
        self.pictures = PictureCalls(self.definitions, self.preprocessing, max_pixels)
        self.prepare = self.pictures.prepare

    def _predictor(self):
        if not hasattr(self._own, "predictor"):
            self._own.predictor = Predictor(self._path, threads=1)
        return self._own.predictor

    def _definitions(self, predictor):
        size, channels = self.preprocessing.image_size, self.preprocessing.channels
        classes = predictor.logits(np.zeros((0, *size, channels), "uint8")).shape[-1]
        self._top = min(TOP, classes)
        names = class_names(self.preprocessing, classes)
        self._names = np.array([name.encode("utf-8") for name in names], dtype=object)
        outputs = {
            "logits": tensor_info(tf.float32, (None, classes), "logits"),
            "probabilities": tensor_info(tf.float32, (None, classes), "probabilities"),
            "classes": tensor_info(tf.int64, (None, self._top), "classes"),
            "labels": tensor_info(tf.string, (None, self._top), "labels"),
            "scores": tensor_info(tf.float32, (None, self._top), "scores"),
            "error": tensor_info(tf.string, (None,), "error"),
        }
        inputs = {
            PIXELS: ("images", tensor_info(tf.float32, (None, *size, channels), "images")),
            BYTES: ("image_bytes", tensor_info(tf.string, (None,), "image_bytes")),
        }
        return {
            signature: meta_graph_pb2.SignatureDef(
                inputs={name: info}, outputs=outputs, method_name="tensorflow/serving/predict"
            )
            for signature, (name, info) in inputs.items()
        }

    def run(self, signature, inputs):
        """Computes a batch; see `SavedModel.run`."""
        predictor = self._predictor()
        try:
            logits = predictor.logits(inputs["images"])
        except ValueError as error:  # values that are no pixels
            raise Refused("INVALID_ARGUMENT", str(error)) from error
        probabilities = predictor.probabilities(logits)
        best = np.argsort(-probabilities, axis=-1, kind="stable")[:, : self._top]
        return {
            "logits": logits,
            "probabilities": probabilities,
            "classes": best.astype("int64"),
            "labels": self._names[best],
            "scores": np.take_along_axis(probabilities, best, axis=-1),
            "error": np.full(len(logits), b"", dtype=object),
        }
