"""How good a model of image and text is: how often an image finds its text, a text its image."""

import dataclasses
import time

import keras
import numpy as np
import tensorflow as tf

from keras_vit.data import Captions, evaluation_batches, normalised
from keras_vit.objectives import at_length_one, recall_at

AMONG = (1, 5, 10)  # nearest neighbours


@dataclasses.dataclass(frozen=True)
class RetrievalEvaluation:
    """The vectors of pairs, which stand at the same place.

    Args:
        images, texts: float32 `[n, width]`, of length one.
        images_per_second: how many pairs the model did, without reading and decoding them.
    """

    images: np.ndarray
    texts: np.ndarray
    images_per_second: float | None = None

    @property
    def recall(self):
        """Share of images and texts whose partner is the nearest of all, 0 to 1."""
        return float(np.mean(list(recall_at(1, self.images, self.texts).values())))

    def summary(self):
        """Returns plain numbers, ready for JSON.

        Returns:
            A dict: `images`, `recall`, `images_per_second` and `directions`, a list of dicts with
            `among` and, for both directions, the `recall_at` so many.
        """
        known = [k for k in AMONG if k <= len(self.images)]
        return {
            "images": len(self.images),
            "recall": self.recall,
            "images_per_second": self.images_per_second,
            "directions": [{"among": k, **recall_at(k, self.images, self.texts)} for k in known],
        }


def evaluate_pairs(model, records, tokenizer, batch_size=64):
    """Measures how a CLIP finds texts by images and images by texts, among all of the records.

    Two images with the same text are one another's mistake: give texts that tell them apart.

    Args:
        model: a `CLIP`.
        records: `Records` with `Captions`.
        tokenizer: such as a `keras_vit.data.Tokenizer`, of the model's vocabulary.
        batch_size: pairs a call.

    Returns:
        A `RetrievalEvaluation`.

    Raises:
        ValueError: for records without texts.
    """
    if not isinstance(records.targets, Captions):
        raise ValueError(
            "Images with a text each are needed to measure this model: a manifest with the "
            f"columns path and text. Received: images with {type(records.targets).__name__}."
        )
    rows = tokenizer(list(records.targets.texts))
    batches = normalised(
        evaluation_batches(records, model.preprocessing, batch_size), model.preprocessing
    )
    images = batches.map(lambda images, _: images)
    found, first = _vectors(model.image_tower, images)
    starts = range(0, len(rows), batch_size)
    texts, second = _vectors(model.text_tower, [rows[s : s + batch_size] for s in starts])
    return RetrievalEvaluation(found, texts, len(rows) / (first + second))


class ValidationRecall(keras.callbacks.Callback):
    """Puts the recall of what is held out, as `val_recall`, into the logs of an epoch.

    Args:
        batches: function to a dataset of `({"images": …, "texts": …},)`.
    """

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def on_epoch_end(self, epoch, logs=None):
        data = self.batches()
        images, _ = _vectors(self.model.image_tower, data.map(lambda pair: pair["images"]))
        texts, _ = _vectors(self.model.text_tower, data.map(lambda pair: pair["texts"]))
        logs["val_recall"] = RetrievalEvaluation(images, texts).recall


def _vectors(tower, batches):
    """(vectors of length one, seconds that the tower took)."""
    call = tf.function(
        lambda inputs: tower(inputs, training=False), reduce_retracing=True, autograph=False
    )
    found, seconds = [], 0.0
    for batch in batches:
        start = time.perf_counter()
        found.append(keras.ops.convert_to_numpy(call(tf.convert_to_tensor(batch))))
        seconds += time.perf_counter() - start
    return at_length_one(np.concatenate(found).astype("float32")), seconds
