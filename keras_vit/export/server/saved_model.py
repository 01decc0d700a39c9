"""One version of a model that is a SavedModel."""

import tensorflow as tf

from keras_vit.export.server.pictures import Pictures
from keras_vit.export.server.signatures import shape_of, signature_defs
from keras_vit.runtime.embedded import PREPROCESSING, parsed

BYTES, PIXELS = "serving_bytes", "serving_default"


class SavedModel:
    """Runs the signatures of a SavedModel folder.

    Args:
        path: the folder.
        max_pixels: most pixels of a picture that the server decodes.

    Attributes:
        definitions: dict of name to `SignatureDef`.
        preprocessing: the model's `Preprocessing`, or None for a model of another program.

    Raises:
        ValueError: if the folder is damaged.
    """

    # TensorFlow's kernels use all cores for one batch; the second worker prepares meanwhile.
    workers = 2

    def __init__(self, path, max_pixels):
        self.definitions = signature_defs(path)
        self._loaded = tf.saved_model.load(str(path))
        self._calls = dict(self._loaded.signatures.items())
        description = path / "assets" / PREPROCESSING
        known = description.is_file()
        self.preprocessing = parsed(description.read_text("utf-8"), path) if known else None
        self._pictures = self._decodes() and Pictures(self.preprocessing, max_pixels)

    def _decodes(self):
        """Whether the server can decode for the graph: the same outputs follow from pixels."""
        if not self.preprocessing or not {BYTES, PIXELS} <= set(self.definitions):
            return False
        forms = [
            {name: (info.dtype, shape_of(info)) for name, info in one.outputs.items()}
            for one in (self.definitions[BYTES], self.definitions[PIXELS])
        ]
        inputs = [list(self.definitions[one].inputs) for one in (BYTES, PIXELS)]
        return forms[0] == forms[1] and inputs == [["image_bytes"], ["images"]]

    def prepare(self, signature, inputs):
        """Does for one request alone what can fail for its data.

        Args:
            signature: name of the signature.
            inputs: dict of name to array, already checked against the definition.

        Returns:
            `(signature, inputs)` to compute: encoded pictures have become pixels.

        Raises:
            Refused: if a picture cannot be decoded.
        """
        if signature != BYTES or not self._pictures:
            return signature, inputs
        pixels = self._pictures.pixels(inputs["image_bytes"], "image_bytes")
        return PIXELS, {"images": pixels}

    def run(self, signature, inputs):
        """Computes a batch.

        Args:
            signature: name of the signature.
            inputs: dict of name to array.

        Returns:
            dict of name to array.
        """
        # What takes no input, such as an initializer, gets none.
        outputs = self._calls[signature](**{k: tf.constant(v) for k, v in inputs.items()})
        return {name: tensor.numpy() for name, tensor in outputs.items()}
