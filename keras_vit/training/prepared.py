"""A run before its first step: images, model, optimizer, by a recipe."""

import dataclasses
import functools

from keras_vit.data import (
    Records,
    evaluation_batches,
    find_data,
    normalised,
    skip_broken,
    training_batches,
)
from keras_vit.factory import create_model
from keras_vit.layers import Preprocessing
from keras_vit.step import exact
from keras_vit.training.class_weights import class_weights, weighted_batches
from keras_vit.training.evaluation import check_classes
from keras_vit.training.fine_tuning import freeze
from keras_vit.training.losses import loss_of, smoothing_in_data
from keras_vit.training.optimizers import optimizer_of
from keras_vit.training.recipes import Recipe
from keras_vit.training.schedules import SCHEDULES
from keras_vit.training.tasks import Task, task_of


@dataclasses.dataclass(frozen=True)
class Prepared:
    """All that a run trains with.

    Args:
        recipe: the `Recipe`, with a loss that fits the images.
        task: the `Task` of the images.
        train: images to train on, `Records`.
        held_out: images to validate on, `Records`.
    """

    recipe: Recipe
    task: Task
    train: Records
    held_out: Records

    @property
    def steps(self):
        """Steps of an epoch."""
        return -(-len(self.train) // self.recipe.batch_size)

    @property
    def monitor(self):
        """The number of an epoch that tells which is the best."""
        return self.task.monitor(self.recipe, len(self.train.class_names))

    def rate(self):
        """Returns the learning rate over the steps of the run."""
        recipe = self.recipe
        return SCHEDULES[recipe.schedule](
            recipe.learning_rate,
            self.steps * recipe.epochs,
            round(recipe.warmup_epochs * self.steps),
            recipe.min_learning_rate,
        )

    def model(self):
        """Returns the model, as it is before the first step, with what is frozen frozen."""
        recipe = self.recipe
        make = _started if recipe.weights else _new
        names = {"class_names": self.train.class_names, "probabilities": self.task.probabilities}
        model = make(recipe, names)
        if recipe.frozen_blocks:
            freeze(model, recipe.frozen_blocks)
        return model

    def compiled(self, model, rate=None):
        """Compiles a model with the recipe's loss, optimizer and metrics.

        Args:
            model: what `model` returned.
            rate: a learning rate instead of the recipe's.

        Returns:
            The same model.
        """
        recipe = self.recipe
        exact(model, clip_norm=recipe.clip_norm)
        model.compile(
            optimizer_of(model, recipe, rate or self.rate()),
            loss_of(recipe),
            metrics=self.task.metrics(len(self.train.class_names)),
        )
        return model

    def batches(self, preprocessing):
        """Returns a function from the number of a step to the batches from there on.

        The same dataset is returned again for the same step. A second argument, a range, has
        these rows of each batch made alone, as `training_batches` takes it.

        Args:
            preprocessing: the model's.
        """
        recipe = self.recipe

        @functools.lru_cache(maxsize=1)
        def batches(step, rows=None):
            found = training_batches(
                self.train,
                preprocessing,
                recipe.batch_size,
                recipe.seed,
                start_step=step,
                augment=recipe.augment,
                repeats=recipe.repeats,
                label_smoothing=smoothing_in_data(recipe),
                rows=rows,
            )
            if recipe.class_weight is None:
                return found
            return weighted_batches(found, class_weights(recipe.class_weight, self.train.targets))

        return batches

    def validation(self, preprocessing, rows=None):
        """Returns the held-out images as `fit` takes them: normalised, with labels.

        Args:
            preprocessing: the model's.
            rows: a range, to have these rows of each batch made alone.
        """
        classes, size = len(preprocessing.class_names), self.recipe.batch_size
        batches = evaluation_batches(self.held_out, preprocessing, size, rows=rows)
        return normalised(batches, preprocessing).map(
            lambda images, labels: (images, self.task.labels(labels, classes))
        )


def prepared(recipe, data, fraction=1.0, folder=None, tell=None):
    """Opens the images of a run and sees that the recipe fits them.

    Args:
        recipe: a `Recipe`.
        data: a `Records`, or what `keras_vit.data.find_data` takes. With splits of its own those
            are used, otherwise a share of each class is held out.
        fraction: share of each class of the training images that is used, in (0, 1].
        folder: where the images that cannot be read are listed; None to take them as they are.
        tell: called with a sentence for the user, or None.

    Returns:
        A `Prepared`.

    Raises:
        ValueError: for images or a recipe that cannot be used.
    """
    train, held_out = _splits(data, recipe, folder, tell or (lambda sentence: None))
    task = task_of(train.targets)
    found = Prepared(task.fitting(recipe), task, train.part(fraction, recipe.seed), held_out)
    if tell and found.recipe.loss != recipe.loss:
        tell(f"An image may have several classes: the loss is {found.recipe.loss}.")
    if recipe.class_weight is not None:
        class_weights(recipe.class_weight, found.train.targets)
    found.task.monitor(recipe, len(train.class_names))
    return found


def _splits(data, recipe, folder, tell):
    """Training and held-out images, without those that cannot be read."""

    def readable(records, name):
        task_of(records.targets)  # before all of them are looked at
        if folder is None:
            return records
        kept, found = skip_broken(records, folder / name)
        if found.broken:
            tell(found.summary())
        return kept

    if not isinstance(data, Records):
        data = find_data(data)
        if data.splits:
            train, held_out = data.open_train_and_held_out(recipe.held_out, recipe.seed)
            check_classes(train.class_names, held_out.class_names)
            return readable(train, "skipped_train.txt"), readable(held_out, "skipped_held_out.txt")
        data = data.open()
    return readable(data, "skipped.txt").split(recipe.held_out, recipe.seed)


def _started(recipe, names):
    """A model that starts from weights, with their preprocessing and a head for the classes."""
    fields = {
        **recipe.config,
        "num_classes": len(names["class_names"]),
        "preprocessing": {**recipe.preprocessing, **names},
    }
    return create_model(
        recipe.model, recipe.weights, recipe.weights_format, dtype=recipe.precision, **fields
    )


def _new(recipe, names):
    channels = recipe.config.get("channels", 3)
    half = {"mean": (0.5,) * channels, "std": (0.5,) * channels}
    fields = {
        **recipe.config,
        "num_classes": len(names["class_names"]),
        "preprocessing": Preprocessing(**{**half, **recipe.preprocessing, **names}),
    }
    return create_model(recipe.model, dtype=recipe.precision, **fields)
