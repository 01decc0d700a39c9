"""One training run: a recipe, images, a folder of results."""

import dataclasses
import json
from pathlib import Path

import keras
import tensorflow as tf

from keras_vit.data import (
    Records,
    available_splits,
    evaluation_batches,
    normalised,
    open_data,
    open_train_and_held_out,
    skip_broken,
    training_batches,
)
from keras_vit.factory import create_model
from keras_vit.files import replacing, require_writable
from keras_vit.layers import Preprocessing
from keras_vit.step import exact
from keras_vit.training.callbacks import Checkpoints, ProgressBar
from keras_vit.training.evaluation import check_classes
from keras_vit.training.fine_tuning import freeze
from keras_vit.training.optimizers import adamw
from keras_vit.training.schedules import warmup_cosine
from keras_vit.training.state import TrainState

# What a run is resumed from.
STATE = "last.safetensors"


@dataclasses.dataclass(frozen=True)
class TrainResult:
    """What a run leaves.

    Args:
        model: the model as the last step left it.
        history: one dict an epoch: `epoch`, `loss`, `accuracy`, `val_loss`, `val_accuracy`, ….
        train: the images it was trained on.
        held_out: the images it was validated on.
        folder: where its files are.
    """

    model: keras.Model
    history: list
    train: object
    held_out: object
    folder: Path


