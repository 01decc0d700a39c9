import numpy as np
import pytest

from keras_vit.data import Classes, evaluation_batches, find_data, normalised, write_digits
from keras_vit.objectives import Teacher
from keras_vit.training.kept_logits import TaughtClasses, kept_logits
from tests.objectives.taught import convnet, seen, student

GIVEN = student().preprocessing


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return find_data(str(write_digits(tmp_path_factory.mktemp("digits") / "d", per_class=2))).open()


@pytest.fixture
def teacher():
    return Teacher(convnet(), seen(), GIVEN)


def test_written_once_and_read_again(records, teacher, tmp_path):
    path = tmp_path / "logits.npz"
    written = kept_logits(path, teacher, records, batch_size=7)
    assert written.shape == (20, 3) and [p.name for p in tmp_path.iterdir()] == ["logits.npz"]
    time = path.stat().st_mtime_ns
    np.testing.assert_array_equal(kept_logits(path, teacher, records), written)
    assert path.stat().st_mtime_ns == time
    (batch,) = normalised(evaluation_batches(records, teacher.seen, 20), teacher.seen)
    np.testing.assert_allclose(teacher.model(batch[0], training=False), written, rtol=1e-5)


def test_of_other_images_or_another_teacher(records, teacher, tmp_path):
    path = tmp_path / "logits.npz"
    kept_logits(path, teacher, records)
    with pytest.raises(ValueError, match="logits of other images: remove it"):
        kept_logits(path, teacher, records.select(np.arange(19)))
    teacher.model.layers[-1].bias.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="logits of another teacher: remove it"):
        kept_logits(path, teacher, records)


def test_a_damaged_file(records, teacher, tmp_path):
    path = tmp_path / "logits.npz"
    kept_logits(path, teacher, records)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match="holds no teacher's logits: remove it"):
        kept_logits(path, teacher, records)


def test_nothing_is_left_of_a_writing_that_failed(records, teacher, tmp_path, monkeypatch):
    monkeypatch.setattr(np, "savez", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        kept_logits(tmp_path / "logits.npz", teacher, records)
    assert not list(tmp_path.iterdir())


def test_targets_with_logits():
    logits = np.arange(12, dtype="float32").reshape(4, 3)
    targets = TaughtClasses(("a", "b", "c"), [0, 1, 2, 1], logits)
    labels, taught = targets.for_training(np.array([2, 0]))
    np.testing.assert_array_equal(labels, np.eye(3)[[2, 0]])
    np.testing.assert_array_equal(taught, logits[[2, 0]])
    chosen = targets.select(np.array([3, 1]))
    np.testing.assert_array_equal(chosen.logits, logits[[3, 1]])
    assert targets.digest() == Classes(targets.class_names, targets.labels).digest()
