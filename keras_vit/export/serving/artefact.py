"""A version of a served model on disk: what its card says, and what it computes."""

import functools
import json

import numpy as np
import tensorflow as tf

from keras_vit.export.agreement import Agreement
from keras_vit.export.serving.card import CARD
from keras_vit.export.serving.examples import as_inputs
from keras_vit.export.serving.parity import PROBE
from keras_vit.runtime.embedded import PREPROCESSING, parsed


class Artefact:
    """A version's folder, what its card says and what it computes.

    Args:
        folder: `NAME/<version>`.

    Raises:
        ValueError: if it has no card.
    """

    def __init__(self, folder):
        self.folder = folder
        try:
            self.card = json.loads((folder / CARD).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{CARD} cannot be read: {error}") from error
        text = (folder / "assets" / PREPROCESSING).read_text("utf-8")
        self.preprocessing = parsed(text, folder)

    @functools.cached_property
    def signatures(self):
        """The signatures, by name; loading takes seconds."""
        self._loaded = tf.saved_model.load(str(self.folder))  # which owns the variables
        return dict(self._loaded.signatures.items())

    @functools.cached_property
    def images(self):
        """The images of the probe, uint8."""
        with np.load(self.folder / PROBE) as probe:
            return probe["images"]

    @property
    def agreement(self):
        """The `Agreement` with the Keras model that was measured when it was written."""
        return Agreement(**self.card["parity"])

    def answers(self, name, images):
        """What a signature says of uint8 images, as a dict of arrays."""
        ((key, form),) = self.card["signatures"][name]["inputs"].items()
        found = self.signatures[name](**{key: as_inputs(key, form["dtype"], images)})
        return {output: tensor.numpy() for output, tensor in found.items()}

    def batch(self, name):
        """The only batch size that a signature takes, or None for any."""
        ((_, form),) = self.card["signatures"][name]["inputs"].items()
        return form["shape"][0]
