"""One version of a model that is a `.tflite` file."""

import threading

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2

from keras_vit.export.server.pictures import Pictures
from keras_vit.export.server.signatures import tensor_info
from keras_vit.runtime.predictor import softmax
from keras_vit.runtime.tflite import TFLite as Predictor

BYTES, PIXELS = "serving_bytes", "serving_default"
TOP = 5


class TFLite:
    """Runs a `.tflite` file that keras_vit exported, one picture at a time.

    Its signatures are those of our SavedModels as far as the file can give them.

    Args:
        path: the file.
        max_pixels: most pixels of a picture.

    Attributes:
        definitions: dict of name to `SignatureDef`.
        preprocessing: the model's `Preprocessing`.

    Raises:
        ValueError: if the file is damaged, or was not written by keras_vit.
    """

    # An interpreter a thread, each with one thread of its own.
    workers = 2

    def __init__(self, path, max_pixels):
        self._path, self._own = path, threading.local()
        predictor = self._predictor()
        self.preprocessing = predictor.preprocessing
        self._pictures = Pictures(self.preprocessing, max_pixels)
        self._names = np.array(
            [name.encode("utf-8") for name in self.preprocessing.class_names], dtype=object
        )
        self.definitions = self._definitions(predictor)

    def _predictor(self):
        if not hasattr(self._own, "predictor"):
            self._own.predictor = Predictor(self._path, threads=1)
        return self._own.predictor

    def _definitions(self, predictor):
        size, channels = self.preprocessing.image_size, self.preprocessing.channels
        classes = predictor.logits(np.zeros((0, *size, channels), "uint8")).shape[-1]
        self._top = min(TOP, classes)
        outputs = {
            "logits": tensor_info(tf.float32, (None, classes), "logits"),
            "probabilities": tensor_info(tf.float32, (None, classes), "probabilities"),
            "classes": tensor_info(tf.int64, (None, self._top), "classes"),
            "scores": tensor_info(tf.float32, (None, self._top), "scores"),
        }
        if len(self._names):
            outputs["labels"] = tensor_info(tf.string, (None, self._top), "labels")
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

    def prepare(self, signature, inputs):
        """Does for one request alone what can fail for its data; see `SavedModel.prepare`."""
        if signature == PIXELS:
            return signature, inputs
        return PIXELS, {"images": self._pictures.pixels(inputs["image_bytes"], "image_bytes")}

    def run(self, signature, inputs):
        """Computes a batch; see `SavedModel.run`."""
        logits = self._predictor().logits(inputs["images"])
        probabilities = softmax(logits)
        best = np.argsort(-probabilities, axis=-1, kind="stable")[:, : self._top]
        outputs = {
            "logits": logits,
            "probabilities": probabilities,
            "classes": best.astype("int64"),
            "scores": np.take_along_axis(probabilities, best, axis=-1),
        }
        if len(self._names):
            outputs["labels"] = self._names[best]
        return outputs
