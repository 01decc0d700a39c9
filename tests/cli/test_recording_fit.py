import keras
import pytest

from keras_vit.cli import recording_fit
from keras_vit.cli.recording_fit import fit_cost
from keras_vit.step import ExactFit

TINY = {"image_size": 4, "patch_size": 2, "width": 6, "depth": 1, "num_heads": 2, "mlp_dim": 7}


@pytest.fixture
def fitted(monkeypatch):
    """One tiny case; gives the models in the order of their fits."""
    models, fit = [], keras.Model.fit

    def watched(self, *arguments, **options):
        models.append(self)
        return fit(self, *arguments, **options)

    monkeypatch.setattr(keras.Model, "fit", watched)
    monkeypatch.setattr(recording_fit, "MODELS", {"T/2": (TINY | {"num_classes": 3}, 4, 2)})
    monkeypatch.setattr(recording_fit, "PROGRAMS", {"graph": False})
    return models


def test_both_train_the_same_by_turns(tmp_path, fitted):
    found = fit_cost(tmp_path, turns=2)
    (row,) = found["rows"]
    assert (row["model"], row["program"], row["batch"], row["steps"]) == ("T/2", "graph", 4, 2)
    assert 0 < row["seconds"] and 0 < row["seconds_keras"] and 0 < row["ratio"]
    # Each once to build it, then in pairs, where the first one changes.
    exact = [isinstance(model, ExactFit) for model in fitted]
    assert exact == [True, False, False, True, True, False]
    ours, other = fitted[0], fitted[1]
    assert type(other).train_step is keras.Model.train_step
    for one, two in zip(ours.get_weights(), other.get_weights(), strict=True):
        assert one == pytest.approx(two, abs=1e-6)
    assert fit_cost(tmp_path, turns=2) == found and len(fitted) == 6  # as it was kept
