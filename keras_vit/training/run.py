"""One training run: a recipe, images, a folder of results."""

import dataclasses
import json
from pathlib import Path

import keras
import tensorflow as tf

from keras_vit.data import (
    Classes,
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
from keras_vit.training import strategies
from keras_vit.training.backup import Backup
from keras_vit.training.callbacks import Clock, ProgressBar, Record, epochs_of
from keras_vit.training.evaluation import check_classes
from keras_vit.training.fine_tuning import freeze
from keras_vit.training.fitting import fit
from keras_vit.training.losses import loss_of, smoothing_in_data
from keras_vit.training.optimizers import optimizer_of
from keras_vit.training.preemption import Preempted
from keras_vit.training.schedules import SCHEDULES
from keras_vit.training.workers import is_chief

# The folder of what a run is resumed from, and how old the newest state there may become.
STATES, SECONDS = "states", 300


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


def train(recipe, data, out, resume=False, verbose=True, strategy="one", fraction=1.0):
    """Trains a model and writes it with its record.

    The folder holds `recipe.json`, `history.csv`, `tensorboard/`, `states/` (all that is needed
    to resume), `best.keras` (the epoch with the best validation accuracy) and, at the end,
    `model.keras` (the last step). The models hold no optimizer.

    With several devices or workers the numbers stay those of one. Each worker makes the same
    call, with `data` and `out` on disks that all of them see; the chief writes. SIGTERM saves the
    state and ends the process with code 42.

    Args:
        recipe: a `Recipe`.
        data: a `Records` with one class an image, or what `keras_vit.data.open_data` takes. With
            splits of its own (`train` and `test` or `val`) those are used, otherwise a share of
            each class is held out.
        out: folder for the results.
        resume: go on from the newest state in that folder.
        verbose: whether to show progress.
        strategy: which devices it trains on, as `keras_vit.training.strategy` takes it.
        fraction: share of each class of the training images that is used, in (0, 1].

    Returns:
        A `TrainResult`.

    Raises:
        ValueError: for data or a recipe that cannot be used.
        FileExistsError: if the folder holds a run and `resume` is off.
        FileNotFoundError: if there is nothing to resume.
        KeyboardInterrupt: on Ctrl-C, after saying where the last state is.
        Preempted: after notice by SIGTERM, likewise.
    """
    place = strategies.strategy(strategy)
    folder, verbose = Path(out), verbose and is_chief(place)
    _check_folder(folder, resume)
    keras.utils.set_random_seed(recipe.seed)
    train_set, held_out = _splits(data, recipe, folder, verbose)
    train_set = train_set.part(fraction, recipe.seed)
    run = {"recipe": _as_json(recipe), "data": train_set.fingerprint()}
    backup = Backup(folder / STATES, seconds=SECONDS, run=run)
    if resume:
        _check_same_run(backup.record()["run"], run, backup.folder)
    elif is_chief(place):
        _write_recipe(recipe, folder)
    steps = -(-len(train_set) // recipe.batch_size)
    with place.scope():
        model = _model(recipe, train_set.class_names)
        _compile(model, recipe, steps)
    callbacks = [
        keras.callbacks.TensorBoard(folder / "tensorboard", write_graph=False),
        Clock(),
        Record(folder, save_model),
    ]
    if verbose:
        done = backup.record()["step"]
        callbacks.append(ProgressBar(steps * recipe.epochs, done, recipe.epochs, recipe.batch_size))
    try:
        history = _fit(model, recipe, steps, train_set, held_out, callbacks, backup)
    except (KeyboardInterrupt, Preempted):
        if verbose and backup.states():
            print(f"\nStopped. The last state is {backup.states()[-1]}; go on with --resume.")
        raise
    if is_chief(place):
        save_model(model, folder / "model.keras")
    return TrainResult(model, epochs_of(history.history), train_set, held_out, folder)


def save_model(model, path):
    """Writes a model without its optimizer; the file at `path` is replaced only by a whole one.

    The optimizer would triple the file, and is in the run's state.
    """
    twin = type(model).from_config(model.get_config())
    twin.set_weights(model.get_weights())
    with replacing(path) as temporary:
        twin.save(temporary)


def _fit(model, recipe, steps, train_set, held_out, callbacks, backup):
    preprocessing = model.preprocessing

    def batches(step):
        return training_batches(
            train_set,
            preprocessing,
            recipe.batch_size,
            recipe.seed,
            start_step=step,
            augment=recipe.augment,
            repeats=recipe.repeats,
            label_smoothing=smoothing_in_data(recipe),
        )

    return fit(
        model,
        batches,
        epochs=recipe.epochs,
        steps_per_epoch=steps,
        validation_data=_labelled(
            evaluation_batches(held_out, preprocessing, recipe.batch_size), preprocessing
        ),
        validation_steps=-(-len(held_out) // recipe.batch_size),
        callbacks=callbacks,
        verbose=0,
        backup=backup,
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
    rate = SCHEDULES[recipe.schedule](
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
        optimizer_of(model, recipe, rate),
        loss_of(recipe),
        metrics=metrics,
    )


def _splits(data, recipe, folder, verbose):
    """Training and held-out images, without those that cannot be read."""

    def readable(records, name):
        kept, found = skip_broken(records, folder / name)
        if found.broken and verbose:
            print(found.summary())
        if not isinstance(kept.targets, Classes):
            raise ValueError(
                "Recipes train on images with one class each; write your own `fit` for others. "
                f"Received: {type(kept.targets).__name__}."
            )
        return kept

    if isinstance(data, Records) or not available_splits(data):
        records = data if isinstance(data, Records) else open_data(data)
        return readable(records, "skipped.txt").split(recipe.held_out, recipe.seed)
    train_set, held_out = open_train_and_held_out(data, recipe.held_out, recipe.seed)
    check_classes(train_set.class_names, held_out.class_names)
    return readable(train_set, "skipped_train.txt"), readable(held_out, "skipped_held_out.txt")


def _check_same_run(found, run, folder):
    """Checks that what a run was started with is what it is to go on with."""
    if found["data"] != run["data"]:
        raise ValueError(
            f"The images are not those that the run in {folder} was started with, so it cannot go "
            "on as if it had not stopped. Restore them, or start in another folder."
        )
    for field, value in run["recipe"].items():
        if found["recipe"].get(field) != value:
            raise ValueError(
                f"The run in {folder} was started with {field}={found['recipe'].get(field)!r}. "
                f"Received: {value!r}. Resume with the same recipe, or start in another folder."
            )


def has_state(folder):
    """Tells whether there is a state in the folder of a run that it can go on from."""
    return bool(Backup(Path(folder) / STATES).states())


def _check_folder(folder, resume):
    """Fails before the long work rather than after it."""
    if resume and not has_state(folder):
        raise FileNotFoundError(f"There is nothing to resume: {folder / STATES} holds no state.")
    if has_state(folder) and not resume:
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
