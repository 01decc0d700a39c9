"""What a model learns of images, by what is known about them."""

import dataclasses
from collections.abc import Callable

import keras
import tensorflow as tf

from keras_vit.data import Boxes, Captions, Classes, Tags, Unlabelled
from keras_vit.training.average_precision import MeanAveragePrecision
from keras_vit.training.box_evaluation import ValidationPrecision
from keras_vit.training.losses import DETECTION
from keras_vit.training.painted_pictures import ToPaint
from keras_vit.training.retrieval import ValidationRecall


@dataclasses.dataclass(frozen=True)
class Task:
    """How images of one kind are trained on.

    Args:
        losses: a recipe's losses that fit; the first one is taken for one that does not.
        measure: name of the metric that tells how good a model is.
        title: what to call it in a sentence.
        reason: why such images need one of the losses, in words.
        probabilities: how logits become probabilities, as `Preprocessing` states it.
        metrics: function from the number of classes to metrics.
        labels: function (what `for_evaluation` gives, number of classes) to what metrics take.
        callbacks: function from a function to the held-out batches to callbacks, which put
            further numbers of an epoch into its logs.
        more: names of those numbers, after `val_`.
    """

    losses: tuple
    measure: str
    title: str
    reason: str
    probabilities: str
    metrics: Callable
    labels: Callable
    callbacks: Callable = lambda batches: []
    more: tuple = ()

    def fitting(self, recipe):
        """Returns a recipe with a loss that fits.

        Raises:
            ValueError: for `class_weight` where images have no classes.
        """
        if recipe.class_weight is not None and self.measure == "recall":
            raise ValueError(
                "`class_weight` is for images with classes. Received: "
                f"{recipe.class_weight!r}, for images with texts."
            )
        if recipe.loss in self.losses:
            return recipe
        return dataclasses.replace(recipe, loss=self.losses[0])

    def monitor(self, recipe, num_classes):
        """Returns the number of an epoch that tells which is the best.

        Raises:
            ValueError: if there is no such number.
        """
        names = ["loss", *(metric.name for metric in self.metrics(num_classes))]
        names += [f"val_{name}" for name in (*names, *self.more)]
        chosen = recipe.monitor or f"val_{self.measure}"
        if chosen not in names:
            raise ValueError(f"`monitor` must be one of {', '.join(names)}. Received: {chosen!r}.")
        return chosen


def _class_metrics(num_classes):
    metrics = [keras.metrics.CategoricalAccuracy("accuracy")]
    if num_classes > 5:
        metrics.append(keras.metrics.TopKCategoricalAccuracy(5, "top5"))
    return metrics


# Kind of the targets -> how they are trained on.
TASKS = {
    Classes: Task(
        losses=("softmax", "sigmoid", "sigmoid_mean"),
        measure="accuracy",
        title="Accuracy",
        reason="An image has one class",
        probabilities="softmax",
        metrics=_class_metrics,
        labels=tf.one_hot,
    ),
    Tags: Task(
        losses=("sigmoid", "sigmoid_mean"),
        measure="mAP",
        title="mAP",
        reason="An image may have several classes",
        probabilities="sigmoid",
        metrics=lambda num_classes: [MeanAveragePrecision(num_classes)],
        labels=lambda labels, num_classes: labels,
    ),
    Captions: Task(
        losses=("contrastive", "pair_sigmoid"),
        measure="recall",
        title="Recall of the nearest text or image",
        reason="An image has a text",
        probabilities="softmax",
        metrics=lambda num_classes: [],
        labels=lambda texts, num_classes: texts,
        callbacks=lambda batches: [ValidationRecall(batches)],
        more=("recall",),
    ),
    Boxes: Task(
        losses=(DETECTION,),
        measure="mAP",
        title="mAP of boxes",
        reason="An image has boxes",
        probabilities="sigmoid",
        metrics=lambda num_classes: [],
        labels=lambda boxes, num_classes: boxes,
        callbacks=lambda batches: [ValidationPrecision(batches)],
        more=("mAP",),
    ),
    ToPaint: Task(
        losses=("masked_pixels", "masked_raw_pixels"),
        measure="loss",
        title="Loss",
        reason="A masked autoencoder paints",
        probabilities="softmax",
        metrics=lambda num_classes: [],
        labels=lambda labels, num_classes: labels,
    ),
}
# What to do with the others.
INSTEAD = {
    Unlabelled: "sort them into folders, one a class, or list them in a manifest with `label`",
}


def task_of(targets):
    """Returns the `Task` for what is known about images.

    Raises:
        ValueError: if recipes do not train on such images; says what to do instead.
    """
    task = TASKS.get(type(targets))
    if task is None:
        raise ValueError(
            "Recipes train on images with a class each, with several, with texts or with boxes. "
            "Received: images with "
            f"{type(targets).__name__}; {INSTEAD[type(targets)]}."
        )
    return task
