"""Every weight starts as in the JAX code (google-research/vision_transformer and big_vision).

Reference: section "Initialisation" of the ViT code; `vit_jax/models_vit.py`, big_vision
`models/vit.py`. Flax's default for a Dense is LeCun-normal; attention and MLP are Xavier-uniform.
"""

import functools
import math

import keras
import numpy as np
import pytest

from keras_vit.models import ViT, ViTConfig

WIDTH, HEADS, HIDDEN, PATCH, CHANNELS = 104, 4, 212, (7, 5), 3
FAN = PATCH[0] * PATCH[1] * CHANNELS
# A normal cut at two standard deviations keeps this share of its standard deviation.
CUT = 0.87962566103423978
GLOROT_ATTENTION = math.sqrt(6 / (WIDTH + WIDTH))
GLOROT_MLP = math.sqrt(6 / (WIDTH + HIDDEN))
FIELDS = {
    "image_size": (70, 65),
    "patch_size": PATCH,
    "channels": CHANNELS,
    "width": WIDTH,
    "depth": 2,
    "num_heads": HEADS,
    "mlp_dim": HIDDEN,
    "num_classes": 11,
}


@functools.cache
def start(**changes):
    """The starting weights of a ViT by path, the same whichever test asks first."""
    keras.utils.set_random_seed(20261)
    model = ViT(ViTConfig(**{**FIELDS, **changes}))
    return {weight.path: np.asarray(weight.value) for weight in model.weights}


def full():
    """A model with every kind of weight but the attention pooling's."""
    return start(registers=17, layer_scale=0.25, representation_size=103, head_bias=-6.9)


def pooled():
    return start(pooling="map", class_token=False)


def assert_spread(value, std):
    """The mean is zero and the standard deviation `std`, within four errors of the sample's."""
    assert abs(value.mean()) <= 4 * std / math.sqrt(value.size)
    # A normal's: the uniform and the cut normal spread less.
    assert value.std() == pytest.approx(std, rel=4 / math.sqrt(2 * value.size))


def assert_uniform(value, limit):
    assert limit * 0.98 <= np.abs(value).max() <= limit * (1 + 1e-6)
    assert_spread(value, limit / math.sqrt(3))


def assert_cut_normal(value, std):
    """Truncated at two of the uncut standard deviations; `std` is what remains."""
    edge = 2 * std / CUT
    assert edge * 0.97 <= np.abs(value).max() <= edge * (1 + 1e-6)
    assert_spread(value, std)


def assert_normal(value, std):
    # Not cut: some values lie beyond two standard deviations, 4.6 % of them.
    assert (np.abs(value) > 2.05 * std).any()
    assert_spread(value, std)


def test_patch_kernel_is_lecun_normal_over_the_whole_patch():
    value = full()["patch_encoder/projection/kernel"]
    assert value.shape == (FAN, WIDTH)
    assert_cut_normal(value, math.sqrt(1 / FAN))


@pytest.mark.parametrize("block", ["block_0", "block_1"])
def test_attention_is_xavier_uniform_per_projection(block):
    kernel = full()[f"{block}/attention/qkv/kernel"]
    assert kernel.shape == (WIDTH, 3, HEADS, WIDTH // HEADS)
    for part in range(3):
        assert_uniform(kernel[:, part], GLOROT_ATTENTION)
    assert_uniform(full()[f"{block}/attention/out/kernel"], GLOROT_ATTENTION)


def test_no_two_kernels_are_copies():
    kernels = [
        full()[f"block_{i}/attention/qkv/kernel"][:, part] for i in range(2) for part in range(3)
    ]
    kernels += [
        full()[f"block_{i}/attention/out/kernel"].reshape(kernels[0].shape) for i in range(2)
    ]
    for i, one in enumerate(kernels):
        for other in kernels[:i]:
            assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.05


@pytest.mark.parametrize("layer", ["fc1", "fc2"])
@pytest.mark.parametrize("block", ["block_0", "block_1"])
def test_mlp_is_xavier_uniform_with_tiny_normal_biases(block, layer):
    assert_uniform(full()[f"{block}/mlp/{layer}/kernel"], GLOROT_MLP)
    assert_normal(full()[f"{block}/mlp/{layer}/bias"], 1e-6)


def test_mlp_biases_are_drawn_apart():
    biases = [
        full()[f"block_{i}/mlp/{layer}/bias"][:WIDTH] for i in range(2) for layer in ("fc1", "fc2")
    ]
    assert np.abs(np.corrcoef(biases) - np.eye(4)).max() < 0.5


@pytest.mark.parametrize(
    "path",
    [
        "patch_encoder/projection/bias",
        "patch_encoder/class_token",
        "block_1/attention/qkv/bias",
        "block_1/attention/out/bias",
        "block_1/norm1/beta",
        "block_1/norm2/beta",
        "norm/beta",
        "representation/bias",
        "head/kernel",
    ],
)
def test_zeros(path):
    assert not full()[path].any()


@pytest.mark.parametrize(
    ("path", "constant"),
    [
        ("block_0/norm1/gamma", 1.0),
        ("block_1/norm2/gamma", 1.0),
        ("norm/gamma", 1.0),
        ("block_0/scale1/gamma", 0.25),
        ("block_1/scale2/gamma", 0.25),
        ("head/bias", -6.9),
    ],
)
def test_constants(path, constant):
    np.testing.assert_array_equal(full()[path], np.float32(constant))


@pytest.mark.parametrize(
    ("changes", "std"),
    [
        ({}, 0.02),
        ({"class_position": False}, WIDTH**-0.5),
        ({"pooling": "gap", "class_token": False}, WIDTH**-0.5),
    ],
    ids=["vit_jax", "big_vision_tok", "big_vision_gap"],
)
def test_positions_start_as_in_the_code_of_their_convention(changes, std):
    assert_normal(start(**changes)["patch_encoder/position"], std)


def test_registers_differ_from_one_another():
    assert_normal(full()["patch_encoder/registers"], 0.02)


def test_representation_is_lecun_normal():
    assert_cut_normal(full()["representation/kernel"], math.sqrt(1 / WIDTH))


def test_attention_pooling_starts_like_a_block():
    weights = pooled()
    attention = "pool/attention"
    assert_uniform(weights[f"{attention}/query/kernel"], GLOROT_ATTENTION)
    for part in range(2):
        assert_uniform(weights[f"{attention}/key_value/kernel"][:, part], GLOROT_ATTENTION)
    assert_uniform(weights[f"{attention}/out/kernel"], GLOROT_ATTENTION)
    for layer in ("fc1", "fc2"):
        assert_uniform(weights[f"pool/mlp/{layer}/kernel"], GLOROT_MLP)
        assert_normal(weights[f"pool/mlp/{layer}/bias"], 1e-6)
    for part in ("query", "key_value", "out"):
        assert not weights[f"{attention}/{part}/bias"].any()
    # Flax takes (1, width) as the probe's fans.
    probe = weights["pool/probe"]
    assert np.abs(probe).max() <= math.sqrt(6 / (1 + WIDTH))
    assert_spread(probe, math.sqrt(2 / (1 + WIDTH)))


def test_no_weight_is_left_out():
    """Each kind of weight above is named; a new one must get a rule here."""
    known = ("/kernel", "/bias", "/gamma", "/beta", "/class_token", "/registers", "/position")
    assert all(path.endswith(known) for path in full())
    assert set(pooled()) - {"pool/probe"} == {p for p in pooled() if p.endswith(known)}
