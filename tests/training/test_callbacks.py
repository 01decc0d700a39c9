import types

import pytest

from keras_vit.training.callbacks import Checkpoints, ProgressBar, write_history


class State:
    """A state that only counts its saves."""

    step = 7

    def __init__(self):
        self.saved = []

    def save(self, path, **record):
        self.saved.append((path.name, len(record["history"]), record["seed"]))


def checkpoints(folder, seconds=300):
    best = []
    callback = Checkpoints(
        folder,
        "last",
        State(),
        [],
        {"seed": 3},
        lambda model, path: best.append(path.name),
        seconds,
    )
    callback.set_model(types.SimpleNamespace())
    return callback, best


def test_every_epoch_is_saved_and_the_best_kept(tmp_path):
    callback, best = checkpoints(tmp_path)
    for epoch, accuracy in enumerate((0.5, 0.4, 0.6)):
        callback.on_epoch_begin(epoch)
        callback.on_epoch_end(epoch, {"loss": 1.0, "val_accuracy": accuracy})
    assert callback.state.saved == [("last", 1, 3), ("last", 2, 3), ("last", 3, 3)]
    assert best == ["best.keras", "best.keras"]
    assert (tmp_path / "history.csv").read_text().splitlines()[3] == "3,0.0,1.0,0.6"


def test_the_state_is_saved_within_an_epoch_when_it_is_old(tmp_path):
    callback, _ = checkpoints(tmp_path)
    callback.on_train_batch_end(0, {"loss": 1.0})
    assert not callback.state.saved
    callback.saved_at -= 301
    callback.on_train_batch_end(1, {"loss": 1.0})
    callback.on_train_batch_end(2, {"loss": 1.0})
    assert callback.state.saved == [("last", 0, 3)]


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_state_that_has_broken_down_is_not_saved(tmp_path, loss):
    callback, best = checkpoints(tmp_path, seconds=-1)
    with pytest.raises(ValueError, match="no longer a number after step 7.*last good state"):
        callback.on_train_batch_end(0, {"loss": loss})
    callback.on_epoch_begin(0)
    with pytest.raises(ValueError, match="no longer a number"):
        callback.on_epoch_end(0, {"loss": loss, "val_accuracy": 0.1})
    assert not callback.state.saved and not best


def test_the_history_is_a_table(tmp_path):
    write_history([{"epoch": 1, "loss": 0.5}], tmp_path / "history.csv")
    assert (tmp_path / "history.csv").read_text() == "epoch,loss\n1,0.5\n"


def test_without_a_terminal_each_epoch_is_a_line(capsys):
    bar = ProgressBar(steps=4, done=0, epochs=2, batch_size=8)
    bar.on_train_begin()
    for epoch in range(2):
        bar.on_epoch_begin(epoch)
        for batch in range(2):
            bar.on_train_batch_end(batch, {"loss": 1.0})
        bar.on_epoch_end(epoch, {"loss": 0.25, "val_accuracy": 0.75})
    bar.on_train_end()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[:3] for line in lines] == [
        ["epoch 1/2", "loss 0.2500", "val_accuracy 0.7500"],
        ["epoch 2/2", "loss 0.2500", "val_accuracy 0.7500"],
    ]
    assert lines[0].endswith("images/s")
