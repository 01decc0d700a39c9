import json
from pathlib import Path

import pytest

from keras_vit.layers import ACTIVATIONS, Preprocessing
from keras_vit.models.vit import POOLING
from keras_vit.weights import metadata as module
from keras_vit.weights.archives import open_archive
from keras_vit.weights.metadata import NOTE, fields_of, source_of, unknown_kind

FIXTURES = Path(__file__).parents[1] / "fixtures" / "weights"
HALF, IMAGENET_MEAN = [0.5, 0.5, 0.5], [0.485, 0.456, 0.406]
IMAGENET_STD = [0.229, 0.224, 0.225]
# google/vit-base-patch16-224's preprocessor_config.json, as it was first and as it is now.
VIT_FIRST = {"do_normalize": True, "do_resize": True, "image_mean": HALF, "image_std": HALF}
VIT_FIRST |= {"size": 224}
VIT = VIT_FIRST | {"size": {"height": 224, "width": 224}, "resample": 2, "do_rescale": True}
VIT |= {"rescale_factor": 0.00392156862745098, "image_processor_type": "ViTImageProcessor"}
# facebook/deit-base-patch16-224's and facebook/dinov2-base's.
DEIT = {"crop_size": 224, "do_center_crop": True, "do_normalize": True, "do_resize": True}
DEIT |= {"image_mean": IMAGENET_MEAN, "image_std": IMAGENET_STD, "resample": 3, "size": 256}
DINOV2 = DEIT | {"crop_size": {"height": 224, "width": 224}, "size": {"shortest_edge": 256}}


def processed(processor):
    """The preprocessing that a processor's config states, checked to be one of ours."""
    found = fields_of({"model_type": "vit", "preprocessor": processor}).get("preprocessing", {})
    Preprocessing(**found)
    return found


@pytest.mark.parametrize(
    "name, source, epsilon",
    [
        ("hf_vit", "hf_vit", 1e-12),
        ("hf_deit", "hf_deit", 1e-12),
        ("hf_dinov2", "hf_dinov2", 1e-6),
        ("hf_dinov2_registers", "hf_dinov2_reg", 1e-6),
        ("hf_vit_shards", "hf_vit", 1e-12),
    ],
)
def test_what_transformers_wrote(name, source, epsilon):
    metadata = open_archive(FIXTURES / name).metadata
    assert source_of(metadata) == source and unknown_kind(metadata) is None
    assert fields_of(metadata) == {
        "norm_epsilon": epsilon,
        "image_size": 20,
        "num_heads": 3,
        "activation": "gelu",
    }


def test_a_file_that_says_nothing():
    for metadata in ({}, {"format": "pt"}, {"image_size": 3, "hidden_act": "unheard of"}):
        assert source_of(metadata) is None and unknown_kind(metadata) is None
        assert fields_of(metadata) == {}


def test_a_processor_without_a_config():
    assert fields_of({"preprocessor": {"image_mean": HALF}}) == {"preprocessing": {"mean": HALF}}


@pytest.mark.parametrize("kind", ["clap", "siglip", "swinv2", ["vit"]])
def test_other_kinds_of_models(kind):
    assert source_of({"model_type": kind}) is None
    assert unknown_kind({"model_type": kind}) == kind


@pytest.mark.parametrize(
    "word, ours",
    [
        ("gelu", "gelu"),
        ("gelu_new", "gelu_tanh"),
        ("gelu_pytorch_tanh", "gelu_tanh"),
        ("quick_gelu", "quick_gelu"),
        ("relu", "relu"),
        ("silu", "silu"),
    ],
)
def test_hidden_act(word, ours):
    assert fields_of({"model_type": "vit", "hidden_act": word}) == {"activation": ours}
    assert ours in ACTIVATIONS and set(module.HF_ACTIVATIONS.values()) == set(ACTIVATIONS)


def test_an_unknown_activation():
    with pytest.raises(ValueError, match="^config.json: `hidden_act` is 'mish'; known are gelu, "):
        fields_of({"model_type": "vit", "hidden_act": "mish"})
    with pytest.raises(ValueError, match="^config.json: "):
        fields_of({"model_type": "vit", "hidden_act": ["gelu"]})


