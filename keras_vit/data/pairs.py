"""Batches of images and their texts, for models that learn from pairs."""

import dataclasses

import numpy as np
import tensorflow as tf

from keras_vit.data.pipeline import training_batches
from keras_vit.data.targets import Captions, Unlabelled, gathered


@dataclasses.dataclass(frozen=True, eq=False)
class TokenRows:
    """The numbers of the pieces of a text an image: `Captions` after the tokenizer.

    Args:
        rows: int32 `[n, context_length]`.
    """

    rows: np.ndarray
    class_names = ()

    def __len__(self):
        return len(self.rows)

    class_sizes = Unlabelled.class_sizes
    groups = Unlabelled.groups

    def for_training(self, index):
        """Returns the rows, int32 `[..., context_length]`."""
        return (gathered(self.rows, index),)

    for_evaluation = for_training

    def select(self, indices):
        return TokenRows(self.rows[indices])

    def digest(self):
        return self.rows.tobytes()


def pair_batches(records, preprocessing, tokenizer, batch_size, seed, **options):
    """Endless batches of images with their texts, each a pure function of its step.

    Each text is cut into pieces once, before the first batch, so that a step holds no strings and
    runs anywhere.

    Args:
        records: `Records` with `Captions`, such as `open_data` gives of a manifest with texts.
        preprocessing: `Preprocessing` of the model.
        tokenizer: from a list of texts to int32 `[n, context_length]`, such as a `Tokenizer`.
        batch_size, seed, **options: as in `training_batches`; `start_step` among them.

    Returns:
        A `tf.data.Dataset` of `(inputs,)`, the dict that a `CLIP` takes: `images`, normalised
        float32 `[b, h, w, c]`, and `texts`, int32 `[b, context_length]`.

    Raises:
        ValueError: for records without texts.
    """
    records = tokenised(records, tokenizer)
    batches = training_batches(records, preprocessing, batch_size, seed, **options)
    return batches.map(
        tf.autograph.experimental.do_not_convert(
            lambda images, texts: ({"images": images, "texts": texts},)
        )
    )


def tokenised(records, tokenizer):
    """Returns records of texts as records of their pieces, `TokenRows`.

    Args:
        records, tokenizer: as in `pair_batches`.

    Raises:
        ValueError: for records without texts.
    """
    if not isinstance(records.targets, Captions):
        raise ValueError(
            "`records` must have a text an image. "
            f"Received: targets of the kind {type(records.targets).__name__}."
        )
    rows = tokenizer(list(records.targets.texts))
    return dataclasses.replace(records, targets=TokenRows(rows))
