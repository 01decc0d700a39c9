"""Pre-training of a masked autoencoder by a recipe, and what is done with it."""

import numpy as np
import pytest
import tensorflow as tf

from keras_vit import weights
from keras_vit.models import MAE
from keras_vit.training import recipe, train
from keras_vit.training import run as run_module

SMALL = {
    **{"config.image_size": 8, "config.patch_size": 2, "config.channels": 1, "config.width": 8},
    **{"config.depth": 1, "config.num_heads": 2, "config.mlp_dim": 12, "config.decoder_width": 8},
    **{"config.decoder_depth": 1, "config.decoder_num_heads": 2, "config.decoder_mlp_dim": 12},
    **{"preprocessing.mean": (0.5,), "preprocessing.std": (0.5,), "augment": ["flip"]},
    **{"batch_size": 32, "epochs": 2, "warmup_epochs": 1, "learning_rate": 1e-3},
}


@pytest.fixture(scope="module")
def finished(digits, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "whole"
    return train(recipe("mae_b16", SMALL), str(digits), out, verbose=False)


def test_it_learns_without_labels_and_shows_what_it_paints(finished):
    assert isinstance(finished.model, MAE)
    assert set(finished.history[0]) >= {"epoch", "loss", "val_loss"}
    assert finished.history[1]["loss"] < finished.history[0]["loss"]
    files = (finished.folder / "tensorboard" / "train").glob("*")
    found = {}
    for file in files:
        for raw in tf.data.TFRecordDataset(str(file)):
            for value in tf.compat.v1.Event.FromString(raw.numpy()).summary.value:
                found.setdefault(value.tag, []).append(value.tensor.string_val)
    sheets = found["painted"]
    assert len(sheets) == 2 and sheets[0][:2] == [b"24", b"8"] and len(sheets[0]) == 10


@pytest.mark.prove
def test_stopped_and_resumed_equals_uninterrupted(finished, digits, tmp_path, monkeypatch):
    """The masking is drawn anew in every step, and its seed is part of the state."""
    made = run_module._callbacks

    class Stop(run_module.keras.callbacks.Callback):
        steps = 0

        def on_train_batch_end(self, batch, logs=None):
            self.steps += 1
            if self.steps == 3:
                raise KeyboardInterrupt

    chosen = recipe("mae_b16", SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "SECONDS", 0)
        patch.setattr(run_module, "_callbacks", lambda *given: [*made(*given), Stop()])
        with pytest.raises(KeyboardInterrupt):
            train(chosen, str(digits), tmp_path / "run", verbose=False)
    resumed = train(chosen, str(digits), tmp_path / "run", resume=True, verbose=False)
    for ours, whole in zip(resumed.model.weights, finished.model.weights, strict=True):
        np.testing.assert_array_equal(ours, whole, err_msg=ours.path)


@pytest.mark.parametrize("name", ["mae_fine_tune_b16", "mae_linear_probe_b16"])
def test_what_it_learned_is_a_start(finished, digits, tmp_path, name):
    path = tmp_path / "mae.safetensors"
    weights.save(finished.model, path, format="mae")
    small = {key: SMALL[key] for key in SMALL if "decoder" not in key and key != "augment"}
    changes = {**small, "weights": str(path), "augment": (), "frozen_blocks": 1, "epochs": 1}
    changes |= {"warmup_epochs": 0}
    if name == "mae_fine_tune_b16":
        changes["frozen_blocks"] = 0
    result = train(recipe(name, changes), str(digits), tmp_path / "run", verbose=False)
    assert "val_accuracy" in result.history[0]
    kept = [
        np.array(m.get_layer("block_0").get_weights()[2]) for m in (result.model, finished.model)
    ]
    assert (kept[0] == kept[1]).all() == (name == "mae_linear_probe_b16")
