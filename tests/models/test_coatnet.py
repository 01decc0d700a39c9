import numpy as np
import pytest
from keras import ops

from keras_vit.models import CoAtNet, CoAtNetConfig
from keras_vit.models.coatnet import NAMES
from tests.contract.cases import COATNET
from tests.contract.test_contract import randomised
from tests.models.step_of_fit import check_a_step_of_fit

IMAGES = np.random.default_rng(3).normal(size=(2, 16, 24, 5)).astype("float32")
# As in the two largest: attention follows on convolutions of its own resolution.
THREE = (("conv", 10, 1, True), ("attention", 14, 2, False), ("attention", 21, 1, True))


def small(**fields):
    return CoAtNet(CoAtNetConfig(**{**COATNET, **fields}))


def test_features():
    model = randomised(small(stages=THREE))
    features = model.features(IMAGES)
    assert {name: tuple(value.shape) for name, value in features.items()} == {
        "tokens": (2, 6, 21),
        "prefix": (2, 0, 21),
        "pooled": (2, 21),
        "stage_0": (2, 4, 6, 10),
        "stage_1": (2, 4, 6, 14),
        "stage_2": (2, 2, 3, 21),
    }
    np.testing.assert_allclose(features["pooled"], ops.mean(features["tokens"], axis=1), atol=1e-6)
    np.testing.assert_allclose(
        model.get_layer("head")(features["pooled"]), model(IMAGES), atol=1e-5
    )
    shapes = [tuple(model.get_layer(f"block_{i}").output.shape) for i in range(4)]
    assert shapes == [(None, 4, 6, 10), (None, 4, 6, 14), (None, 4, 6, 14), (None, 2, 3, 21)]


def test_norm_after_pooling():
    model = randomised(small(pooling="gap_then_norm", representation_size=11))
    features = model.features(IMAGES)
    mean = ops.mean(features["stage_1"], axis=(1, 2))
    np.testing.assert_allclose(model.get_layer("norm")(mean), features["pooled"], atol=1e-5)
    hidden = model.get_layer("representation")(features["pooled"])
    np.testing.assert_allclose(model.get_layer("head")(hidden), model(IMAGES), atol=1e-5)


# Compiling takes half a minute: that is left to `make prove`.
@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_a_step_of_fit(jit_compile):
    """In half precision, blocks computed twice; the statistics move."""
    fields = {**COATNET, "dropout": 0.1, "drop_path": 0.2, "remat": True}
    model = CoAtNet(CoAtNetConfig(**fields), dtype="mixed_bfloat16")
    check_a_step_of_fit(model, IMAGES, jit_compile)


def test_published_sizes():
    config = CoAtNetConfig(**NAMES["coatnet_0"])
    assert config.grids == ((56, 56), (28, 28), (14, 14), (7, 7))
    assert (config.stride, config.depth) == (32, 12)
    config = CoAtNetConfig(**NAMES["coatnet_7"])
    assert config.grids == ((56, 56), (28, 28), (14, 14), (14, 14), (7, 7))
    assert config.bias_grids["block_14/attention/relative_bias"] == (14, 14)
    assert "block_13/attention/relative_bias" not in config.bias_grids


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"image_size": (16, 20)}, r"multiple of 8, .*Received: image_size=\(16, 20\)"),
        ({"head_dim": 5}, "must divide the widths.*Received: head_dim=5, width=14"),
        ({"stages": (("conv", 8, 1),)}, r"`stages` must hold \(kind, width, blocks"),
        ({"stages": (("pool", 8, 1, True),)}, r"`stages` must be one of \['attention', 'conv'\]"),
        ({"pool": "sum"}, r"`pool` must be one of \['average', 'max'\]"),
        ({"stride_in": "pool"}, "`stride_in` must be one of"),
        ({"pooling": "token"}, "`pooling` must be one of"),
    ],
)
def test_what_does_not_fit(fields, message):
    with pytest.raises(ValueError, match=message):
        CoAtNetConfig(**{**COATNET, **fields})
