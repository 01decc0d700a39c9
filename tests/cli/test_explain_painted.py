"""`keras-vit explain --method painted`."""

import numpy as np
from PIL import Image

from keras_vit.models import MAE, MAEConfig, ViT, ViTConfig

SIZES = {"image_size": 8, "patch_size": 2, "channels": 1, "width": 8, "depth": 1, "num_heads": 2}
SIZES |= {"mlp_dim": 12}
DECODER = {f"decoder_{name}": SIZES[name] for name in ("width", "depth", "num_heads", "mlp_dim")}


def test_a_picture_as_it_is_as_it_is_seen_and_painted(cli, digits, tmp_path):
    model, out = tmp_path / "model.keras", tmp_path / "painted.png"
    MAE(MAEConfig(**SIZES, **DECODER)).save(model)
    picture = next(digits.rglob("*.png"))
    result = cli("explain", model, picture, "--method", "painted", "--out", out)
    assert result.exit_code == 0, result.output
    pixels = np.asarray(Image.open(out))
    assert pixels.shape == (448, 3 * 448, 3)
    whole, seen, painted = np.split(pixels, 3, axis=1)
    gone = (seen == 128).all(axis=-1)  # the mean of all pictures
    assert 0.7 < gone.mean() < 1
    np.testing.assert_array_equal(seen[~gone], whole[~gone])
    np.testing.assert_array_equal(painted[~gone], whole[~gone])
    assert (painted[gone] != 128).any()


def test_another_model(cli, digits, tmp_path):
    ViT(ViTConfig(**SIZES, num_classes=0)).save(tmp_path / "model.keras")
    picture = next(digits.rglob("*.png"))
    result = cli("explain", tmp_path / "model.keras", picture, "--method", "painted")
    assert result.exit_code == 1 and "is for a masked autoencoder" in result.stderr
