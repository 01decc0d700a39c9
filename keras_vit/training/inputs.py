"""What models take: images, clips of videos, or images with their texts; and how batches come."""

import dataclasses
import functools

import tensorflow as tf

from keras_vit.data import (
    Captions,
    Tokenizer,
    evaluation_batches,
    find_data,
    find_videos,
    normalised,
    skip_broken,
    training_batches,
)
from keras_vit.data.clips import clip_batches, evaluation_clips
from keras_vit.data.pairs import pair_batches, tokenised
from keras_vit.data.video import VideoSource
from keras_vit.models import NAMES, CLIPConfig, MAEConfig, TimeSformerConfig
from keras_vit.training.distillation import Distillation
from keras_vit.training.losses import smoothing_in_data
from keras_vit.training.painted_pictures import PAINTED, PaintedPictures, ToPaint


class Images:
    """Images with what is known about them."""

    words = "images"

    def find(self, data, data_dir=None):
        """Finds DATA, as the user writes it."""
        return find_data(data, data_dir)

    def check(self, records):
        """Checks that records are of this kind.

        Raises:
            ValueError: if they are not; names the remedy.
        """
        if isinstance(records.source, VideoSource):
            raise ValueError(
                "This model takes images, and DATA holds videos: take a model or a recipe for "
                "clips, such as timesformer_clips."
            )
        if isinstance(records.targets, Captions):
            raise ValueError(
                "This model takes images with classes, and DATA holds images with texts: take a "
                "model or a recipe for pairs, such as clip_pairs."
            )

    def taken(self, records):
        """Returns the records with what the model learns from."""
        return records

    def callbacks(self, setting, preprocessing, folder):
        """Returns callbacks that show in `folder/tensorboard` what the model makes of images."""
        return []

    def readable(self, records, path):
        """Returns the records that can be read, and a sentence on the others or None."""
        kept, found = skip_broken(records, path)
        return kept, found.summary() if found.broken else None

    def batches(self, setting, preprocessing, step, rows=None):
        """Returns the batches of a `Prepared` run from a step on."""
        return training_batches(
            setting.train,
            preprocessing,
            setting.recipe.batch_size,
            setting.recipe.seed,
            start_step=step,
            augment=setting.recipe.augment,
            repeats=setting.recipe.repeats,
            label_smoothing=smoothing_in_data(setting.recipe),
            rows=rows,
        )

    def shown(self, setting, preprocessing):
        """Returns the first batches as people look at them: with labels or texts."""
        return self.batches(setting, preprocessing, 0)

    def validation(self, setting, preprocessing, rows=None):
        """Returns the held-out part, as `fit` takes it."""
        classes, size = len(preprocessing.class_names), setting.recipe.batch_size
        batches = evaluation_batches(setting.held_out, preprocessing, size, rows=rows)
        return normalised(batches, preprocessing).map(
            lambda images, labels: (images, setting.task.labels(labels, classes))
        )


class Taught(Images):
    """Images with a class each, and a teacher's kept logits of those that are learned from."""

    def batches(self, setting, preprocessing, step, rows=None):
        distillation = Distillation(**setting.recipe.distillation)
        train = distillation.taught(setting.train, preprocessing)
        taught = super().batches(
            dataclasses.replace(setting, train=train), preprocessing, step, rows
        )
        return taught.map(
            lambda images, labels, logits: ({"images": images, "teacher": logits}, labels)
        )

    def shown(self, setting, preprocessing):
        return super().batches(setting, preprocessing, 0)


class Masked(Images):
    """Images alone, whatever is known about them: a masked autoencoder learns to paint them."""

    def check(self, records):
        if isinstance(records.source, VideoSource):
            raise ValueError("This model takes images, and DATA holds videos.")

    def taken(self, records):
        return dataclasses.replace(records, targets=ToPaint(len(records)))

    def callbacks(self, setting, preprocessing, folder):
        images = setting.held_out.select(range(min(PAINTED, len(setting.held_out))))
        held_out = dataclasses.replace(setting, held_out=images)
        return [PaintedPictures(folder, lambda: self.validation(held_out, preprocessing))]

    def shown(self, setting, preprocessing):
        # Without labels: nothing stands under the pictures.
        batches = super().batches(setting, preprocessing, 0)
        return batches.map(lambda images: (images, tf.fill([tf.shape(images)[0]], "")))

    def validation(self, setting, preprocessing, rows=None):
        size = setting.recipe.batch_size
        batches = evaluation_batches(setting.held_out, preprocessing, size, rows=rows)
        return normalised(batches, preprocessing)


