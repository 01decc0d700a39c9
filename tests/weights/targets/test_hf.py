"""What transformers is told; that it then computes the same is tested in `../test_saving.py`."""

import pytest

from keras_vit.models import ViT, ViTConfig
from keras_vit.weights.targets.hf import target

TINY = {"image_size": 8, "patch_size": 4, "width": 24, "num_heads": 2, "mlp_dim": 48}
DINOV2 = {"layer_scale": 0.1, "num_classes": 0}


def stated(**fields):
    config = ViTConfig(**TINY, **fields)
    return target(ViT(config)).files(config)


def test_config_of_a_vit():
    config = stated(activation="gelu_tanh", norm_epsilon=1e-5, num_classes=3)["config.json"]
    assert (config["model_type"], config["architectures"]) == ("vit", ["ViTForImageClassification"])
    assert (config["hidden_act"], config["layer_norm_eps"]) == ("gelu_pytorch_tanh", 1e-5)
    assert (config["hidden_size"], config["intermediate_size"], config["image_size"]) == (24, 48, 8)
    assert config["id2label"] == {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}


@pytest.mark.parametrize("registers, kind", [(0, "dinov2"), (4, "dinov2_with_registers")])
def test_layer_scale_makes_it_dinov2(registers, kind):
    config = stated(**DINOV2, registers=registers)["config.json"]
    assert config["model_type"] == kind
    assert config.get("num_register_tokens", 0) == registers
    assert (config["mlp_ratio"], config["use_swiglu_ffn"]) == (2, False)


@pytest.mark.parametrize("mlp_dim, ratio", [(32, 2), (64, 4), (40, None), (4096, None)])
def test_swiglu_takes_two_thirds_rounded_up_to_8(mlp_dim, ratio):
    fields = {**TINY, **DINOV2, "mlp": "swiglu", "activation": "silu", "mlp_dim": mlp_dim}
    found = target(ViT(ViTConfig(**fields)))
    assert ("mlp_dim" in found.in_the_way) == (ratio is None)
    if ratio:
        assert found.files(ViTConfig(**fields))["config.json"]["mlp_ratio"] == ratio


def test_processor_of_a_squash_and_of_a_crop():
    squash = stated(preprocessing={"interpolation": "bicubic"})["preprocessor_config.json"]
    assert (squash["size"], squash["resample"]) == ({"height": 8, "width": 8}, 3)
    crop = stated(preprocessing={"resize": "crop", "crop": 0.5, "mean": (0.1, 0.2, 0.3)})
    crop = crop["preprocessor_config.json"]
    assert (crop["size"], crop["crop_size"]) == ({"shortest_edge": 16}, {"height": 8, "width": 8})
    assert (crop["image_mean"], crop["resample"]) == ([0.1, 0.2, 0.3], 2)
