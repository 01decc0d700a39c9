import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.models import Hybrid, HybridConfig
from keras_vit.models.hybrid import NAMES, VARIANTS
from tests.contract.cases import HYBRID
from tests.contract.test_contract import randomised

IMAGES = np.random.default_rng(3).normal(size=(2, 8, 12, 5)).astype("float32")


def test_the_vit_reads_the_map_of_the_last_stage():
    model = randomised(Hybrid(HybridConfig(**HYBRID)))
    features = model.features(IMAGES)
    assert {name: tuple(value.shape) for name, value in features.items()} == {
        "tokens": (2, 6, 14),
        "prefix": (2, 1, 14),
        "pooled": (2, 14),
        "stage_0": (2, 2, 3, 128),
    }
    patches = model.get_layer("patches")(features["stage_0"])
    np.testing.assert_array_equal(patches, features["stage_0"].numpy().reshape(2, 6, 128))
    assert model.get_layer("unit_0").output is model.get_layer("patches").input


def test_the_root_alone():
    model = Hybrid(HybridConfig(**{**HYBRID, "units": (), "patch_size": (8, 4)}))
    # Two of the map's pixels by one are a patch.
    assert model.get_layer("patch_encoder").projection.kernel.shape == (2 * 32, 14)
    assert "stage_0" not in model.features(IMAGES)


def test_units_and_blocks_are_computed_twice():
    model = Hybrid(HybridConfig(**{**HYBRID, "remat": True}))
    assert model.get_layer("unit_0").remat and model.get_layer("block_0").remat


def test_published_sizes():
    assert list(NAMES) == list(VARIANTS)
    config = HybridConfig(**NAMES["r50_b16"])
    assert (config.stride, config.projection_size, config.map_width) == (16, (1, 1), 1024)
    config = HybridConfig(**NAMES["r_ti16"])
    assert (config.stride, config.projection_size, config.map_width) == (4, (8, 8), 64)
    tiny = {"image_size": 32, "depth": 1, "width": 12, "num_heads": 2, "mlp_dim": 8}
    model = Hybrid.from_variant("r_ti16", **tiny)
    assert model.config == create_model("r_ti16", **tiny).config
    with pytest.raises(ValueError, match="`variant` must be one of r_ti16, .*Received: 'r50'"):
        Hybrid.from_variant("r50")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"patch_size": 6, "image_size": 12},
            r"the ResNet's stride. Received: patch_size=\(6, 6\), stride=4",
        ),
        ({"units": (1, 1)}, r"Received: patch_size=\(4, 4\), stride=8"),
        ({"image_size": 10}, "`patch_size` must divide `image_size`"),
        ({"standardisation": "std"}, "`standardisation` must be one of"),
    ],
)
def test_what_does_not_fit(fields, message):
    with pytest.raises(ValueError, match=message):
        HybridConfig(**{**HYBRID, **fields})
