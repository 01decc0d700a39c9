"""One version of a model that is a SavedModel."""

import re

import numpy as np
import tensorflow as tf

from keras_vit.export.server.picture_calls import PIXELS, PictureCalls
from keras_vit.export.server.signatures import signature_defs
from keras_vit.runtime.embedded import PREPROCESSING, parsed

_COMPILED = re.compile(r"serving_xla_([0-9]+)")


class SavedModel:
    """Runs the signatures of a SavedModel folder.

    Args:
        path: the folder.
        max_pixels: most pixels of a picture that the server decodes.

    Attributes:
        definitions: dict of name to `SignatureDef`.
        callable: the names of those that a client may call.
        preprocessing: the model's `Preprocessing`, or None for a model of another program.
        pictures: its `PictureCalls`.
        prepare: what comes before a request joins a batch; see `PictureCalls.prepare`.

    Raises:
        ValueError: if the folder is damaged.
    """

    # TensorFlow's kernels use all cores for one batch; the second worker prepares meanwhile.
    workers = 2

    def __init__(self, path, max_pixels):
        self.definitions = signature_defs(path)
        self._loaded = tf.saved_model.load(str(path))
        self._calls = dict(self._loaded.signatures.items())
        # A file states the initializer as a signature, too; nobody calls that.
        self.callable = frozenset(self._calls)
        description = path / "assets" / PREPROCESSING
        known = description.is_file()
        self.preprocessing = parsed(description.read_text("utf-8"), path) if known else None
        self.pictures = PictureCalls(self.definitions, self.preprocessing, max_pixels)
        self.prepare = self.pictures.prepare
        compiled = (_COMPILED.fullmatch(name) for name in self.definitions)
        self._sizes = sorted(int(match[1]) for match in compiled if match)

    def run(self, signature, inputs):
        """Computes a batch.

        Args:
            signature: name of the signature.
            inputs: dict of name to array.

        Returns:
            dict of name to array.
        """
        rows = len(inputs["images"]) if signature == PIXELS and self._sizes else 0
        size = next((size for size in self._sizes if size >= rows), None) if rows else None
        if size is None:
            return self._call(signature, inputs)
        # XLA compiles one graph a size, so a batch is filled up to the next one.
        rest = np.zeros((size - rows, *inputs["images"].shape[1:]), "float32")
        outputs = self._call(
            f"serving_xla_{size}", {"images": np.append(inputs["images"], rest, 0)}
        )
        return {name: array[:rows] for name, array in outputs.items()}

    def _call(self, signature, inputs):
        tensors = {name: tf.constant(array) for name, array in inputs.items()}
        outputs = self._calls[signature](**tensors)
        return {name: tensor.numpy() for name, tensor in outputs.items()}