def train(recipe, data, out, resume=False, verbose=True):
    """Trains a model and writes it with its record.

    The folder holds `recipe.json`, `history.csv`, `tensorboard/`, `last.safetensors` (all that
    is needed to resume), `best.keras` (the epoch with the best validation accuracy) and, at the
    end, `model.keras` (the last step). The models hold no optimizer.

    Args:
        recipe: a `Recipe`.
        data: a `Records`, or what `keras_vit.data.open_data` takes: an image folder or
            `tfds:NAME`. With splits of its own (`train` and `test` or `val`) those are used,
            otherwise a share of each class is held out.
        out: folder for the results.
        resume: go on from `last.safetensors` in that folder.
        verbose: whether to show progress.

    Returns:
        A `TrainResult`.

    Raises:
        ValueError: for data or a recipe that cannot be used.
        FileExistsError: if the folder holds a run and `resume` is off.
        FileNotFoundError: if there is nothing to resume.
        KeyboardInterrupt: on Ctrl-C, after saying where the last state is.
    """
    folder = Path(out)
    _check_folder(folder, resume)
    keras.utils.set_random_seed(recipe.seed)
    train_set, held_out = _splits(data, recipe, folder, verbose)
    model = _model(recipe, train_set.class_names)
    steps = -(-len(train_set) // recipe.batch_size)
    _compile(model, recipe, steps)
    state, history = TrainState(model), []
    run = {"recipe": _as_json(recipe), "data": train_set.fingerprint()}
    if resume:
        history = _resumed(state, folder / STATE, run)
    else:
        _write_recipe(recipe, folder)
    callbacks = [
        Checkpoints(folder, STATE, state, history, run, save_model),
        keras.callbacks.TensorBoard(folder / "tensorboard", write_graph=False),
    ]
    if verbose:
        callbacks.append(
            ProgressBar(steps * recipe.epochs, state.step, recipe.epochs, recipe.batch_size)
        )
    try:
        _run(state, recipe, steps, train_set, held_out, callbacks)
    except KeyboardInterrupt:
        if (folder / STATE).exists():
            print(f"\nStopped. The last state is {folder / STATE}; go on with --resume.")
        raise
    save_model(model, folder / "model.keras")
    return TrainResult(model, history, train_set, held_out, folder)


def save_model(model, path):
    """Writes a model without its optimizer; the file at `path` is replaced only by a whole one.

    The optimizer would triple the file, and is in the run's state.
    """
    twin = type(model).from_config(model.get_config())
    twin.set_weights(model.get_weights())
    with replacing(path) as temporary:
        twin.save(temporary)


def _run(state, recipe, steps, train_set, held_out, callbacks):
    """Trains from the step that the state stands at to the end.

    A run that was saved in mid-epoch first finishes that epoch in a `fit` of its own.
    """
    model, preprocessing = state.model, state.model.preprocessing
    validation = _labelled(
        evaluation_batches(held_out, preprocessing, recipe.batch_size), preprocessing
    )
    epoch, into = divmod(state.step, steps)
    segments = [(epoch, epoch + 1, steps - into)] if into else []
    segments.append((epoch + bool(into), recipe.epochs, steps))
    for first, last, count in segments:
        if first >= last:
            continue
        batches = training_batches(
            train_set,
            preprocessing,
            recipe.batch_size,
            recipe.seed,
            start_step=state.step,
            augment=recipe.augment,
        )
        model.fit(
            batches,
            initial_epoch=first,
            epochs=last,
            steps_per_epoch=count,
            shuffle=False,
            validation_data=validation,
            callbacks=callbacks,
            verbose=0,
        )


def _labelled(batches, preprocessing):
    """Evaluation batches as `fit` takes them: normalised images, one-hot labels."""
    classes = len(preprocessing.class_names)
    return normalised(batches, preprocessing).map(
        lambda images, labels: (images, tf.one_hot(labels, classes))
    )


def _model(recipe, class_names):
    model = _started(recipe, class_names) if recipe.weights else _new(recipe, class_names)
    if recipe.frozen_blocks:
        freeze(model, recipe.frozen_blocks)
    return model


def _started(recipe, class_names):
    """A model that starts from weights, with their preprocessing and a head for the classes."""
    preprocessing = {**recipe.preprocessing, "class_names": tuple(class_names)}
    fields = {**recipe.config, "num_classes": len(class_names), "preprocessing": preprocessing}
    return create_model(
        recipe.model, recipe.weights, recipe.weights_format, recipe.precision, **fields
    )


def _new(recipe, class_names):
    channels = recipe.config.get("channels", 3)
    half = {"mean": (0.5,) * channels, "std": (0.5,) * channels}
    preprocessing = Preprocessing(
        **{**half, **recipe.preprocessing}, class_names=tuple(class_names)
    )
    return create_model(
        recipe.model,
        dtype=recipe.precision,
        **{
            **recipe.config,
            "num_classes": len(class_names),
            "preprocessing": preprocessing,
        },
    )


def _compile(model, recipe, steps):
    """Compiles with the recipe's optimizer."""
    rate = warmup_cosine(
        recipe.learning_rate,
        steps * recipe.epochs,
        round(recipe.warmup_epochs * steps),
        recipe.min_learning_rate,
    )
    metrics = [keras.metrics.CategoricalAccuracy("accuracy")]
    if len(model.preprocessing.class_names) > 5:
        metrics.append(keras.metrics.TopKCategoricalAccuracy(5, "top5"))
    exact(model, clip_norm=recipe.clip_norm)
    model.compile(
        adamw(model, rate, recipe.weight_decay, layer_decay=recipe.layer_decay),
        keras.losses.CategoricalCrossentropy(
            from_logits=True, label_smoothing=recipe.label_smoothing
        ),
        metrics=metrics,
    )


def _splits(data, recipe, folder, verbose):
    """Training and held-out images, without those that cannot be read."""

    def readable(records, name):
        kept, found = skip_broken(records, folder / name)
        if found.broken and verbose:
            print(found.summary())
        return kept

    if isinstance(data, Records) or not available_splits(data):
        records = data if isinstance(data, Records) else open_data(data)
        return readable(records, "skipped.txt").split(recipe.held_out, recipe.seed)
    train_set, held_out = open_train_and_held_out(data, recipe.held_out, recipe.seed)
    check_classes(train_set.class_names, held_out.class_names)
    return readable(train_set, "skipped_train.txt"), readable(held_out, "skipped_held_out.txt")


def _resumed(state, path, run):
    """Restores the state of the same run and returns its history."""
    record = state.restore(path)
    if record["data"] != run["data"]:
        raise ValueError(
            f"The images are not those that the run of {path} was started with, so it cannot go "
            "on as if it had not stopped. Restore them, or start in another folder."
        )
    for field, value in run["recipe"].items():
        if record["recipe"].get(field) != value:
            raise ValueError(
                f"The run of {path} was started with {field}={record['recipe'].get(field)!r}. "
                f"Received: {value!r}. Resume with the same recipe, or start in another folder."
            )
    return record["history"]


def _check_folder(folder, resume):
    """Fails before the long work rather than after it."""
    state = folder / STATE
    if resume and not state.exists():
        raise FileNotFoundError(f"There is nothing to resume: {state} does not exist.")
    if state.exists() and not resume:
        raise FileExistsError(
            f"{folder} holds a training run already. Go on with --resume, or choose another folder."
        )
    require_writable(folder)


def _write_recipe(recipe, folder):
    with replacing(folder / "recipe.json") as temporary:
        temporary.write_text(json.dumps(_as_json(recipe), indent=1) + "\n")


def _as_json(recipe):
    """The recipe as JSON has it, tuples as lists, to compare with what was written."""
    return json.loads(json.dumps(dataclasses.asdict(recipe)))
