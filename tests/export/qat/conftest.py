"""One small quantisation-aware ViT for all tests here, trained a little by the exact step."""

import keras
import numpy as np
import pytest

from keras_vit.export.qat import quantization_aware
from tests.small_vit import digit_images, small_vit


class Tuned:
    """A float model, its quantisation-aware copy before and after training, and the losses."""

    def __init__(self):
        keras.utils.set_random_seed(7)
        pixels, labels = digit_images()
        self.pixels, self.labels = pixels[1000:1400], labels[1000:1400]
        self.model = small_vit()
        self.copy = quantization_aware(self.model, pixels[:200])
        self.before = self.logits()
        self.copy.compile(
            keras.optimizers.Adam(1e-3),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
        images = self.model.preprocessing.normalize(pixels[:1000].astype("float32"))
        history = self.copy.fit(images, labels[:1000], batch_size=100, epochs=4, verbose=0)
        self.losses = history.history["loss"]
        self.after = self.logits()

    def logits(self):
        images = self.model.preprocessing.normalize(self.pixels.astype("float32"))
        return np.asarray(keras.ops.convert_to_numpy(self.copy(images)))


@pytest.fixture(scope="session")
def tuned():
    return Tuned()
