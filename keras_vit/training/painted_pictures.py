"""What a masked autoencoder learns from, and what it paints, as pictures in TensorBoard."""

import keras
import numpy as np
import tensorflow as tf

from keras_vit.data import Unlabelled
from keras_vit.objectives import painted_images

PAINTED = 8  # images of a sheet


class ToPaint(Unlabelled):
    """What is known about images that are to be painted: nothing, whatever else there is."""

    def select(self, indices):
        return ToPaint(len(indices))


class PaintedPictures(keras.callbacks.Callback):
    """Shows after each epoch some held-out images: as they are, as the encoder sees them, painted.

    Args:
        folder: of the run.
        batches: function that returns a dataset of (normalised images,); the first is shown.
    """

    writes_files = True

    def __init__(self, folder, batches):
        super().__init__()
        self.folder, self.batches = folder / "tensorboard", batches

    def on_epoch_end(self, epoch, logs=None):
        (images,) = next(iter(self.batches().take(1)))
        rows = painted_rows(self.model, images)
        writer = tf.summary.create_file_writer(str(self.folder / "train"))
        with writer.as_default():
            tf.summary.image("painted", rows, step=epoch, max_outputs=PAINTED)
        writer.close()


def painted_rows(model, images):
    """Returns uint8 `[b, h, 3 w, c]`: each image as it is, as the encoder sees it, and painted.

    Args:
        model: a `MAE`, trained with normalised patches where its loss does not say otherwise.
        images: normalised `[b, h, w, c]`.
    """
    normalised = getattr(model.loss if model.compiled else None, "normalise", True)
    seen, painted = painted_images(model(images), model.config, normalised)
    row = keras.ops.convert_to_numpy(keras.ops.concatenate([images, seen, painted], axis=2))
    preprocessing = model.preprocessing
    pixels = (row * np.array(preprocessing.std) + np.array(preprocessing.mean)) * 255
    return np.uint8(np.clip(np.round(pixels), 0, 255))
