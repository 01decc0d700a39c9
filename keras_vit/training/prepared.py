"""A run before its first step: images, model, optimizer, by a recipe."""

import dataclasses
import functools

from keras_vit.data import Records
from keras_vit.factory import create_detector, create_model
from keras_vit.layers import Preprocessing
from keras_vit.models import NAMES, TimeSformer
from keras_vit.step import exact
from keras_vit.training.box_inputs import BOXES
from keras_vit.training.class_weights import class_weights, presence_weights, weighted_batches
from keras_vit.training.distillation import Distillation
from keras_vit.training.evaluation import check_classes
from keras_vit.training.fine_tuning import freeze
from keras_vit.training.inputs import TAUGHT, inputs_of
from keras_vit.training.losses import DETECTION, loss_of
from keras_vit.training.optimizers import optimizer_of
from keras_vit.training.recipes import Recipe
from keras_vit.training.schedules import SCHEDULES
from keras_vit.training.tasks import Task, task_of

# Fields of a TimeSformer's config that an image model has not.
OF_CLIPS = ("frames", "space_time")


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
    def inputs(self):
        """What the model takes: see `keras_vit.training.inputs`."""
        if self.detects:
            return BOXES
        return TAUGHT if self.recipe.distillation.get("logits") else inputs_of(self.recipe.model)

    @property
    def detects(self):
        """Whether the recipe's model is the backbone of a detector."""
        return self.recipe.loss == DETECTION

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
        make = _detector if self.detects else _started if recipe.weights else _new
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
            The same model, or the `Distiller` that trains it.
        """
        recipe = self.recipe
        optimizer, trained = optimizer_of(model, recipe, rate or self.rate()), model
        if recipe.distillation:
            trained = Distillation(**recipe.distillation).distiller(model)
        exact(trained, clip_norm=recipe.clip_norm)
        loss = loss_of(recipe, self.presence())
        trained.compile(
            optimizer,
            loss.of(model) if self.detects else loss,
            # Not an empty list, whose place Keras looks for among the outputs.
            metrics=self.task.metrics(len(self.train.class_names)) or None,
        )
        return trained

    def batches(self, preprocessing):
        """Returns a function from the number of a step to the batches from there on.

        The same dataset is returned again for the same step. A second argument, a range, has
        these rows of each batch made alone, as `training_batches` takes it.

        Args:
            preprocessing: the model's.
        """
        weight = self.recipe.class_weight if self.task.probabilities == "softmax" else None

        @functools.lru_cache(maxsize=1)
        def batches(step, rows=None):
            found = self.inputs.batches(self, preprocessing, step, rows)
            if weight is None:
                return found
            return weighted_batches(found, class_weights(weight, self.train.targets))

        return batches

    def presence(self):
        """Returns what it counts that an image has a class, where it may have several, or None."""
        weight = self.recipe.class_weight
        if weight is None or self.task.probabilities != "sigmoid":
            return None
        return presence_weights(weight, self.train.targets)

    def shown(self, preprocessing):
        """Returns the first batches as people look at them: with their labels or texts."""
        return self.inputs.shown(self, preprocessing)

    def validation(self, preprocessing, rows=None):
        """Returns what is held out as `fit` takes it: normalised, with labels or texts.

        Args:
            preprocessing: the model's.
            rows: a range, to have these rows of each batch made alone.
        """
        return self.inputs.validation(self, preprocessing, rows)


def prepared(recipe, data, fraction=1.0, folder=None, tell=None):
    """Opens the images of a run and sees that the recipe fits them.

    Args:
        recipe: a `Recipe`.
        data: a `Records`, or DATA that the recipe's model takes: what `keras_vit.data.find_data`
            finds or, for clips, `find_videos`. With splits of its own those are used, otherwise a
            share of each class is held out.
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
        tell(f"{task.reason}: the loss is {found.recipe.loss}.")
    if recipe.class_weight is not None:
        found.presence()
        class_weights(recipe.class_weight, found.train.targets)
    found.task.monitor(recipe, len(train.class_names))
    return found


def _splits(data, recipe, folder, tell):
    """Training and held-out images, without those that cannot be read."""
    inputs = inputs_of(recipe.model)

    def readable(records, name):
        inputs.check(records)  # before all of them are looked at
        records = inputs.taken(records)
        task_of(records.targets)
        if folder is None:
            return records
        kept, broken = inputs.readable(records, folder / name)
        if broken:
            tell(broken)
        return kept

    if not isinstance(data, Records):
        data = inputs.find(data)
        if data.splits:
            train, held_out = data.open_train_and_held_out(recipe.held_out, recipe.seed)
            check_classes(train.class_names, held_out.class_names)
            return readable(train, "skipped_train.txt"), readable(held_out, "skipped_held_out.txt")
        data = data.open()
    return readable(data, "skipped.txt").split(recipe.held_out, recipe.seed)


def _detector(recipe, names):
    """A detector on the recipe's model, its backbone with weights where the recipe has some."""
    fields = {
        **recipe.config,
        "num_classes": len(names["class_names"]),
        "preprocessing": {**recipe.preprocessing, **names},
    }
    start = recipe.model, recipe.weights, recipe.weights_format
    return create_detector(*start, dtype=recipe.precision, **fields)


def _started(recipe, names):
    """A model that starts from weights, with their preprocessing and a head for the classes."""
    if recipe.weights_model:
        return _started_from_images(recipe, names)
    fields = {
        **recipe.config,
        "num_classes": len(names["class_names"]),
        "preprocessing": {**recipe.preprocessing, **names},
    }
    return create_model(
        recipe.model, recipe.weights, recipe.weights_format, dtype=recipe.precision, **fields
    )


def _started_from_images(recipe, names):
    """A model of clips that starts from an image model's weights, with a new head."""
    family, variant = NAMES[recipe.model]
    if family is not TimeSformer:
        raise ValueError(
            "`weights_model` is for models of clips, which start from an image model. "
            f"Received: {recipe.weights_model!r} for {recipe.model}."
        )
    config = family.config_class(**{**variant, **recipe.config})
    shared = {name: value for name, value in recipe.config.items() if name not in OF_CLIPS}
    shared |= {"image_size": config.image_size, "num_classes": 0}
    start = recipe.weights_model, recipe.weights, recipe.weights_format
    image_model = create_model(*start, dtype=recipe.precision, **shared)
    preprocessing = dataclasses.replace(config.preprocessing, **recipe.preprocessing, **names)
    return family.from_image_model(
        image_model,
        config.frames,
        config.space_time,
        drop_path=config.drop_path,
        num_classes=len(names["class_names"]),
        preprocessing=preprocessing,
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
