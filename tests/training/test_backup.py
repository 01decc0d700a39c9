import resource
import signal

import keras
import numpy as np
import pytest

from keras_vit.training import backup as backup_module
from keras_vit.training.backup import Backup


def trained():
    keras.backend.clear_session()  # names are counted through the process
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(301)])
    model.compile("adam", "mse", metrics=["mae"])
    model.train_on_batch(np.ones((2, 5)), np.ones((2, 301)))
    return model


def test_the_newest_states_are_kept_and_found(tmp_path):
    model, backup = trained(), Backup(tmp_path / "new", keep=2, run=["it"])
    assert backup.restore(model) == {"step": 0, "history": {}, "run": None}
    kernels = []
    for step in (9, 10, 100):
        model.train_on_batch(np.ones((2, 5)), np.ones((2, 301)))
        backup.save(model, step, {"loss": [0.5]})
        kernels.append(np.asarray(model.get_weights()[0]))
    assert [path.stem for path in backup.states()] == ["step_000000010", "step_000000100"]
    other = trained()
    expected = {"step": 100, "history": {"loss": [0.5]}, "run": ["it"]}
    assert backup.restore(other) == backup.record() == expected
    np.testing.assert_array_equal(other.get_weights()[0], kernels[-1])
    for one, metric in zip(other.metrics_variables, model.metrics_variables, strict=True):
        np.testing.assert_array_equal(one, metric)


def test_only_the_chief_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(backup_module, "is_chief", lambda strategy: False)
    Backup(tmp_path).save(trained(), 1, {})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_last_good_state(tmp_path):
    """A limit on the size of files fails as a full disk does: in the middle of a write."""
    model, backup = trained(), Backup(tmp_path, keep=1)
    backup.save(model, 1, {})
    good, limits = backup.states()[0].read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(good) // 2, limits[1]))
        with pytest.raises(Exception, match="File too large"):
            backup.save(model, 2, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert [path.name for path in tmp_path.iterdir()] == ["step_000000001.safetensors"]
    assert backup.states()[0].read_bytes() == good


def test_workers_must_find_the_same_state(tmp_path, monkeypatch):
    model, backup = trained(), Backup(tmp_path)
    backup.save(model, 3, {})
    monkeypatch.setattr(backup_module, "number_of_workers", lambda strategy: 2)
    assert backup.restore(model)["step"] == 3
    monkeypatch.setattr(backup_module, "total", lambda strategy, value: value + 1)
    with pytest.raises(ValueError, match="do not find the same state.*step_000000003"):
        backup.restore(model)


@pytest.mark.parametrize("options", [{"every": 0}, {"keep": 0}])
def test_numbers_below_one_are_refused(tmp_path, options):
    with pytest.raises(ValueError, match="must be at least 1. Received: .*=0"):
        Backup(tmp_path, **options)


def test_what_a_killed_save_has_left_is_removed(tmp_path):
    model, backup = trained(), Backup(tmp_path)
    backup.save(model, 3, {})
    room = tmp_path / ".step_000000004.safetensors.k1ll3d"
    room.mkdir()
    (room / "step_000000004.safetensors").write_bytes(b"half")
    assert backup.restore(model)["step"] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["step_000000003.safetensors"]


def test_a_state_is_late_when_the_newest_is_old(tmp_path):
    backup = Backup(tmp_path, seconds=300)
    assert not backup.is_late() and not Backup(tmp_path).is_late()
    backup.saved_at -= 301
    assert backup.is_late()
    backup.save(trained(), 1, {})
    assert not backup.is_late()
