"""The first batch of a run as the model sees it: cut, turned, mixed, and with what labels."""

import keras
import numpy as np
import tensorflow as tf

from keras_vit.explain import sheet
from keras_vit.training.pictures import enlarged

PICTURES, SIDE = 36, 160
LEAST = 0.05  # of a label, to be named


def first_batch(batches, preprocessing):
    """Draws the images of the first batch, with their labels under them.

    Args:
        batches: dataset of (normalised images or clips, labels `[b, num_classes]` or texts `[b]`)
            or more.
        preprocessing: the model's.

    Returns:
        uint8 `[h, w, 3]`: up to `PICTURES` of them.
    """
    images, labels = (part.numpy()[:PICTURES] for part in next(iter(batches))[:2])
    pixels = (images * preprocessing.std + np.array(preprocessing.mean)) * 255
    pixels = np.uint8(np.clip(np.round(pixels), 0, 255))
    captions = [_caption(row, preprocessing.class_names) for row in labels]
    return sheet([_drawn(picture) for picture in pixels], captions)


class FirstBatch(keras.callbacks.Callback):
    """Puts the first batch of a run into TensorBoard.

    Args:
        folder: folder of the logs.
        batches: function to the batches, called when the training begins.
        preprocessing: see `first_batch`.
    """

    writes_files = True

    def __init__(self, folder, batches, preprocessing):
        super().__init__()
        self.folder, self.batches, self.value = folder, batches, preprocessing

    def on_train_begin(self, logs=None):
        writer = tf.summary.create_file_writer(str(self.folder / "train"))
        with writer.as_default():
            picture = first_batch(self.batches(), self.value)[None]
            tf.summary.image("first batch, as the model sees it", picture, step=0)
        writer.close()


def _drawn(pixels):
    """A picture; of a clip the first, the middle and the last one, side by side."""
    if pixels.ndim == 3:
        return enlarged(pixels, SIDE)
    return np.concatenate([enlarged(pixels[i], SIDE) for i in (0, len(pixels) // 2, -1)], axis=1)


def _caption(labels, class_names):
    """The text of an image, or its classes, the main one first, with their shares if mixed."""
    if isinstance(labels, bytes):
        return labels.decode("utf-8", "replace")
    order = [index for index in np.argsort(-labels, kind="stable") if labels[index] > LEAST]
    main = max(labels.max(), 1e-6)
    names = []
    for index in order[:4]:
        share = labels[index] / main
        names.append(class_names[index] + (f" ({labels[index]:.2f})" if share < 0.99 else ""))
    return ", ".join(names)
