import dataclasses

import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.models import DeiT
from keras_vit.training import recipe, train
from keras_vit.training import run as run_module
from keras_vit.training.distillation import seen_by
from keras_vit.training.recipes.changes import changed
from keras_vit.training.recipes.recipe import Recipe
from tests.objectives.taught import convnet

STUDENT = {
    **{"model": "deit_ti16", "config.patch_size": 2, "config.registers": 1},
    **{"config.class_position": False, "config.pooling": "token", "config.class_token": True},
    "config.position": "learned",
}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    path = tmp_path_factory.mktemp("teacher") / "teacher.keras"
    convnet(channels=1, size=8, classes=10).save(path)
    return path


@pytest.fixture(scope="module")
def taught(quick, teacher):
    """A recipe of a few seconds that learns from the teacher."""
    changes = {"distillation": {"teacher": str(teacher), "range": "0..255"}, "augment": ()}
    return changed(quick, {**STUDENT, **changes})


def test_a_run_leaves_the_student_alone_and_resumes_exactly(taught, digits, tmp_path):
    whole = train(taught, str(digits), tmp_path / "whole", verbose=False)
    assert isinstance(whole.model, DeiT) and 0 <= whole.history[-1]["val_accuracy"] <= 1
    written = keras.models.load_model(tmp_path / "whole" / "model.keras")
    assert isinstance(written, DeiT)
    images = np.random.default_rng(0).normal(size=(2, 8, 8, 1))
    np.testing.assert_array_equal(written(images), whole.model(images))

    class Stop(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "SECONDS", 0)
        patch.setattr(keras.callbacks, "TensorBoard", lambda *args, **kwargs: Stop())
        with pytest.raises(KeyboardInterrupt):
            train(taught, str(digits), tmp_path / "run", verbose=False)
    resumed = train(taught, str(digits), tmp_path / "run", resume=True, verbose=False)
    for ours, theirs in zip(resumed.model.weights, whole.model.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=ours.path)


def test_kept_logits_teach_the_same(taught, digits, tmp_path):
    """Where nothing is augmented, the teacher says the same whenever it is asked."""
    path = tmp_path / "logits.npz"
    kept = {**taught.distillation, "logits": str(path)}
    kept = dataclasses.replace(taught, distillation=kept, epochs=1, warmup_epochs=0)
    asked = dataclasses.replace(taught, epochs=1, warmup_epochs=0)
    one = train(asked, str(digits), tmp_path / "asked", verbose=False)
    two = train(kept, str(digits), tmp_path / "kept", verbose=False)
    assert two.history[0]["loss"] == pytest.approx(one.history[0]["loss"], rel=1e-5)
    with np.load(path) as file:
        assert file["logits"].shape == (len(one.train), 10)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"losses": "soft"}, "no field of distillation 'losses'. Did you mean 'loss'"),
        ({"loss": "firm"}, "hard"),
        ({"range": "0..256"}, "0..255"),
        ({"temperature": 2.0}, "`temperature` is for `loss='soft'`"),
        ({"loss": "soft", "temperature": 0.0}, "`temperature` must be above 0"),
        ({"weight": 2.0}, "`weight` must be in"),
    ],
)
def test_a_wrong_recipe(fields, text):
    with pytest.raises(ValueError, match=text):
        Recipe("deit_ti16", distillation=fields)


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match="`augment` must not mix them"):
        recipe("deit_distilled", {"distillation.logits": "logits.npz"})
    with pytest.raises(ValueError, match="needs `loss='softmax'`. Received: loss='sigmoid'"):
        recipe("deit_distilled", {"loss": "sigmoid"})


def test_a_teacher_that_cannot_be_found_or_read(taught, digits, tmp_path):
    def run(**fields):
        wrong = dataclasses.replace(taught, distillation=fields)
        train(wrong, str(digits), tmp_path / "run", verbose=False)

    with pytest.raises(ValueError, match="There is no teacher: use `keras-vit distill"):
        run(loss="soft")
    with pytest.raises(FileNotFoundError, match="no teacher at nowhere.keras"):
        run(teacher="nowhere.keras")
    with pytest.raises(ValueError, match=r"say what its pixels are.*0..255, 0..1, -1..1, imagenet"):
        run(teacher=taught.distillation["teacher"])
    (tmp_path / "cut.keras").write_bytes(b"PK")
    with pytest.raises(ValueError, match="no readable `.keras` file"):
        run(teacher=str(tmp_path / "cut.keras"))
    convnet(channels=1, size=8, classes=4).save(tmp_path / "four.keras")
    with pytest.raises(ValueError, match="4 of the teacher, 10 of the student"):
        run(teacher=str(tmp_path / "four.keras"), range="0..1")


def test_a_teacher_of_the_package_says_what_it_sees():
    model = create_model("vit_ti16", image_size=16, depth=1, num_classes=10)
    given = model.preprocessing
    assert seen_by(model, None, given) == given
    with pytest.raises(ValueError, match="says itself what its pixels are.*'0..1'"):
        seen_by(model, "0..1", given)
