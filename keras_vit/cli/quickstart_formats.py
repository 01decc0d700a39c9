"""The table of formats at the end of the quick start."""

import numpy as np
from rich.table import Table

from keras_vit.cli.console import out
from keras_vit.cli.timing import median_seconds


def compare(keras_file, exports, result):
    """Evaluates the model and all its exports on the same held-out images.

    Args:
        keras_file: path of the Keras model.
        exports: dict of profile to path.
        result: the `TrainResult`.

    Returns:
        `(evaluation, formats, answers)`: the `Evaluation` of the Keras model; a list of `Format`s,
        with logistic regression last; and what each says to the first held-out image, a list
        of (class name, probability), None for the last.
    """
    from keras_vit import runtime
    from keras_vit.cli.quickstart import EXPORTS
    from keras_vit.training.report import Format

    files = {"keras": ("Keras", "training", keras_file)}
    files |= {profile: (*EXPORTS[profile][:2], path) for profile, path in exports.items()}
    held_out, reference = result.held_out, None
    formats, answers = [], []
    for name, purpose, path in files.values():
        with out.status(name):
            predictor = runtime.open(path)
            evaluation = _evaluate(predictor, held_out)
            reference = reference or evaluation
            answers.append(predictor.predict_files([held_out.name(0)], top=1)[0][0])
            milliseconds = 1000 * seconds_per_image(predictor)
        formats.append(
            Format(
                name,
                evaluation.accuracy,
                note=f"for {purpose}",
                size=predictor.size_bytes,
                milliseconds=milliseconds,
                agreement=evaluation.agreement(reference),
            )
        )
    baseline = logistic_regression(result.train, held_out, predictor.preprocessing)
    formats.append(Format("Logistic regression", baseline, note="scikit-learn, beside it"))
    return reference, formats, [*answers, None]


def seconds_per_image(predictor):
    """Returns the median time for one image, from raw pixels to logits."""
    preprocessing = predictor.preprocessing
    shape = (1, *preprocessing.image_size, preprocessing.channels)
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype("uint8")
    return median_seconds(lambda: predictor.logits(pixels), repeats=100, warmup=10, limit=3.0)


def logistic_regression(train, held_out, preprocessing):
    """Returns the accuracy of scikit-learn's logistic regression on the same split."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000)
    model.fit(*_flat(train, preprocessing))
    return float(model.score(*_flat(held_out, preprocessing)))


def show(formats, answers):
    """Prints the table."""
    from keras_vit.training.report_sections import file_size

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for column in ("size", "ms/image", "accuracy", "agreement", "one image"):
        table.add_column(column, justify="right")
    for row, answer in zip(formats, answers, strict=True):
        table.add_row(
            row.name,
            file_size(row.size) if row.size else "",
            f"{row.milliseconds:.2f}" if row.milliseconds is not None else "",
            f"{100 * row.accuracy:.1f} %",
            f"{100 * row.agreement:.1f} %" if row.agreement is not None else "",
            f"{answer[0]} ({100 * answer[1]:.0f} %)" if answer else "",
            style="dim" if row.size is None else "",
        )
    out.print()
    out.print(table)
    out.print()


def _evaluate(predictor, held_out):
    from keras_vit.training import evaluate

    return evaluate(predictor, held_out)


def _flat(records, preprocessing):
    """Pixels as rows, from 0 to 1, and labels."""
    from keras_vit.data import evaluation_batches

    batches = list(evaluation_batches(records, preprocessing, 256).as_numpy_iterator())
    pixels = np.concatenate([images for images, _ in batches])
    return pixels.reshape(len(pixels), -1) / 255, np.concatenate([labels for _, labels in batches])
