"""What happens around the steps of a run: its record, its checkpoints, its progress."""

import csv
import math
import time

import keras
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from keras_vit.files import replacing


class Checkpoints(keras.callbacks.Callback):
    """Keeps the record of the run and its state, and the best model so far.

    Keras's `ModelCheckpoint` writes straight over the last good file and leaves the seed
    states out, so a kill during a save loses both and a run with dropout cannot be resumed.

    Args:
        folder: where the files go: the state, `best.keras`, `history.csv`.
        name: name of the state's file.
        state: a `TrainState`.
        history: the epochs done before, a list of dicts.
        run: what the run is, dict of JSON values kept with the state.
        save_model: function (model, path) that writes a `.keras` file.
        seconds: the state is also written this long after it was last written.
    """

    def __init__(self, folder, name, state, history, run, save_model, seconds=300):
        super().__init__()
        self.folder = folder
        self.path = folder / name
        self.state = state
        self.history = history
        self.run = run
        self.save_model = save_model
        self.seconds = seconds
        self.saved_at = time.monotonic()

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        if time.monotonic() - self.saved_at > self.seconds:
            self._check_finite(logs)
            self._save()

    def on_epoch_end(self, epoch, logs=None):
        logs = {name: float(value) for name, value in logs.items()}
        self._check_finite(logs)
        best = max((row["val_accuracy"] for row in self.history), default=-1.0)
        seconds = round(time.monotonic() - self.began, 2)
        self.history.append({"epoch": epoch + 1, "seconds": seconds, **logs})
        if logs["val_accuracy"] > best:
            self.save_model(self.model, self.folder / "best.keras")
        self._save()
        write_history(self.history, self.folder / "history.csv")

    def _check_finite(self, logs):
        """Stops a run that has broken down while the last good state is still there."""
        if not math.isfinite(float(logs["loss"])):
            raise ValueError(
                f"The loss is no longer a number after step {self.state.step}. A lower "
                f"learning_rate or clip_norm helps; the last good state is {self.path}."
            )

    def _save(self):
        self.state.save(self.path, history=self.history, **self.run)
        self.saved_at = time.monotonic()


def write_history(rows, path):
    """Writes one row an epoch as CSV."""
    with replacing(path) as temporary, open(temporary, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), restval="")
        writer.writeheader()
        writer.writerows(rows)


class ProgressBar(keras.callbacks.Callback):
    """One bar for the whole run, with loss, accuracy, images a second and the time left.

    Where the output is no terminal, it prints a line an epoch.

    Args:
        steps: steps of the whole run.
        done: steps done before.
        epochs: epochs of the whole run.
        batch_size: images a step.
    """

    def __init__(self, steps, done, epochs, batch_size):
        super().__init__()
        self.console = Console(stderr=True)
        self.epochs = epochs
        self.batch_size = batch_size
        self.shown_at = 0.0
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("starting", total=steps, completed=done)

    def on_train_begin(self, logs=None):
        self.bar.start()

    def on_train_end(self, logs=None):
        self.bar.stop()

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch, self.began, self.steps = epoch + 1, time.monotonic(), 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        self.bar.advance(self.task)
        # Reading a metric waits for the device: twice a second is enough.
        if not self.bar.disable and time.monotonic() - self.shown_at > 0.5:
            self.shown_at = time.monotonic()
            self.bar.update(self.task, description=self._line(logs))

    def on_epoch_end(self, epoch, logs=None):
        # Soft wrap: a line cut at 80 columns is no line in a log.
        self.console.print(self._line(logs), highlight=False, soft_wrap=True)

    def _line(self, logs):
        rate = self.steps * self.batch_size / max(time.monotonic() - self.began, 1e-6)
        parts = [f"epoch {self.epoch}/{self.epochs}"]
        for name in ("loss", "accuracy", "val_loss", "val_accuracy"):
            if name in logs:
                parts.append(f"{name} {float(logs[name]):.4f}")
        return "  ".join([*parts, f"{rate:.0f} images/s"])