def test_attention_without_biases():
    with pytest.raises(ValueError, match="^config.json: `qkv_bias` is false, but our attention"):
        fields_of({"model_type": "vit", "qkv_bias": False})
    assert fields_of({"model_type": "vit", "qkv_bias": True}) == {}


@pytest.mark.parametrize("processor", [VIT, VIT_FIRST])
def test_vit_squashes(processor):
    expected = {"mean": HALF, "std": HALF, "resize": "squash", "crop": 1.0}
    if "resample" in processor:
        expected["interpolation"] = "bilinear"
    assert processed(processor) == expected


@pytest.mark.parametrize(
    "processor", [DEIT, DINOV2, DEIT | {"size": {"height": 256, "width": 256}}]
)
def test_deit_and_dinov2_crop(processor):
    assert processed(processor) == {
        "mean": IMAGENET_MEAN,
        "std": IMAGENET_STD,
        "interpolation": "bicubic",
        "resize": "crop",
        "crop": 0.875,
    }


@pytest.mark.parametrize(
    "change, resize, crop",
    [
        ({"do_center_crop": False}, "crop", 1.0),
        ({"do_center_crop": None}, "crop", 1.0),
        ({"crop_size": None}, "crop", 1.0),
        ({"crop_size": {"height": 320, "width": 320}}, "crop", 1.0),
        ({"crop_size": {"height": 224, "width": 192}}, "crop", 0.75),
        ({"size": {"height": 448, "width": 448}}, "crop", 0.5),
        ({"size": {"height": 448, "width": 448}, "do_center_crop": False}, "squash", 1.0),
        ({"size": 448, "do_center_crop": False}, "squash", 1.0),
    ],
)
def test_sizes_of_a_processor(change, resize, crop):
    found = processed(DINOV2 | change)
    assert (found["resize"], found["crop"]) == (resize, crop)


@pytest.mark.parametrize("change", [{"do_resize": False}, {"size": None}])
def test_a_processor_that_does_not_resize(change):
    assert not {"resize", "crop"} & set(processed(DINOV2 | change))


@pytest.mark.parametrize("number, name", [(0, "nearest"), (2, "bilinear"), (3, "bicubic")])
def test_pil_filters(number, name):
    from PIL import Image

    assert Image.Resampling(number).name.lower() == name
    assert processed({"resample": number}) == {"interpolation": name}


@pytest.mark.parametrize("number", [1, 4, 5, "bilinear"])
def test_other_filters(number):
    match = "^preprocessor_config.json: `resample` is .*; known are 0, 2, 3"
    with pytest.raises(ValueError, match=match):
        processed({"resample": number})


def test_pixels_that_are_not_normalised():
    found = processed(VIT | {"do_normalize": False})
    assert list(found["mean"]) == [0, 0, 0] and list(found["std"]) == [1, 1, 1]


@pytest.mark.parametrize("change", [{"do_rescale": False}, {"rescale_factor": 1 / 127.5}])
def test_pixels_that_are_scaled_otherwise(change):
    with pytest.raises(ValueError, match="^preprocessor_config.json: pixels are not scaled by 1 /"):
        processed(VIT | change)


@pytest.mark.parametrize(
    "processor", ["text", {"size": {"height": 3}, "crop_size": 3}, {"rescale_factor": "x"}]
)
def test_processors_that_make_no_sense(processor):
    with pytest.raises(ValueError, match="^preprocessor_config.json: "):
        processed(processor)


