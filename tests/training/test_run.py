import csv
import dataclasses
import json

import keras
import numpy as np
import pytest
from safetensors.numpy import save_file

from keras_vit import runtime
from keras_vit.training import evaluate, recipe, train
from keras_vit.training import run as run_module
from keras_vit.training.preemption import Preempted
from keras_vit.training.run import has_state


@pytest.fixture(scope="module")
def finished(digits, quick, tmp_path_factory):
    return train(quick, str(digits), tmp_path_factory.mktemp("runs") / "whole", verbose=False)


def test_a_run_leaves_what_it_promises(finished, quick):
    files = {path.name for path in finished.folder.iterdir()}
    assert files == {
        "recipe.json", "history.csv", "tensorboard", "states", "best.keras", "model.keras",
    }  # fmt: skip
    assert has_state(finished.folder)
    rows = list(csv.DictReader((finished.folder / "history.csv").read_text().splitlines()))
    assert [row["epoch"] for row in rows] == ["1", "2"]
    assert {"loss", "accuracy", "top5", "val_loss", "val_accuracy", "val_top5"} < set(rows[0])
    assert json.loads((finished.folder / "recipe.json").read_text())["epochs"] == quick.epochs
    assert len(finished.train) == 100 and len(finished.held_out) == 20


def test_the_written_model_is_the_last_one_and_knows_its_classes(finished):
    model = keras.models.load_model(finished.folder / "model.keras")
    images = np.random.default_rng(0).normal(size=(2, 8, 8, 1))
    np.testing.assert_array_equal(model(images), finished.model(images))
    assert model.preprocessing.class_names == tuple("0123456789")
    assert not model.compiled


@pytest.mark.parametrize("at", ["epoch", "middle"])
def test_stopped_and_resumed_equals_uninterrupted(finished, digits, quick, tmp_path, at):
    class Stop(keras.callbacks.Callback):
        steps = 0

        def on_train_batch_end(self, batch, logs=None):
            self.steps += 1
            if at == "middle" and self.steps == 6:
                raise KeyboardInterrupt

        def on_epoch_begin(self, epoch, logs=None):
            if at == "epoch" and epoch == 1:
                raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        # After every step here; every five minutes in earnest.
        patch.setattr(run_module, "SECONDS", 0)
        patch.setattr(keras.callbacks, "TensorBoard", lambda *args, **kwargs: Stop())
        with pytest.raises(KeyboardInterrupt):
            train(quick, str(digits), tmp_path / "run", verbose=False)
    resumed = train(quick, str(digits), tmp_path / "run", resume=True, verbose=False)
    for ours, whole in zip(resumed.model.weights, finished.model.weights, strict=True):
        np.testing.assert_array_equal(ours, whole, err_msg=ours.path)
    for ours, whole in zip(resumed.history, finished.history, strict=True):
        assert ours.pop("seconds") >= 0 and whole.keys() == {*ours, "seconds"}
        assert {name: whole[name] for name in ours} == ours


def test_images_with_several_classes(digits, quick, tmp_path):
    """As one class an image: train, evaluate, predict."""
    lines = ["path,labels"]
    for number in range(10):
        names = f"{number};{'even' if number % 2 == 0 else 'odd'}"
        lines += [f"{path},{names}" for path in sorted((digits / str(number)).iterdir())]
    (tmp_path / "tags.csv").write_text("\n".join(lines), "utf-8")
    recipe = dataclasses.replace(quick, augment=("shift", "mixup(0.5)"))
    result = train(recipe, tmp_path / "tags.csv", tmp_path / "run", verbose=False)
    assert (tmp_path / "run" / "best.keras").is_file()
    predictor = runtime.open(tmp_path / "run" / "model.keras")
    assert predictor.preprocessing.probabilities == "sigmoid"
    measured = evaluate(predictor, result.held_out)
    # The metric of the training counts by bins of 1/32.
    binned = dataclasses.replace(measured, logits=np.floor(measured.logits * 32) / 32)
    assert binned.mean_average_precision == pytest.approx(result.history[-1]["val_mAP"], abs=0.02)
    (answer,) = predictor.predict_files([result.train.name(0)], top=12)
    logits = predictor.logits(predictor._pixels(result.train.name(0))[None])[0]
    for name, probability in answer:
        logit = logits[predictor.class_names.index(name)]
        assert probability == pytest.approx(1 / (1 + np.exp(-logit)), rel=1e-5)


