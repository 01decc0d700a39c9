"""One training run: a recipe, images, a folder of results."""

import dataclasses
import functools
import json
from pathlib import Path

import keras

from keras_vit.files import replacing, require_writable
from keras_vit.layers import PerformerAttention
from keras_vit.objectives import Distiller
from keras_vit.training import strategies
from keras_vit.training.backup import Backup
from keras_vit.training.batches import by_worker
from keras_vit.training.callbacks import Clock, EarlyStop, ProgressBar, Record, epochs_of, ran_out
from keras_vit.training.first_batch import FirstBatch
from keras_vit.training.fitting import fit
from keras_vit.training.preemption import Preempted
from keras_vit.training.prepared import prepared
from keras_vit.training.redraw import RedrawFeatures
from keras_vit.training.tasks import Task
from keras_vit.training.tracking import WandB
from keras_vit.training.workers import is_chief

# The folder of what a run is resumed from, and how old the newest state there may become.
STATES, SECONDS = "states", 300


@dataclasses.dataclass(frozen=True)
class TrainResult:
    """What a run leaves.

    Args:
        model: the model as the last step left it.
        history: one dict an epoch: `epoch`, `loss`, `accuracy`, `val_loss`, `val_accuracy`, …; of
            images with several classes `mAP` and `val_mAP` in place of the accuracy, of images
            with texts `val_recall`.
        train: the images it was trained on.
        held_out: the images it was validated on.
        folder: where its files are.
        task: the `Task`: what was learned, and which number tells how well.
        words: what it was learned from: images, clips or pairs.
    """

    model: keras.Model
    history: list
    train: object
    held_out: object
    folder: Path
    task: Task
    words: str = "images"


def train(recipe, data, out, resume=False, verbose=True, strategy="one", fraction=1.0, wandb=None):
    """Trains a model and writes it with its record.

    The folder holds `recipe.json`, `history.csv`, `tensorboard/` (with the first batch as the
    model sees it), `states/` (all that is needed to resume), `best.keras` (the epoch that is best
    by the recipe's `monitor`) and, at the end, `model.keras` (the last step). The models hold no
    optimizer.

    With several devices or workers the numbers stay those of one. Each worker makes the same
    call, with `data` and `out` on disks that all of them see; the chief writes. SIGTERM saves the
    state and ends the process with code 42.

    Args:
        recipe: a `Recipe`.
        data: a `Records` of what the recipe's model takes: images with one class or several, with
            a text, or videos; or DATA that holds them. With splits of its own (`train` and `test`
            or `val`) those are used, otherwise a share of each class is held out. A recipe whose
            loss does not fit the data is trained by the first that does: `"sigmoid"` where images
            may have several classes, `"contrastive"` where they have a text.
        out: folder for the results.
        resume: go on from the newest state in that folder.
        verbose: whether to show progress.
        strategy: which devices it trains on, as `keras_vit.training.strategy` takes it.
        fraction: share of each class of the training images that is used, in (0, 1].
        wandb: name of a project of Weights & Biases that follows the run, too, or None.

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
    setting = prepared(recipe, data, fraction, folder, print if verbose else None)
    recipe = setting.recipe
    run = {"recipe": _as_json(recipe), "data": setting.train.fingerprint()}
    backup = Backup(folder / STATES, seconds=SECONDS, run=run)
    if resume:
        _check_same_run(backup.record()["run"], run, backup.folder)
    elif is_chief(place):
        _write_recipe(recipe, folder)
    with place.scope():
        model = setting.compiled(setting.model())
    try:
        history = _fit(model, setting, folder, backup, verbose, wandb)
    except (KeyboardInterrupt, Preempted):
        if verbose and backup.states():
            print(f"\nStopped. The last state is {backup.states()[-1]}; go on with --resume.")
        raise
    if is_chief(place):
        save_model(model, folder / "model.keras")
    rows = epochs_of(history.history)
    return TrainResult(
        learned(model),
        rows,
        setting.train,
        setting.held_out,
        folder,
        setting.task,
        setting.inputs.words,
    )


def learned(model):
    """Returns the model that a run is for: of one that learns from a teacher the student."""
    return model.student if isinstance(model, Distiller) else model


def save_model(model, path):
    """Writes a model without its optimizer; the file at `path` is replaced only by a whole one.

    The optimizer would triple the file, and is in the run's state.
    """
    model = learned(model)
    twin = type(model).from_config(model.get_config())
    twin.set_weights(model.get_weights())
    with replacing(path) as temporary:
        twin.save(temporary)


def _fit(model, setting, folder, backup, verbose, wandb):
    recipe, preprocessing = setting.recipe, model.preprocessing
    record, batches = backup.record(), setting.batches(preprocessing)
    # A run that has ended early is not taken up again.
    ended = ran_out(epochs_of(record["history"]), setting.monitor, recipe.patience)

    def own_rows(make):
        return by_worker(make, recipe.batch_size, model.distribute_strategy)

    return fit(
        model,
        own_rows(batches),
        epochs=len(epochs_of(record["history"])) if ended else recipe.epochs,
        steps_per_epoch=setting.steps,
        validation_data=own_rows(lambda _, rows=None: setting.validation(preprocessing, rows))(0),
        validation_steps=-(-len(setting.held_out) // recipe.batch_size),
        callbacks=_callbacks(setting, folder, record["step"], model, verbose)
        + ([WandB(wandb, folder, _as_json(recipe))] if wandb else []),
        verbose=0,
        backup=backup,
    )


def _callbacks(setting, folder, done, model, verbose):
    """What follows a run that has done some steps."""
    recipe, preprocessing = setting.recipe, model.preprocessing
    callbacks = [
        keras.callbacks.TensorBoard(folder / "tensorboard", write_graph=False),
        Clock(),
        *setting.inputs.callbacks(setting, preprocessing, folder),
        *setting.task.callbacks(lambda: setting.validation(preprocessing)),
        Record(folder, save_model, setting.monitor),
        EarlyStop(setting.monitor, recipe.patience),
    ]
    if any(isinstance(layer, PerformerAttention) for layer in model._flatten_layers()):
        callbacks.append(RedrawFeatures(seed=recipe.seed))
    if not done:
        first = functools.partial(setting.shown, preprocessing)
        callbacks.append(FirstBatch(folder / "tensorboard", first, preprocessing))
    if verbose:
        steps, names = setting.steps * recipe.epochs, ("loss", setting.task.measure)
        callbacks.append(ProgressBar(steps, done, recipe.epochs, recipe.batch_size, names))
    return callbacks


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