# timm 1.0.31's constructors, as its hub models name them -> heads.
PLAIN = {
    "vit_tiny_patch16_224": 3,
    "vit_tiny_patch16_384": 3,
    "vit_small_patch8_224": 6,
    "vit_small_patch14_dinov2": 6,
    "vit_small_patch14_reg4_dinov2": 6,
    "vit_small_patch32_384": 6,
    "vit_medium_patch16_reg1_gap_256": 8,
    "vit_medium_patch16_reg4_gap_256": 8,
    "vit_base_patch8_224": 12,
    "vit_base_patch14_dinov2": 12,
    "vit_base_patch14_reg4_dinov2": 12,
    "vit_base_patch16_224": 12,
    "vit_base_patch16_384": 12,
    "vit_base_patch16_gap_224": 16,
    "vit_base_patch16_reg4_gap_256": 12,
    "vit_large_patch14_reg4_dinov2": 16,
    "vit_large_patch32_384": 16,
    "vit_huge_patch14_224": 16,
    "vit_huge_patch16_gap_448": 16,
    "vit_giant_patch14_224": 16,
    "vit_giant_patch14_dinov2": 24,
    "vit_giant_patch14_reg4_dinov2": 24,
    "vit_giant_patch16_gap_224": 16,
    "vit_gigantic_patch14_224": 16,
    "deit_tiny_patch16_224": 3,
    "deit_base_patch16_384": 12,
    "deit3_medium_patch16_224": 8,
    "deit3_huge_patch14_224": 16,
}
# Another epsilon, activation, block, attention, norm, or a second head.
NOT_PLAIN = (
    "deit_tiny_distilled_patch16_224",
    "vit_base_patch14_reg1_tipsv2",
    "vit_base_patch16_18x2_224",
    "vit_base_patch16_224_miil",
    "vit_base_patch16_clip_224",
    "vit_base_patch16_clip_quickgelu_224",
    "vit_base_patch16_plus_clip_240",
    "vit_base_patch16_radio_v3",
    "vit_base_patch16_rpn_224",
    "vit_base_patch16_siglip_224",
    "vit_base_patch16_siglip_gap_224",
    "vit_base_patch16_xp_224",
    "vit_base_patch32_siglip_256",
    "vit_dwee_patch16_reg1_gap_256",
    "vit_giantopt_patch16_siglip_384",
    "vit_pwee_patch16_reg1_gap_256",
    "vit_so400m_patch14_siglip_384",
    "vit_xsmall_patch16_clip_224",
    "vit_base_patch16_rope_224",
    "vit_small_resnet26d_224",
    "resnet50",
)


@pytest.mark.parametrize("architecture, heads", PLAIN.items())
def test_timms_plain_models(architecture, heads):
    metadata = {"architecture": architecture}
    assert source_of(metadata) == "timm" and unknown_kind(metadata) is None
    assert fields_of(metadata) == {"num_heads": heads}


@pytest.mark.parametrize(
    ("architecture", "source", "heads"),
    [
        ("swin_base_patch4_window12_384", "timm_swin", None),
        ("coatnet_3_224", "timm_coatnet", None),
        ("vit_tiny_r_s16_p8_224", "timm_hybrid", 3),
        ("vit_large_r50_s32_384", "timm_hybrid", 16),
    ],
)
def test_timms_other_families(architecture, source, heads):
    metadata = {"architecture": architecture}
    assert source_of(metadata) == source
    assert fields_of(metadata).get("num_heads") == heads


@pytest.mark.parametrize("architecture", NOT_PLAIN)
def test_timms_other_models(architecture):
    metadata = {"architecture": architecture}
    assert source_of(metadata) is None
    assert unknown_kind(metadata) == architecture
    assert "num_heads" not in fields_of(metadata)


# timm/vit_base_patch16_224.augreg2_in21k_ft_in1k's config.json.
PRETRAINED = {
    "tag": "augreg2_in21k_ft_in1k",
    "custom_load": False,
    "input_size": [3, 224, 224],
    "fixed_input_size": True,
    "interpolation": "bicubic",
    "crop_pct": 0.9,
    "crop_mode": "center",
    "mean": HALF,
    "std": HALF,
    "num_classes": 1000,
    "pool_size": None,
    "first_conv": "patch_embed.proj",
    "classifier": "head",
}
TIMM = {"architecture": "vit_base_patch16_224", "num_classes": 1000, "num_features": 768}
TIMM |= {"global_pool": "token", "pretrained_cfg": PRETRAINED}


def timm(arguments=None, pretrained=None, **more):
    arguments = {"model_args": arguments} if arguments is not None else {}
    pretrained = {"pretrained_cfg": PRETRAINED | (pretrained or {})}
    return fields_of(TIMM | arguments | pretrained | more)