def test_a_run_ends_early_and_stays_ended(digits, quick, tmp_path):
    # At a rate of almost nothing no epoch is better than the first.
    recipe = dataclasses.replace(
        quick, epochs=9, patience=2, monitor="val_accuracy", learning_rate=1e-12
    )
    result = train(recipe, str(digits), tmp_path / "run", verbose=False)
    assert len(result.history) == 3
    again = train(recipe, str(digits), tmp_path / "run", resume=True, verbose=False)
    assert again.history == result.history
    for one, other in zip(again.model.weights, result.model.weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.prove
def test_weights_of_classes_change_what_is_learned(digits, quick, tmp_path):
    once = dataclasses.replace(quick, epochs=1, warmup_epochs=0)
    weighted = dataclasses.replace(once, class_weight={"3": 9.0})
    plain, other = (
        train(recipe, str(digits), tmp_path / name, verbose=False)
        for recipe, name in ((once, "plain"), (weighted, "other"))
    )
    bias = [result.model.get_layer("head").bias.numpy() for result in (plain, other)]
    assert bias[1].argmax() == 3 and bias[1][3] > bias[0][3]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, Preempted])
def test_a_stopped_run_says_where_its_state_is(digits, quick, tmp_path, capsys, stop):
    state = tmp_path / "run" / "states" / "step_000000002.safetensors"

    def interrupt(*args, **kwargs):
        state.parent.mkdir()
        save_file({}, state, {"record": "{}"})
        raise stop

    with pytest.MonkeyPatch.context() as patch, pytest.raises(stop):
        patch.setattr(run_module, "fit", interrupt)
        train(quick, str(digits), tmp_path / "run")
    assert f"The last state is {state}; go on with --resume" in capsys.readouterr().out


def test_a_run_is_not_overwritten_nor_mixed_with_another(finished, digits, quick, tmp_path):
    with pytest.raises(FileExistsError, match="holds a training run already"):
        train(quick, str(digits), finished.folder, verbose=False)
    with pytest.raises(ValueError, match=r"started with learning_rate=0.004\. Received: 0.1"):
        other = dataclasses.replace(quick, learning_rate=0.1)
        train(other, str(digits), finished.folder, resume=True, verbose=False)
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        train(quick, str(digits), tmp_path / "new", resume=True, verbose=False)
    with pytest.raises(ValueError, match="images are not those"):
        train(quick, finished.train, finished.folder, resume=True, verbose=False)


def test_a_loss_that_breaks_down_stops_the_run_and_keeps_the_last_state(digits, quick, tmp_path):
    wild = dataclasses.replace(quick, learning_rate=1e30, clip_norm=None, warmup_epochs=0)
    with pytest.raises(ValueError, match="no longer a number after step"):
        train(wild, str(digits), tmp_path / "run", verbose=False)


def test_broken_images_are_left_out_and_listed(digits, quick, tmp_path):
    folder = tmp_path / "data"
    for path in digits.rglob("*.png"):
        (folder / path.parent.name).mkdir(parents=True, exist_ok=True)
        (folder / path.parent.name / path.name).write_bytes(path.read_bytes())
    (folder / "3" / "not a picture.png").write_text("hello")
    once = dataclasses.replace(quick, epochs=1, warmup_epochs=0)
    result = train(once, str(folder), tmp_path / "run", verbose=False)
    assert len(result.train) + len(result.held_out) == 120
    assert "not a picture.png" in (tmp_path / "run" / "skipped.txt").read_text()


def test_the_output_folder_is_checked_before_the_work(digits, quick, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Cannot write in the folder"):
        train(quick, str(digits), tmp_path / "file" / "run", verbose=False)


@pytest.mark.parametrize("precision", ["mixed_bfloat16", "mixed_float16"])
def test_half_precision(digits, tmp_path, precision):
    changes = {"config.width": 16, "config.depth": 1, "epochs": 1, "warmup_epochs": 0}
    result = train(
        recipe("digits", {**changes, "precision": precision}), str(digits), tmp_path / "run",
        verbose=False,
    )  # fmt: skip
    assert np.isfinite(result.history[-1]["loss"])
    assert result.model.policy.name == precision
