import numpy as np
import pytest
from PIL import Image

from keras_vit.cli import recording_comparison as row
from tests.data.pictures import noise

TINY = {**row.PLAIN, "patch_size": 14, "width": 8, "depth": 1, "num_heads": 2, "mlp_dim": 8}


def test_the_models_are_of_one_size():
    counts = {name: row.trained_parameters(row.model_of(name)) for name in row.MODELS}
    row.check_sizes(counts)
    assert len(counts) == 6
    with pytest.raises(ValueError, match="400,000 parameters, 10% more or less. Received: swin"):
        row.check_sizes({"swin": 450_000})


@pytest.mark.prove
def test_the_row_goes_on_where_it_stopped_and_is_drawn(tmp_path, monkeypatch, capsys):
    images, labels = noise(40, 28, 28), np.arange(40) % 10
    monkeypatch.setattr(row, "read_part", lambda *_: (images, labels))
    models = {"vit, tiny": ("vit_ti16", TINY)}
    options = {"shares": {0.5: ((0, 1), 2), 1.0: ((0,), 3)}, "models": models, "batch_size": 5}
    found = row.comparison(tmp_path / "work", tmp_path, **options)
    assert [(run["share"], run["seed"]) for run in found["runs"]] == [(0.5, 0), (0.5, 1), (1, 0)]
    assert set(found["runs"][0]["tried"]) == {f"{rate:g}" for rate in row.RATES}
    assert found["runs"][0]["rate"] in row.RATES
    assert "9 of 9 runs are done, 0 left" in capsys.readouterr().err
    monkeypatch.setattr(row, "training_batches", None)  # nothing is trained again
    assert row.comparison(tmp_path / "work", tmp_path, **options) == found
    with Image.open(row.draw_comparison(found, tmp_path)) as picture:
        assert picture.format == "PNG"


def test_seeds_are_averaged():
    runs = [{"model": "a", "share": 0.1, "accuracy": value} for value in (0.5, 0.7)]
    assert row.accuracies(runs) == {"a": {"0.1": {"mean": 0.6, "least": 0.5, "most": 0.7}}}
