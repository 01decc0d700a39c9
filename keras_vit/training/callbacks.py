"""What happens around the steps of a run: its record, its best model, its progress."""

import csv
import math
import time

import keras
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from keras_vit.files import replacing


class Clock(keras.callbacks.Callback):
    """Puts the `seconds` of an epoch into its logs, for the callbacks that come after it."""

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        logs["seconds"] = round(time.monotonic() - self.began, 2)


class Record(keras.callbacks.Callback):
    """Keeps the record of the run, `history.csv`, and the best model so far, `best.keras`.

    Args:
        folder: folder for them.
        save_model: function (model, path) that writes a `.keras` file.
        monitor: the number of an epoch that tells which is the best: see `best_epoch`.
    """

    writes_files = True

    def __init__(self, folder, save_model, monitor="val_accuracy"):
        super().__init__()
        self.folder = folder
        self.save_model = save_model
        self.monitor = monitor

    def on_train_batch_end(self, batch, logs=None):
        """Stops a run that has broken down while the last good state is still there."""
        if not math.isfinite(float(logs["loss"])):
            raise ValueError(
                "The loss is no longer a number after step "
                f"{int(self.model.optimizer.iterations)}. A lower learning_rate or clip_norm "
                f"helps; the last good state is in {self.folder}."
            )

    def on_epoch_end(self, epoch, logs=None):
        rows = _rows(self.model, epoch, logs)
        if best_epoch(rows, self.monitor) == epoch + 1:
            self.save_model(self.model, self.folder / "best.keras")
        write_history(rows, self.folder / "history.csv")


class EarlyStop(keras.callbacks.Callback):
    """Ends a run when it has long had no better epoch.

    It asks the history, where Keras's own counts: a resumed run ends where one that was not
    stopped ends.

    Args:
        monitor: the number of an epoch that tells which is the best: see `best_epoch`.
        patience: epochs without a better one, or None to go on to the end.
    """

    def __init__(self, monitor, patience):
        super().__init__()
        self.monitor = monitor
        self.patience = patience

    def on_epoch_end(self, epoch, logs=None):
        if ran_out(_rows(self.model, epoch, logs), self.monitor, self.patience):
            self.model.stop_training = True


def best_epoch(rows, monitor):
    """Returns the number of the best epoch, the first of equal ones; 0 if there is none.

    Args:
        rows: one dict an epoch, as `epochs_of` gives them.
        monitor: a key of theirs; a loss is best where it is lowest, all else where it is highest.

    Example:

    >>> rows = epochs_of({"val_loss": [0.5, 0.3, 0.4], "val_accuracy": [0.7, 0.8, 0.9]})
    >>> best_epoch(rows, "val_loss"), best_epoch(rows, "val_accuracy")
    (2, 3)
    """
    sign = -1 if monitor.endswith("loss") else 1
    best = max(rows, key=lambda row: sign * row[monitor], default={"epoch": 0})
    return best["epoch"]


def ran_out(rows, monitor, patience):
    """Tells whether the last epochs, as many as `patience` says, had none that was better."""
    return patience is not None and len(rows) - best_epoch(rows, monitor) >= patience


def _rows(model, epoch, logs):
    """The epochs up to the one that ends."""
    return [*epochs_of(model.history.history), {"epoch": epoch + 1, **logs}]


def epochs_of(history):
    """Returns a `History`'s dict of lists as a list of dicts, one an epoch.

    Example:

    >>> epochs_of({"loss": [0.5, 0.25]})
    [{'epoch': 1, 'loss': 0.5}, {'epoch': 2, 'loss': 0.25}]
    """
    rows = zip(*history.values(), strict=True)
    return [
        {"epoch": number, **dict(zip(history, row, strict=True))}
        for number, row in enumerate(rows, start=1)
    ]


def write_history(rows, path):
    """Writes one row an epoch as CSV."""
    with replacing(path) as temporary, open(temporary, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), restval="")
        writer.writeheader()
        writer.writerows(rows)


class ProgressBar(keras.callbacks.Callback):
    """One bar for the whole run, with its numbers, images a second and the time left.

    Where the output is no terminal, it prints a line an epoch.

    Args:
        steps: steps of the whole run.
        done: steps done before.
        epochs: epochs of the whole run.
        batch_size: images a step.
        names: the numbers that are shown, those of the held-out images after them.
    """

    def __init__(self, steps, done, epochs, batch_size, names=("loss", "accuracy")):
        super().__init__()
        self.console = Console(stderr=True)
        self.epochs = epochs
        self.batch_size = batch_size
        self.names = (*names, *(f"val_{name}" for name in names))
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
        for name in self.names:
            if name in logs:
                parts.append(f"{name} {float(logs[name]):.4f}")
        return "  ".join([*parts, f"{rate:.0f} images/s"])
