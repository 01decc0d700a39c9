import types

import pytest

from keras_vit.training.callbacks import (
    Clock,
    EarlyStop,
    ProgressBar,
    Record,
    best_epoch,
    epochs_of,
    ran_out,
    write_history,
)


def record(folder, monitor="val_accuracy"):
    best, history = [], {"loss": [], "val_accuracy": []}
    callback = Record(folder, lambda model, path: best.append(path.name), monitor)
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


def test_the_best_by_a_loss_is_the_lowest(tmp_path):
    callback, best, history = record(tmp_path, "loss")
    for epoch, loss in enumerate((0.5, 0.7, 0.4, 0.4)):
        callback.on_epoch_end(epoch, {"loss": loss, "val_accuracy": 0.1})
        history["loss"].append(loss)
        history["val_accuracy"].append(0.1)
        assert len(best) == (1, 1, 2, 2)[epoch]


def test_the_best_epoch_and_when_there_was_none_for_long():
    rows = epochs_of({"val_loss": [0.5, 0.3, 0.3, 0.4], "mAP": [0.1, 0.2, 0.9, 0.8]})
    assert best_epoch(rows, "val_loss") == 2 and best_epoch(rows, "mAP") == 3
    assert best_epoch([], "mAP") == 0
    assert [ran_out(rows, "val_loss", patience) for patience in (1, 2, 3, None)] == [
        True, True, False, False,
    ]  # fmt: skip
    assert not ran_out([], "mAP", 1)


def test_a_run_without_a_better_epoch_ends():
    callback, history = EarlyStop("val_loss", 2), {"val_loss": []}
    model = types.SimpleNamespace(
        history=types.SimpleNamespace(history=history), stop_training=False
    )
    callback.set_model(model)
    stopped = []
    for epoch, loss in enumerate((0.5, 0.6, 0.4, 0.5, 0.45)):
        callback.on_epoch_end(epoch, {"val_loss": loss})
        history["val_loss"].append(loss)
        stopped.append(model.stop_training)
    assert stopped == [False, False, False, False, True]


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
