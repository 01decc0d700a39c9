import numpy as np
import pytest

from keras_vit import create_model, list_models
from keras_vit.models import DINOv2, ViTConfig, dinov2
from tests.models.test_vit_parameters import sizes

# timm's counts; its models with registers fold the class token's position into the token, which
# leaves one row out of the table that the original file has.
PUBLISHED = {
    "dinov2_s14": 22_056_192,
    "dinov2_b14": 86_579_712,
    "dinov2_l14": 304_367_616,
    "dinov2_g14": 1_136_479_232,
    "dinov2_s14_reg": 22_057_344 + 384,
    "dinov2_b14_reg": 86_582_016 + 768,
    "dinov2_l14_reg": 304_370_688 + 1024,
    "dinov2_g14_reg": 1_136_483_840 + 1536,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameter_count(name):
    fields = dinov2.NAMES[name]
    one, two = (sum(sizes(ViTConfig(**{**fields, "depth": d})).values()) for d in (1, 2))
    assert one + (fields["depth"] - 1) * (two - one) == PUBLISHED[name]


def test_every_name_has_its_count():
    assert {name for name in list_models() if name.startswith("dinov2")} == set(PUBLISHED)


def test_without_a_head_the_output_is_the_class_token():
    model = create_model("dinov2_s14_reg", image_size=28, width=14, num_heads=2, depth=1)
    assert type(model) is DINOv2
    (images,) = [np.random.default_rng(3).normal(size=(2, 28, 28, 3)).astype("float32")]
    features = model.features(images)
    assert features["prefix"].shape == (2, 5, 14)
    np.testing.assert_array_equal(model(images), features["prefix"][:, 0])


def test_its_preprocessing():
    preprocessing = create_model("dinov2_s14", image_size=14, width=14, num_heads=2, depth=1)
    preprocessing = preprocessing.preprocessing
    assert preprocessing.mean == (0.485, 0.456, 0.406)
    assert (preprocessing.resize, preprocessing.interpolation) == ("crop", "bicubic")
    assert preprocessing.image_size == (14, 14)
