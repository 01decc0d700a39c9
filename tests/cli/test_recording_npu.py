"""The recorded compiles for Ethos-U, and that the small models of every family still compile so."""

import pytest

from keras_vit.cli.recorded_npu import npu_table
from keras_vit.cli.recording_npu import MODELS, TARGETS, row
from keras_vit.factory import list_models
from tests.export.rewrite.families import family


def test_the_models_are_registered():
    assert set(MODELS) <= set(list_models())


def test_the_table():
    it = {"operators": 50, "share": 0.96, "blockers": {"MEAN": 2}, "milliseconds": 1.25}
    text = npu_table({"models": {"swin_t": dict.fromkeys(TARGETS, it)}})
    assert "| swin_t | 50 | 96.0 % | 2 MEAN | 1.2 | 1.2 | 1.2 |" in text


# What Vela 5.2 leaves to the CPU of each family: nothing, or the means over maps of the norms whose
# gamma and beta cannot move past a max pooling.
LEFT = {
    "vit": {}, "deit": {}, "hybrid": {}, "swin": {}, "coatnet": {}, "coatnet_max": {"MEAN": 4}
}  # fmt: skip


@pytest.mark.prove
@pytest.mark.parametrize("name", LEFT)
def test_a_family_maps_as_it_did(name, tmp_path):
    import numpy as np

    from keras_vit.export import export

    model = family(name)
    shape = (24, *model.preprocessing.image_size, model.preprocessing.channels)
    images = np.random.default_rng(0).integers(0, 256, shape)
    path = export(model, "npu", tmp_path / "m.tflite", images)
    for target in TARGETS:
        found = row(path, target)
        assert found["blockers"] == LEFT[name]
        assert found["milliseconds"] > 0 and found["sram_bytes"] > 0
