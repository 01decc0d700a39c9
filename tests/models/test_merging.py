import math

import numpy as np
import pytest
from keras import ops

from keras_vit import create_model
from keras_vit.models import CLIP, CLIPConfig, ViTConfig, merge_tokens
from keras_vit.models.flops import forward_flops
from keras_vit.models.merging import token_counts
from tests.contract.cases import CLIPS
from tests.contract.test_contract import randomised
from tests.layers.arrays import arrays, close
from tests.layers.test_token_merging import reference

SIZES = {"image_size": 32, "patch_size": 8, "width": 12, "depth": 3, "num_heads": 3, "mlp_dim": 7}
FAMILIES = {
    "vit_ti16": {},
    "deit_ti16": {},
    "dinov2_s14_reg": {"layer_scale": 0.5, "registers": 2},
    "r50_b16": {"units": (1,), "patch_size": 16},
}
(IMAGES,) = arrays((2, 32, 32, 3))


def made(name="vit_ti16", **fields):
    fields = {**SIZES, "num_classes": 5, **FAMILIES[name], **fields}
    return randomised(create_model(name, **fields))


@pytest.mark.parametrize("name", FAMILIES)
def test_without_merging_it_is_the_model(name):
    model = made(name)
    twin = merge_tokens(model, 0)
    assert type(twin) is type(model) and twin.config == model.config
    np.testing.assert_array_equal(twin(IMAGES), model(IMAGES))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_keeps_its_weights_and_the_shapes_of_its_features(name):
    model = made(name)
    twin = merge_tokens(model, 1)
    for one, other in zip(model.weights, twin.weights, strict=True):
        assert one.path == other.path
        np.testing.assert_array_equal(one, other)
    features, found = model.features(IMAGES), twin.features(IMAGES)
    assert {key: value.shape for key, value in features.items()} == {
        key: value.shape for key, value in found.items()
    }
    before, after = (ops.convert_to_numpy(one(IMAGES)) for one in (model, twin))
    assert 1e-4 < np.abs(before - after).max() / np.abs(before).max()


def float64_vit(weights, tokens, config):
    """A ViT's blocks with token merging in float64, token by token, of one image.

    Returns (tokens, for each of them the patches that it stands for).
    """
    erf, heads = np.vectorize(math.erf), config.num_heads

    def norm(name, x):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
        return x * weights[f"{name}/gamma"] + weights[f"{name}/beta"]

    members = [[place] for place in range(len(tokens))]
    for index, merged in enumerate(config.merged):
        block, sizes = f"block_{index}", np.array([len(one) for one in members], "float64")
        kernel, bias = (weights[f"{block}/attention/qkv/{part}"] for part in ("kernel", "bias"))
        qkv = np.einsum("nd,dpkh->pknh", norm(f"{block}/norm1", tokens), kernel) + bias[:, :, None]
        query, key, value = qkv
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(key.shape[-1]) + np.log(sizes)
        exponents = np.exp(scores)
        context = (exponents / exponents.sum(-1, keepdims=True)) @ value
        context = context.transpose(1, 0, 2).reshape(len(tokens), -1)
        out = f"{block}/attention/out"
        tokens = tokens + context @ weights[f"{out}/kernel"] + weights[f"{out}/bias"]
        tokens, met = reference(tokens, key.mean(0), sizes, merged, config.num_prefix)
        members = [[patch for one in meet for patch in members[one]] for meet in met]
        hidden = norm(f"{block}/norm2", tokens) @ weights[f"{block}/mlp/fc1/kernel"]
        hidden = hidden + weights[f"{block}/mlp/fc1/bias"]
        hidden = 0.5 * hidden * (1 + erf(hidden / math.sqrt(2)))
        tokens = tokens + hidden @ weights[f"{block}/mlp/fc2/kernel"]
        tokens = tokens + weights[f"{block}/mlp/fc2/bias"]
    assert heads == query.shape[0]
    return norm("norm", tokens), members


@pytest.mark.parametrize(
    ("fields", "merged"),
    [({}, 4), ({"pooling": "gap", "class_token": False}, [5, 0, 3]), ({"registers": 2}, 3)],
)
def test_against_the_papers_formula_in_float64(fields, merged):
    model = merge_tokens(made(**fields), merged)
    config, prefix = model.config, model.config.num_prefix
    weights = {w.path: np.asarray(w, "float64") for w in model.weights}
    starts = model.get_layer("patch_encoder")(model.get_layer("patches")(IMAGES))
    features, logits = model.features(IMAGES), []
    for row, start in enumerate(ops.convert_to_numpy(starts).astype("float64")):
        tokens, members = float64_vit(weights, start, config)
        everywhere = np.zeros_like(start)
        for token, places in zip(tokens, members, strict=True):
            everywhere[places] = token
        assert close(features["tokens"][row], everywhere[prefix:])
        sizes = np.array([len(places) for places in members])
        # The mean over patches is one over tokens by their sizes.
        mean = (tokens * sizes[:, None]).sum(0) / sizes.sum()
        pooled = mean if config.pooling == "gap" else tokens[0]
        logits.append(pooled @ weights["head/kernel"] + weights["head/bias"])
    assert close(model(IMAGES), np.stack(logits))


def test_a_number_is_cut_down_and_a_list_is_not():
    config = ViTConfig(**SIZES, merged=5)
    assert config.merged == (5, 5, 3)  # of 16, 11, 6 patch tokens
    assert token_counts(config) == [(17, 12), (12, 7), (7, 4)]
    with pytest.raises(ValueError, match=r"merged=\[5, 5, 5\]; block 2 can merge 3"):
        ViTConfig(**SIZES, merged=[5, 5, 5])


def test_products_by_hand():
    config = ViTConfig(**SIZES, num_classes=5, merged=[5, 0, 3])
    projection, head = 16 * 64 * 3 * 12, 12 * 5
    blocks = [(17, 12), (12, 12), (12, 9)]
    attention = sum(4 * n * 144 + 2 * n * n * 12 for n, _ in blocks)
    mlp = sum(2 * n * 12 * 7 for _, n in blocks)
    assert forward_flops(config) == 2 * (projection + attention + mlp + head)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"merged": -1}, "at least 0, or one for each of the blocks. Received: merged=-1, depth=3"),
        ({"merged": 1.5}, "must be a number of tokens"),
        ({"merged": [1, 2]}, r"Received: merged=\[1, 2\], depth=3"),
        ({"merged": 1, "position": "relative"}, "a bias by offsets"),
        ({"merged": 1, "attention": "performer"}, "attention='performer'"),
        ({"merged": 1, "remat": True}, "remat=True"),
    ],
)
def test_what_cannot_be(fields, message):
    with pytest.raises(ValueError, match=message):
        ViTConfig(**{**SIZES, **fields})


def test_what_is_no_vit():
    with pytest.raises(ValueError, match="must be a ViT, DeiT, DINOv2 or hybrid.*Received: CLIP"):
        merge_tokens(CLIP(CLIPConfig(**CLIPS)), 1)
