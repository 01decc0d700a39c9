"""A masked autoencoder against transformers' under the same noise; weights in and out."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from keras_vit import create_model, weights
from keras_vit.models import MAE
from keras_vit.objectives import MaskedPixelLoss

FIXTURE = Path(__file__).parents[1] / "fixtures" / "mae"
SIZES = {"image_size": 16, "patch_size": 4, "width": 24, "depth": 2, "num_heads": 3, "mlp_dim": 36}
SIZES |= {"decoder_width": 16, "decoder_depth": 2, "decoder_num_heads": 2, "decoder_mlp_dim": 28}


@pytest.fixture(scope="module")
def expected():
    with np.load(FIXTURE / "expected.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def model():
    return create_model("mae_b16", weights=str(FIXTURE), **SIZES)


def test_painting_and_loss_are_transformers(model, expected):
    assert model.config.mask_ratio == 0.7 and model.config.norm_epsilon == 1e-12
    found = model.painted(expected["images"], expected["noise"])
    np.testing.assert_array_equal(found["mask"], expected["mask"])
    scale = np.abs(expected["painted"]).max()
    assert np.abs(found["painted"] - expected["painted"]).max() < 1e-5 * scale
    assert float(MaskedPixelLoss()(None, found)) == pytest.approx(float(expected["loss"]), rel=1e-5)


def test_in_double_precision(model, expected):
    exact = MAE(model.config, dtype="float64")
    exact.set_weights(model.get_weights())
    found = exact.painted(expected["images"].astype("float64"), expected["noise"])
    scale = np.abs(expected["painted"]).max()
    assert np.abs(found["painted"] - expected["painted"]).max() < 1e-10 * scale


def test_written_for_transformers_it_is_the_same_file(model, tmp_path):
    weights.save(model, tmp_path / "hf")
    ours, theirs = (load_file(at / "model.safetensors") for at in (tmp_path / "hf", FIXTURE))
    # What version 5.24 writes; it reads this and what the hub's files have, which is ours.
    theirs = {k.replace("decoder_encoder.layer", "decoder_layers"): v for k, v in theirs.items()}
    assert set(ours) == set(theirs)
    for name, array in theirs.items():
        np.testing.assert_array_equal(ours[name], array, err_msg=name)
    ours, theirs = (
        json.loads((at / "config.json").read_text()) for at in (tmp_path / "hf", FIXTURE)
    )
    for name in ("model_type", "architectures", "mask_ratio", "decoder_num_attention_heads"):
        assert ours[name] == theirs[name]
