import pytest

from keras_vit.weights.metadata import fields_of, source_of

VISION = {
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-5,
    "image_size": 224,
    "num_attention_heads": 12,
}
TEXT = {"hidden_act": "gelu", "layer_norm_eps": 1e-5, "num_attention_heads": 8}


def transformers(**text):
    return {"model_type": "clip", "vision_config": VISION, "text_config": {**TEXT, **text}}


def open_clip(vision=(), **model):
    vision = {"image_size": 224, "width": 1280, "head_width": 80, **dict(vision)}
    text = {"width": 1024, "heads": 16}
    return {"model_cfg": {"vision_cfg": vision, "text_cfg": text, **model}}


def test_transformers():
    assert source_of(transformers()) == "hf_clip"
    expected = {
        "activation": "gelu",
        "norm_epsilon": 1e-5,
        "image_size": 224,
        "num_heads": 12,
        "text_num_heads": 8,
    }
    assert fields_of(transformers()) == expected
    assert fields_of(transformers(eos_token_id=98)) == {**expected, "end_token": 98}
    # What old files state, whose end mark is the last piece.
    assert fields_of(transformers(eos_token_id=2)) == expected


def test_towers_that_differ_are_refused():
    with pytest.raises(ValueError, match="the towers differ in `hidden_act`"):
        fields_of(transformers(hidden_act="quick_gelu"))
    with pytest.raises(ValueError, match="`hidden_act` is 'swish'"):
        config = transformers(hidden_act="swish")
        fields_of({**config, "vision_config": {**VISION, "hidden_act": "swish"}})


def test_open_clip():
    config = open_clip(quick_gelu=True)
    assert source_of(config) == "open_clip"
    expected = {"image_size": 224, "num_heads": 16, "text_num_heads": 16}
    assert fields_of(config) == {**expected, "activation": "quick_gelu"}
    pictures = {"mean": [0.5] * 3, "interpolation": "bilinear", "resize_mode": "squash"}
    found = fields_of({**open_clip(), "preprocess_cfg": pictures})
    assert found["activation"] == "gelu"
    preprocessing = {"mean": [0.5] * 3, "interpolation": "bilinear", "resize": "squash"}
    assert found["preprocessing"] == preprocessing


@pytest.mark.parametrize(
    "vision", [{"timm_model_name": "vit"}, {"ls_init_value": 0.1}, {"no_ln_pre": True}]
)
def test_another_network_is_refused(vision):
    (key,) = vision
    with pytest.raises(ValueError, match=f"`{key}`, which makes another network"):
        fields_of(open_clip(vision))