class Clips(Images):
    """Videos with a class each, of which the model sees clips."""

    words = "clips"

    def find(self, data, data_dir=None):
        if data_dir is not None:
            return find_data(data, data_dir)
        return find_videos(data)

    def check(self, records):
        if not isinstance(records.source, VideoSource):
            raise ValueError(
                "This model takes clips, and DATA holds images: give a folder of videos, "
                "FOLDER/CLASS/VIDEO, or take a model or a recipe for images, such as from_scratch."
            )

    def readable(self, records, path):
        # Every video was read when its frames were counted.
        return records, None

    def batches(self, setting, preprocessing, step, rows=None):
        recipe = setting.recipe
        if recipe.repeats != 1:
            raise ValueError(f"`repeats` of clips must be 1. Received: {recipe.repeats}.")
        return clip_batches(
            setting.train,
            preprocessing,
            recipe.batch_size,
            recipe.seed,
            start_step=step,
            augment=recipe.augment,
            label_smoothing=smoothing_in_data(recipe),
            rows=rows,
        )

    def validation(self, setting, preprocessing, rows=None):
        classes, size = len(preprocessing.class_names), setting.recipe.batch_size
        batches = evaluation_clips(setting.held_out, preprocessing, size, rows=rows)
        batches = batches.map(lambda clips, labels: (clips[:, 0], labels))
        return normalised(batches, preprocessing).map(
            lambda clips, labels: (clips, setting.task.labels(labels, classes))
        )


class Pairs(Images):
    """Images with a text each."""

    words = "pairs"

    def check(self, records):
        if not isinstance(records.targets, Captions):
            raise ValueError(
                "This model takes images with a text each, and DATA holds images with "
                f"{type(records.targets).__name__}: give a manifest with the columns path and "
                "text, or take a model or a recipe for images, such as from_scratch."
            )

    def tokenizer(self, recipe):
        """Returns the `Tokenizer` of a recipe's model.

        Raises:
            ValueError: if the model has another vocabulary.
        """
        family, variant = NAMES[recipe.model]
        config = family.config_class(**{**variant, **recipe.config})
        tokenizer = _tokenizer(
            recipe.vocabulary, config.context_length, recipe.clean or "open_clip"
        )
        if tokenizer.size != config.vocabulary_size:
            raise ValueError(
                f"The vocabulary has {tokenizer.size} pieces, and the model is for "
                f"{config.vocabulary_size}: --set config.vocabulary_size={tokenizer.size}."
            )
        return tokenizer

    def batches(self, setting, preprocessing, step, rows=None):
        recipe = setting.recipe
        return pair_batches(
            setting.train,
            preprocessing,
            self.tokenizer(recipe),
            recipe.batch_size,
            recipe.seed,
            start_step=step,
            augment=recipe.augment,
            repeats=recipe.repeats,
            rows=rows,
        )

    def shown(self, setting, preprocessing):
        # Texts, not their numbers.
        return super().batches(setting, preprocessing, 0)

    def validation(self, setting, preprocessing, rows=None):
        records = tokenised(setting.held_out, self.tokenizer(setting.recipe))
        size = setting.recipe.batch_size
        batches = evaluation_batches(records, preprocessing, size, rows=rows)
        return normalised(batches, preprocessing).map(
            lambda images, texts: ({"images": images, "texts": texts},)
        )


# A vocabulary takes a second to be read, and what was cut into pieces is kept with it.
_tokenizer = functools.cache(Tokenizer)

# Config of a model -> what it takes; images by default.
IMAGES, CLIPS, PAIRS, TAUGHT = Images(), Clips(), Pairs(), Taught()
INPUTS = {TimeSformerConfig: CLIPS, CLIPConfig: PAIRS, MAEConfig: Masked()}


def inputs_of(model):
    """Returns what a model takes.

    Args:
        model: a registered name, or a model of this package.
    """
    if isinstance(model, str):
        return INPUTS.get(NAMES[model][0].config_class, IMAGES)
    config = type(getattr(model, "config", None))
    return INPUTS.get(config, IMAGES)
