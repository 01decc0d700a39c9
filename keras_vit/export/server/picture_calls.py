"""Requests that bring encoded pictures: each is decoded by itself, before it joins a batch."""

import numpy as np
import tensorflow as tf

from keras_vit.export.server.errors import Refused
from keras_vit.export.server.pictures import Pictures
from keras_vit.export.server.signatures import shape_of
from keras_vit.export.serving.answers import without

PIXELS, BYTES, CLASSIFY = "serving_default", "serving_bytes", "classify"
FEATURE = "image/encoded"


class PictureCalls:
    """Turns calls of `serving_bytes` and `classify` into calls of `serving_default`.

    The graphs can decode, too. But one damaged picture costs their whole batch a second, or fails
    it, and this way requests of all kinds are computed together.

    Args:
        definitions: the model's dict of name to `SignatureDef`.
        preprocessing: its `Preprocessing`, or None for a model of another program.
        max_pixels: most pixels of a picture.
    """

    def __init__(self, definitions, preprocessing, max_pixels):
        self._decoders = {}
        if not preprocessing or not _takes(definitions.get(PIXELS), "images"):
            return
        forms = _forms(definitions[PIXELS])
        if _takes(definitions.get(BYTES), "image_bytes") and _forms(definitions[BYTES]) == forms:
            self._decoders[BYTES] = self._of_bytes
        if _takes(definitions.get(CLASSIFY), "inputs") and {"labels", "scores"} <= set(forms):
            self._decoders[CLASSIFY] = self._of_examples
        if self._decoders:
            self._has_errors = "error" in forms
            self._pictures = Pictures(preprocessing, max_pixels)

    def prepare(self, signature, inputs):
        """Does for one request alone what can fail for its data.

        Args:
            signature: name of the signature.
            inputs: dict of name to array, already checked against the definition.

        Returns:
            `(signature, inputs)` to compute, and a function from what that gives to the outputs.

        Raises:
            Refused: if a picture cannot be read and the model has no output `error`.
        """
        decode = self._decoders.get(signature)
        return decode(inputs) if decode else (signature, inputs, lambda outputs: outputs)

    def read(self, encoded):
        """Decodes pictures; see `Pictures.read`."""
        return self._pictures.read(encoded)

    @property
    def can_read(self):
        """Whether the model takes encoded pictures."""
        return bool(self._decoders)

    def _of_bytes(self, inputs):
        return self._decoded(inputs["image_bytes"], "image_bytes")

    def _of_examples(self, inputs):
        encoded = [_encoded(one, index) for index, one in enumerate(inputs["inputs"])]
        signature, pixels, finish = self._decoded(encoded, FEATURE)

        def classes(outputs):
            outputs = finish(outputs)
            return {"classes": outputs["labels"], "scores": outputs["scores"]}

        return signature, pixels, classes

    def _decoded(self, encoded, name):
        pixels, reasons = self._pictures.read(encoded)
        bad = [index for index, reason in enumerate(reasons) if reason]
        if bad and not self._has_errors:
            text = f"{name}[{bad[0]}] is no picture: {reasons[bad[0]]}"
            raise Refused("INVALID_ARGUMENT", text)
        return PIXELS, {"images": pixels}, lambda outputs: _told(outputs, reasons)


def _told(outputs, reasons):
    """The outputs, with the reason instead of an answer where a picture could not be read."""
    if not any(reasons):
        return outputs
    tensors = {name: tf.constant(array) for name, array in outputs.items()}
    readable = tf.constant([not reason for reason in reasons])
    told = {name: tensor.numpy() for name, tensor in without(tensors, readable, "").items()}
    told["error"] = np.array([reason.encode("utf-8") for reason in reasons], dtype=object)
    return told


def _encoded(serialized, index):
    """The picture in a `tf.Example`; nothing where it has none."""
    try:
        example = tf.train.Example.FromString(serialized)
    except Exception as error:  # protobuf's DecodeError comes from its C part
        raise Refused("INVALID_ARGUMENT", f"inputs[{index}] is no tf.Example.") from error
    values = example.features.feature[FEATURE].bytes_list.value
    return values[0] if values else b""


def _takes(definition, name):
    return definition is not None and list(definition.inputs) == [name]


def _forms(definition):
    return {name: (info.dtype, shape_of(info)) for name, info in definition.outputs.items()}
