import types

import pytest

from keras_vit.training.callbacks import Clock, ProgressBar, Record, epochs_of, write_history


def record(folder):
    best, history = [], {"loss": [], "val_accuracy": []}
    callback = Record(folder, lambda model, path: best.append(path.name))
    optimizer = types.SimpleNamespace(iterations=7)
    past = types.SimpleNamespace(history=history)
    callback.set_model(types.SimpleNamespace(history=past, optimizer=optimizer))
    return callback, best, history


def test_every_epoch_is_recorded_and_the_best_kept(tmp_path):
    callback, best, history = record(tmp_path)
    for epoch, accuracy in enumerate((0.5, 0.4, 0.6)):
        callback.on_epoch_end(epoch, {"loss": 1.0, "val_accuracy": accuracy})
        history["loss"].append(1.0)
        history["val_accuracy"].append(accuracy)
    assert best == ["best.keras", "best.keras"]
    assert (tmp_path / "history.csv").read_text().splitlines()[3] == "3,1.0,0.6"


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_run_that_has_broken_down_is_stopped(tmp_path, loss):
    callback, _, _ = record(tmp_path)
    callback.on_train_batch_end(0, {"loss": 0.5})
    with pytest.raises(ValueError, match="no longer a number after step 7.*last good state"):
        callback.on_train_batch_end(1, {"loss": loss})


def test_the_seconds_of_an_epoch_are_among_its_logs():
    clock, logs = Clock(), {}
    clock.on_epoch_begin(0)
    clock.began -= 2.5
    clock.on_epoch_end(0, logs)
    assert 2.5 <= logs["seconds"] < 60


def test_the_rows_of_a_history():
    assert epochs_of({}) == []
    assert epochs_of({"loss": [3.0, 2.0]}) == [
        {"epoch": 1, "loss": 3.0},
        {"epoch": 2, "loss": 2.0},
    ]


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
