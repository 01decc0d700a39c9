"""What timm is told; that it then computes the same is tested in `../test_family_files.py`."""

from keras_vit import create_model
from keras_vit.models import CoAtNet, CoAtNetConfig, Hybrid, HybridConfig, Swin, SwinConfig
from keras_vit.weights.targets.timm_families import target
from tests.contract.cases import COATNET, HYBRID, SWIN


def stated(model):
    return target(model).files(model.config)["config.json"]


def test_a_swin():
    found = stated(Swin(SwinConfig(**SWIN)))
    assert found["architecture"] == "swin_tiny_patch4_window7_224"
    assert (found["num_classes"], found["num_features"]) == (7, 12)
    assert found["model_args"] == {
        "img_size": [13, 22],
        "in_chans": 5,
        "patch_size": [2, 3],
        "embed_dim": 6,
        "depths": [2, 1],
        "num_heads": [2, 3],
        "window_size": [2, 3],
        "mlp_ratio": 1.5,
        "strict_img_size": False,
    }
    assert found["pretrained_cfg"]["classifier"] == "head.fc"


def test_a_coatnet():
    config = CoAtNetConfig(**COATNET, pool="max", batch_norm_epsilon=1e-3)
    arguments = stated(CoAtNet(config))["model_args"]
    assert (arguments["block_type"], arguments["embed_dim"]) == (["C", "T"], [10, 14])
    assert (arguments["conv_pool_type"], arguments["transformer_pool_type"]) == ("max2", "max2")
    assert (arguments["conv_norm_eps"], arguments["transformer_norm_eps"]) == (1e-3, 1e-6)
    assert (arguments["conv_stride_mode"], arguments["head_hidden_size"]) == ("dw", None)


def test_a_hybrid():
    assert "units" in target(Hybrid(HybridConfig(**HYBRID))).in_the_way
    config = {"image_size": 32, "width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 8}
    model = create_model("r_ti16", **config)
    assert not target(model).in_the_way
    found = stated(model)
    assert found["architecture"] == "vit_tiny_r_s16_p8_224"
    assert (found["model_args"]["patch_size"], found["model_args"]["embed_dim"]) == ([8, 8], 12)


def test_other_models_go_on_to_the_plain_vit():
    model = create_model("vit_ti16", image_size=16, depth=1)
    assert stated(model)["architecture"] == "vit_base_patch16_224"