def test_what_timm_writes():
    expected = {
        "image_size": [224, 224],
        "num_heads": 12,
        "pooling": "token",
        "preprocessing": {
            "mean": HALF,
            "std": HALF,
            "interpolation": "bicubic",
            "crop": 0.9,
            "resize": "crop",
        },
    }
    assert timm() == expected
    Preprocessing(**expected["preprocessing"])
    # What is under `pretrained_cfg` now stood at the top before 2023.
    flat = {"architecture": "vit_base_patch16_224", "global_pool": "token", **PRETRAINED}
    assert fields_of(flat) == expected
    assert fields_of(flat | {"pretrained_cfg": None}) == expected


@pytest.mark.parametrize(
    "pretrained, arguments, size",
    [
        ({"input_size": [3, 192, 256]}, {}, [192, 256]),
        ({}, {"img_size": 384}, 384),
        ({}, {"img_size": [96, 160]}, [96, 160]),
        ({"input_size": None}, {}, None),
        ({"input_size": None}, None, None),
    ],
)
def test_timms_image_size(pretrained, arguments, size):
    assert timm(arguments, pretrained).get("image_size") == size


@pytest.mark.parametrize(
    "word, ours", [("token", "token"), ("avg", "gap"), ("map", "map"), ("", "none")]
)
def test_timms_pooling(word, ours):
    assert timm(global_pool=word)["pooling"] == ours and ours in POOLING
    assert timm({"global_pool": word}, global_pool="token")["pooling"] == ours
    assert "pooling" not in timm(global_pool=None)


@pytest.mark.parametrize("word", ["gelu", "gelu_tanh", "quick_gelu", "relu", "silu"])
def test_timms_activation(word):
    assert timm({"act_layer": word})["activation"] == word
    assert "activation" not in timm({"img_size": 224})


def test_timms_heads():
    assert timm({"num_heads": 6})["num_heads"] == 6


@pytest.mark.parametrize(
    "pretrained, expected",
    [
        ({"crop_mode": "squash", "crop_pct": 1.0}, {"resize": "squash", "crop": 1.0}),
        ({"crop_mode": None}, {"resize": "crop", "crop": 0.9}),
        ({"crop_mode": None, "crop_pct": None}, {}),
        ({"crop_pct": 1}, {"resize": "crop", "crop": 1}),
    ],
)
def test_timms_crops(pretrained, expected):
    found = timm(None, pretrained)["preprocessing"]
    assert {key: found[key] for key in ("resize", "crop") if key in found} == expected


@pytest.mark.parametrize(
    "arguments, pretrained, more, match",
    [
        ({"act_layer": "mish"}, {}, {}, "`act_layer` is 'mish'; known are gelu, gelu_tanh"),
        ({"norm_layer": "rmsnorm"}, {}, {}, "model_args state `norm_layer`"),
        ({"pool_include_prefix": True}, {}, {}, "model_args state `pool_include_prefix`"),
        ({}, {}, {"global_pool": "avgmax"}, "`global_pool` is 'avgmax'; known are token, avg"),
        ({}, {"crop_mode": "border"}, {}, "`crop_mode` is 'border'; known are center, squash"),
        ({}, {"crop_mode": "squash"}, {}, "`crop_pct` 0.9 with the `crop_mode` squash"),
        ({}, {"interpolation": "lanczos"}, {}, "`interpolation` is 'lanczos'; known are nearest"),
        ({}, {}, {"pretrained_cfg": "text"}, ""),
        ({}, {"input_size": 224}, {}, ""),
    ],
)
def test_what_timm_does_and_we_do_not(arguments, pretrained, more, match):
    with pytest.raises(ValueError, match=f"^config.json: {match}"):
        timm(arguments, pretrained, **more)


def test_our_own_note():
    fields = {"activation": "gelu_tanh", "image_size": [20, 28]}
    note = json.dumps({"source": "timm", "fields": fields})
    metadata = {NOTE: note, "model_type": "clip", "hidden_act": "mish"}
    assert source_of(metadata) == "timm"
    assert fields_of(metadata) == fields
    assert unknown_kind(metadata) is None


@pytest.mark.parametrize(
    "note", ["", "text", "[]", "{}", '{"source": "timm"}', '{"source": "new", "fields": {}}', "3"]
)
def test_a_damaged_note(note):
    for read in (source_of, fields_of):
        with pytest.raises(ValueError, match="`keras_vit` is damaged, or of a later version: "):
            read({NOTE: note})
