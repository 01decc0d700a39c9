"""The recorded kills: a run that is killed by SIGKILL many times and resumed loses nothing."""

import functools
import hashlib
import json
import multiprocessing
import random
import signal
import tempfile
import time
from pathlib import Path

from rich.progress import track

from keras_vit.cli.console import err
from keras_vit.cli.evaluate import write_json
from keras_vit.cli.once import once
from keras_vit.files import replacing

CHAINS = 10
EPOCHS, STEPS, BATCH = 23, 5, 8
# Seconds that a life is left to train before it is killed: up to ten steps with their saves.
LONGEST = 0.4
# What a life imports. Lives are forked from a server that has it all: a start takes no 8 seconds.
IMPORTS = ["keras_vit.cli.recording_kills", "keras_vit.factory", "keras_vit.training.fitting"]


def kills(work):
    """Kills training runs 200 times, at least 80 of them during a save, and resumes them.

    Args:
        work: folder that keeps each chain; a row that was stopped goes on from there.
    """
    chains = [
        once(work / f"chain_{seed}.json", lambda seed=seed: chain(work / f"chain_{seed}", seed))
        for seed in track(range(CHAINS), "chains", console=err)
    ]
    moments = [moment for found in chains for moment in found["kills"]]
    return {
        "command": "make record ROW=kills",
        "kills": len(moments),
        "during_a_save": sum(moment["temporary"] is not None for moment in moments),
        "states_lost": sum(moment["lost"] for moment in moments),
        "runs": sum(len(found["ends"]) for found in chains),
        "runs_with_another_end": sum(
            end != found["uninterrupted"] for found in chains for end in found["ends"]
        ),
    }


def chain(folder, seed, number=20, during_a_save=8):
    """Kills and resumes runs until they have been killed often enough, then lets the last end.

    A run that comes to its end before it is killed is followed by another.

    Args:
        folder: folder for the runs.
        seed: of the moments.
        number: how many kills there are at least.
        during_a_save: how many of them at least leave a temporary file.

    Returns:
        A dict: `uninterrupted`, the digest of a run that is left alone; `ends`, those of the
        killed runs; `kills`, a dict each: see `kill`.
    """
    from keras_vit.data import write_digits

    data, moments, found = write_digits(folder / "data", per_class=4), random.Random(seed), []
    new = functools.partial(tempfile.mkdtemp, dir=folder)
    alone, runs = Path(new(prefix="alone_")), [Path(new(prefix="run_"))]
    _to_the_end(data, alone)
    while len(found) < number or sum(bool(one["temporary"]) for one in found) < during_a_save:
        one = kill(data, runs[-1], moments, in_a_save=len(found) % 2 == 0)
        if one is None:
            runs.append(Path(new(prefix="run_")))
        else:
            found.append(one)
    _to_the_end(data, runs[-1])
    return {
        "uninterrupted": _end(alone),
        "ends": [_end(run) for run in runs],
        "kills": found,
    }


def kill(data, folder, moments, in_a_save):
    """Starts a life of a run, or goes on with it, and kills it.

    Args:
        data: folder of images.
        folder: folder of the run.
        moments: a `random.Random`.
        in_a_save: whether to wait for a temporary file and to kill at once when it is there.

    Returns:
        None if the life came to its end first. Else a dict: the `step` of the newest state;
        `temporary`, the name of the temporary file that was there when the process was dead, or
        None; `lost`, whether the life did not begin with the newest state before it, or has left
        an older one.
    """
    states, began = folder / "states", folder / "began"
    before, left = _newest(states), set(_temporaries(states))
    began.unlink(missing_ok=True)
    process = _start(data, folder)
    if in_a_save or moments.random() < 0.8:
        _wait(process, lambda: _newest(states) != before)
        time.sleep(moments.uniform(0, LONGEST))
    else:  # while it starts and finds its state
        time.sleep(moments.uniform(0, 3.0))
    if in_a_save:
        _wait(process, lambda: set(_temporaries(states)) - left)
    process.kill()
    process.join()
    if process.exitcode != -signal.SIGKILL:
        _check(process, folder)
        return None
    new = sorted(set(_temporaries(states)) - left)
    after = _newest(states)
    return {
        "step": after,
        "temporary": new[0].name if new else None,
        "lost": after < before or (began.exists() and int(began.read_text()) != before),
    }


def life(data, folder):
    """Trains a small model from the newest state in `folder` to the end, all randomness on."""
    import keras
    import tensorflow as tf

    from keras_vit.data import open_data, training_batches
    from keras_vit.training import Backup, fit

    keras.utils.set_random_seed(5)
    tf.config.experimental.enable_op_determinism()
    model, records = _model(), open_data(str(data))

    def batches(step):
        return training_batches(
            records, model.preprocessing, BATCH, seed=5, start_step=step, augment=("shift",)
        )

    class Began(keras.callbacks.Callback):
        """Writes which step a life begins with."""

        def on_epoch_begin(self, epoch, logs=None):
            if not (folder / "began").exists():
                with replacing(folder / "began") as temporary:
                    temporary.write_text(str(int(model.optimizer.iterations)))

    history = fit(
        model, batches, EPOCHS, STEPS, callbacks=[Began()], verbose=0,
        backup=Backup(folder / "states", every=1),
    )  # fmt: skip
    write_json({"digest": _digest(model, history.history)}, folder / "end.json")


def _model():
    import keras

    from keras_vit.factory import create_model
    from keras_vit.layers import Preprocessing
    from keras_vit.step import exact
    from keras_vit.training import adamw

    model = create_model(
        # Wide enough that a save takes as long as a step.
        "vit_ti16", image_size=8, patch_size=4, channels=1, depth=1, width=192, mlp_dim=768,
        num_heads=3, num_classes=10, dropout=0.2, drop_path=0.1,
        preprocessing=Preprocessing(
            mean=(0.5,), std=(0.5,), class_names=tuple(str(digit) for digit in range(10))
        ),
    )  # fmt: skip
    exact(model, clip_norm=1.0, ema=0.9)
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(adamw(model, 1e-3), loss, metrics=["accuracy"])
    return model


def _digest(model, history):
    from keras_vit.training.state import TrainState

    arrays = TrainState(model).arrays()
    digest = hashlib.sha256(json.dumps(history, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def _start(data, folder):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTS)
    process = context.Process(target=life, args=(data, folder))
    process.start()
    return process


def _to_the_end(data, folder):
    process = _start(data, folder)
    process.join()
    _check(process, folder)


def _check(process, folder):
    if process.exitcode != 0:
        raise RuntimeError(f"The run in {folder} failed by itself; its error is above.")


def _wait(process, happens):
    while process.is_alive() and not happens():
        time.sleep(0.0002)


def _newest(states):
    """The step of the newest state; 0 for none."""
    return max((int(path.stem.partition("_")[2]) for path in states.glob("step_*")), default=0)


def _temporaries(states):
    return states.glob(".step_*/step_*")


def _end(folder):
    return json.loads((folder / "end.json").read_text())["digest"]
