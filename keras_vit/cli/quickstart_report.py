"""The quick start's `report.html`: gathers what the page shows."""

import datetime
import os

import numpy as np

MISTAKES = 5  # a row of them


def write(path, result, evaluation, formats, recipe, seconds):
    """Writes the page.

    Args:
        path: the file.
        result: the `TrainResult`.
        evaluation: the `Evaluation` on the held-out images.
        formats: the `Format`s of the table.
        recipe: the `Recipe`.
        seconds: how long training took.

    Returns:
        The path.
    """
    from keras_vit.training.report import Report, write_report

    pixels = _pixels(result.held_out, result.model.preprocessing)
    report = Report(
        "A small Vision Transformer on handwritten digits",
        evaluation.labels,
        evaluation.predictions,
        evaluation.class_names,
        history=result.history,
        pictures=pixels,
        samples=samples(result.model, pixels, evaluation),
        formats=formats,
        facts={
            "Parameters": f"{result.model.count_params():,}",
            "Training": _duration(seconds),
            "Epochs": recipe.epochs,
            "Learned from": f"{len(result.train):,} images",
            "Machine": f"{os.cpu_count()} CPU cores",
        },
        footer=_footer(),
    )
    return write_report(report, path)


def samples(model, pixels, evaluation):
    """Chooses what to show: of each class the first right answer, and the surest mistakes.

    Args:
        model: the `ViT`.
        pixels: the images, `[n, h, w, c]`, 0 to 255.
        evaluation: its `Evaluation` on them.

    Returns:
        A list of `Sample`s with attention rollout.
    """
    from keras_vit.explain import rollout
    from keras_vit.runtime import softmax
    from keras_vit.training.report import Sample

    probabilities = softmax(evaluation.logits)
    labels, right = evaluation.labels, evaluation.predictions == evaluation.labels
    firsts = [np.flatnonzero(right & (labels == label))[:1] for label in np.unique(labels)]
    wrong = np.flatnonzero(~right)
    surest = wrong[np.argsort(-probabilities[wrong].max(axis=1))][:MISTAKES]
    chosen = np.concatenate([*firsts, surest])
    heat = rollout(model, model.preprocessing.normalize(pixels[chosen]))
    names = evaluation.class_names
    return [
        Sample(
            pixels[index],
            names[labels[index]],
            [(names[k], float(probabilities[index, k])) for k in order[:3]],
            heat[i],
        )
        for i, index in enumerate(chosen)
        for order in [np.argsort(-probabilities[index], kind="stable")]
    ]


def _pixels(records, preprocessing):
    from keras_vit.data import evaluation_batches

    batches = evaluation_batches(records, preprocessing, 256).as_numpy_iterator()
    return np.concatenate([images for images, _ in batches])


def _duration(seconds):
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _footer():
    import keras
    import tensorflow as tf

    from keras_vit.version import __version__

    return (
        f"Made by keras_vit {__version__} with Keras {keras.__version__} and TensorFlow "
        f"{tf.__version__} on {datetime.date.today():%d %B %Y}: python training/quickstart.py"
    )
