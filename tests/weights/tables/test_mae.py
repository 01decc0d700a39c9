import numpy as np
from safetensors.numpy import load_file

from keras_vit import create_model, weights
from keras_vit.models import MAE, MAEConfig
from tests.models.test_mae_parity import SIZES


def test_under_the_authors_names_the_encoder_is_a_vits_too(tmp_path):
    fields = {**SIZES, "mask_ratio": 0.5}
    model = MAE(MAEConfig(**fields))
    path = tmp_path / "mae.safetensors"
    weights.save(model, path, format="mae")
    names = set(load_file(path))
    assert {"mask_token", "decoder_pos_embed", "decoder_blocks.1.attn.qkv.weight"} < names
    assert {"decoder_embed.weight", "decoder_pred.bias", "blocks.0.mlp.fc1.weight"} < names
    again = MAE(MAEConfig(**fields, preprocessing=model.preprocessing))
    weights.load(again, path)
    for ours, theirs in zip(again.weights, model.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=ours.path)
    encoder = {name: SIZES[name] for name in ("width", "depth", "num_heads", "mlp_dim")}
    sizes = {**encoder, "image_size": 16, "patch_size": 4, "num_classes": 0}
    vit = create_model("vit_b16", weights=str(path), **sizes)
    images = np.random.default_rng(0).normal(size=(2, 16, 16, 3)).astype("float32")
    np.testing.assert_allclose(vit(images), model.vit()(images), atol=1e-6)
