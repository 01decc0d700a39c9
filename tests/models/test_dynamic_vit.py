import dataclasses

import keras
import numpy as np
import pytest
from keras import ops

from keras_vit import create_model
from keras_vit.models import DeiT, DynamicViT, DynamicViTConfig, ViT, ViTConfig, dynamic_vit
from keras_vit.models.flops import forward_flops
from tests.contract.cases import SMALL
from tests.contract.test_contract import randomised
from tests.layers.arrays import arrays, close

SIZES = {**SMALL, "width": 12, "depth": 4}
(IMAGES,) = arrays((2, 6, 15, 5))
# Ratio -> patch tokens at 224 pixels, and billions of multiplications of DeiT-S.
PUBLISHED = {
    0.9: ((176, 158, 142), 4.041),
    0.8: ((156, 125, 100), 3.463),
    0.7: ((137, 96, 67), 2.981),
    0.6: ((117, 70, 42), 2.565),
    0.5: ((98, 49, 24), 2.229),
}
PARAMETERS = {
    "dynamic_deit_w25616": (10_304_942, 1.375),
    "dynamic_deit_s16": (22_774_414, 2.981),
    "dynamic_deit_b16": (89_452_846, 11.476),
}


def made(kind=ViT, **fields):
    return randomised(kind(ViTConfig(**{**SIZES, **fields})))


@pytest.mark.parametrize(("ratio", "numbers"), PUBLISHED.items())
def test_published_token_counts_and_products(ratio, numbers):
    name = "dynamic_deit_s16" if ratio == 0.7 else f"dynamic_deit_s16_{round(100 * ratio)}"
    config = DynamicViTConfig(**dynamic_vit.NAMES[name])
    assert config.stage_blocks == (3, 6, 9)
    assert (config.kept, round(forward_flops(config) / 2e9, 3)) == numbers


@pytest.mark.parametrize(("name", "numbers"), PARAMETERS.items())
def test_published_parameter_counts(name, numbers):
    parameters, billions = numbers
    fields = dynamic_vit.NAMES[name]
    # All but the blocks and the scores of two of them, which are all alike.
    small = {"depth": 2, "stage_blocks": (1,), "image_size": 224}
    with keras.device("cpu"):
        model = DynamicViT(DynamicViTConfig(**{**fields, **small}))
    block, scores = (model.get_layer(part).count_params() for part in ("block_0", "score_0"))
    assert model.count_params() + 10 * block + 2 * scores == parameters
    assert round(forward_flops(DynamicViTConfig(**fields)) / 2e9, 3) == billions


@pytest.mark.parametrize("fields", [{}, {"pooling": "gap", "class_token": False}, {"registers": 2}])
def test_with_ratios_of_one_it_is_the_vit(fields):
    vit = made(**fields)
    dynamic = DynamicViT.from_image_model(vit, keep_ratios=1.0)
    np.testing.assert_array_equal(dynamic(IMAGES), vit(IMAGES))
    np.testing.assert_array_equal(
        dynamic.features(IMAGES)["tokens"], vit.features(IMAGES)["tokens"]
    )


def test_the_highest_scores_go_on():
    """Block by block with the layers of the model itself."""
    model = DynamicViT.from_image_model(made(), stage_blocks=(1, 3), keep_ratios=(0.6, 0.3))
    randomised(model)
    tokens = model.get_layer("patch_encoder")(model.get_layer("patches")(IMAGES))
    tokens = ops.convert_to_numpy(tokens)
    for index in range(4):
        if index in (1, 3):
            stage, count = (0, 9) if index == 1 else (1, 4)
            scores = ops.convert_to_numpy(model.get_layer(f"score_{stage}")(tokens))[..., 0]
            rows = 1 + np.argsort(-scores, axis=1)[:, :count]
            kept = [np.vstack([one[:1], one[r]]) for one, r in zip(tokens, rows, strict=True)]
            tokens = np.stack(kept)
        block = model.get_layer(f"block_{index}")
        tokens = ops.convert_to_numpy(block(tokens))
        assert block.output.shape[1] == tokens.shape[1]
    normed = model.get_layer("norm")(tokens)
    assert close(model.features(IMAGES)["tokens"], ops.convert_to_numpy(normed[:, 1:]))
    assert close(model(IMAGES), ops.convert_to_numpy(model.get_layer("head")(normed[:, 0])))


def test_it_begins_with_the_weights_of_the_vit():
    vit = made(depth=4, layer_scale=0.5)
    dynamic = DynamicViT.from_image_model(vit, keep_ratios=0.5)
    theirs = {weight.path: np.array(weight) for weight in dynamic.weights}
    for weight in vit.weights:
        np.testing.assert_array_equal(theirs.pop(weight.path), weight)
    assert {path.split("/")[0] for path in theirs} == {"score_0", "score_1", "score_2"}
    assert not any("score" in weight.path for weight in dynamic.trainable_weights)
    assert dataclasses.replace(dynamic.config).preprocessing == vit.preprocessing


def test_create_model():
    model = create_model("dynamic_deit_ti16", image_size=64, depth=4, keep_ratios=(0.5, 0.5, 0.25))
    assert model.config.kept == (8, 8, 4) and model.config.stage_blocks == (1, 2, 3)
    assert model.preprocessing.mean == (0.485, 0.456, 0.406)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"keep_ratios": 0.0}, "above 0, at most 1.*Received: keep_ratios=\\(0.0"),
        ({"keep_ratios": 1.5}, "above 0, at most 1"),
        ({"keep_ratios": -0.7}, "above 0, at most 1"),
        ({"keep_ratios": (0.5, 0.7, 0.3)}, "none above the one before it"),
        (
            {"keep_ratios": (0.7, 0.5)},
            "one ratio for each of the `stage_blocks`. Received: .*1, 2, 3",
        ),
        ({"stage_blocks": ()}, "rising order.*Received: stage_blocks=\\(\\)"),
        ({"stage_blocks": (2, 1)}, "rising order"),
        ({"stage_blocks": (1, 4)}, "from 0 to `depth` - 1.*depth=4"),
        ({"stage_blocks": (1.0,)}, "must be numbers of blocks"),
        ({"position": "relative"}, "no bias by offsets"),
        ({"attention": "performer"}, "has the softmax"),
        ({"merged": 1}, "no merging"),
        ({"width": 14}, "multiple of 4"),
        ({"pooling": "map"}, "must be one of .*Received: 'map'"),
    ],
)
def test_what_cannot_be(fields, message):
    with pytest.raises(ValueError, match=message):
        DynamicViTConfig(**{**SIZES, **fields})


def test_ratios_that_leave_no_token():
    config = DynamicViTConfig(**SIZES, keep_ratios=0.3)
    with pytest.raises(ValueError, match=r"must leave a token.*leave \(4, 1, 0\) of 15"):
        DynamicViT(config)


def test_it_is_made_of_a_vit_only():
    deit = DeiT(ViTConfig(**SIZES, registers=1, class_position=False))
    with pytest.raises(ValueError, match="a distilled DeiT has two heads. Received: DeiT"):
        DynamicViT.from_image_model(deit)
