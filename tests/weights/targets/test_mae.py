import pytest

from keras_vit import weights
from keras_vit.models import MAE, MAEConfig
from tests.models.test_mae_parity import SIZES


def test_an_autoencoder_that_others_cannot_compute(tmp_path):
    wide = MAE(MAEConfig(**{**SIZES, "image_size": (16, 20)}))
    with pytest.raises(ValueError, match="image_size: their code takes square images"):
        weights.save(wide, tmp_path / "hf")
    with pytest.raises(ValueError, match="written in the format 'hf' or 'mae' only"):
        weights.save(wide, tmp_path / "timm", format="timm")
