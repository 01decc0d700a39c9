import numpy as np
import pytest
from keras import ops

from keras_vit.models import Swin, SwinConfig
from keras_vit.models.swin import NAMES
from tests.contract.cases import SWIN
from tests.contract.test_contract import randomised
from tests.models.step_of_fit import check_a_step_of_fit

BLOCK = [
    "norm1/gamma",
    "norm1/beta",
    "attention/relative_bias",
    "attention/qkv/kernel",
    "attention/qkv/bias",
    "attention/out/kernel",
    "attention/out/bias",
    "norm2/gamma",
    "norm2/beta",
    "mlp/fc1/kernel",
    "mlp/fc1/bias",
    "mlp/fc2/kernel",
    "mlp/fc2/bias",
]
IMAGES = np.random.default_rng(3).normal(size=(2, 13, 22, 5)).astype("float32")


@pytest.fixture(scope="module")
def model():
    return randomised(Swin(SwinConfig(**SWIN)))


def test_weight_paths(model):
    expected = ["patch_encoder/projection/kernel", "patch_encoder/projection/bias"]
    expected += ["patch_norm/gamma", "patch_norm/beta", "norm/gamma", "norm/beta"]
    expected += ["merge_1/norm/gamma", "merge_1/norm/beta", "merge_1/reduction/kernel"]
    expected += [f"block_{index}/{path}" for index in range(3) for path in BLOCK]
    assert {w.path for w in model.weights} == {*expected, "head/kernel", "head/bias"}


def test_blocks_are_reached_by_name(model):
    names = ["block_0", "block_1", "merge_1", "block_2"]
    assert [layer.name for layer in model.layers if layer.name in names] == names
    shapes = [tuple(model.get_layer(name).output.shape) for name in names]
    # 13 x 22 pixels in patches of 2 x 3 are 7 x 8 tokens; merging pads the 7.
    assert shapes == [(None, 7, 8, 6)] * 2 + [(None, 4, 4, 12)] * 2
    # The second block of a stage is shifted, the first is not.
    shifts = [model.get_layer(f"block_{i}").attention.offset for i in range(3)]
    assert shifts == [(0, 0), (1, 1), (0, 0)]


def test_features(model):
    features = model.features(IMAGES)
    assert {name: tuple(value.shape) for name, value in features.items()} == {
        "tokens": (2, 16, 12),
        "prefix": (2, 0, 12),
        "pooled": (2, 12),
        "stage_0": (2, 7, 8, 6),
        "stage_1": (2, 4, 4, 12),
    }
    tokens = ops.convert_to_numpy(features["tokens"])
    np.testing.assert_allclose(features["pooled"], tokens.mean(axis=1), atol=1e-6)
    normed = model.get_layer("norm")(features["stage_1"])
    np.testing.assert_allclose(ops.reshape(normed, (2, 16, 12)), tokens, atol=1e-6)
    np.testing.assert_allclose(
        model.get_layer("head")(features["pooled"]), model(IMAGES), atol=1e-5
    )


def test_drop_path_rises_through_all_stages():
    model = Swin(SwinConfig(**{**SWIN, "drop_path": 0.2, "remat": True}))
    blocks = [model.get_layer(f"block_{index}") for index in range(3)]
    assert [block.drop_path.rate for block in blocks] == [0.0, 0.1, 0.2]
    assert all(block.remat for block in blocks)


# Compiling takes half a minute: that is left to `make prove`.
@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_a_step_of_fit(jit_compile):
    """In half precision, with dropouts, blocks computed twice and loss scaling."""
    fields = {**SWIN, "dropout": 0.1, "attention_dropout": 0.1, "drop_path": 0.2, "remat": True}
    model = Swin(SwinConfig(**fields), dtype="mixed_float16")
    check_a_step_of_fit(model, IMAGES, jit_compile)


def test_published_sizes():
    config = SwinConfig(**NAMES["swin_b_384"])
    assert config.grids == ((96, 96), (48, 48), (24, 24), (12, 12))
    assert config.widths == (128, 256, 512, 1024) and config.depth == 24
    assert set(config.bias_grids.values()) == {(12, 12)}
    assert SwinConfig(**NAMES["swin_t"]).preprocessing.crop == 0.9


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_heads": (2,)}, r"one number for each stage. Received: depths=\(2, 1\)"),
        ({"num_heads": (2, 5)}, "must divide `width`. Received: width=12, num_heads=5"),
        ({"drop_path": 1.0}, r"`drop_path` must be in \[0, 1\)"),
        ({"window_size": 0}, "`window_size` must be a positive integer"),
        ({"activation": "tanh"}, "`activation` must be one of"),
    ],
)
def test_what_does_not_fit(fields, message):
    with pytest.raises(ValueError, match=message):
        SwinConfig(**{**SWIN, **fields})
