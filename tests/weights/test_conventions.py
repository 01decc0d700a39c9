import numpy as np
import pytest

from keras_vit import create_model, weights
from keras_vit.models import ViTConfig
from tests.weights.checkpoints import SIZES, Unchanged, fitting_model, jax_arrays, values, write

# What the JAX codes' preprocessing is, told as a user tells it.
CROPPED = {"resize": "crop", "crop": 0.875}


@pytest.mark.parametrize(
    "fields, differing",
    [
        ({"activation": "gelu"}, {"activation"}),
        ({"norm_epsilon": 1e-12}, {"norm_epsilon"}),
        ({"class_position": False}, {"class_position"}),
        ({"registers": 2}, {"registers"}),
        ({"position": "sincos2d"}, {"position"}),
        ({"layer_scale": 0.1}, {"layer_scale"}),
        ({"pooling": "gap"}, {"pooling"}),
        ({"pooling": "gap", "class_token": False}, {"pooling", "class_token"}),
        ({"representation_size": 5}, {"representation_size"}),
        ({"preprocessing": CROPPED}, {"preprocessing"}),
        ({"preprocessing": {"mean": (0.4, 0.5, 0.5)}}, {"preprocessing"}),
        ({"preprocessing": {"interpolation": "bicubic"}}, {"preprocessing"}),
        ({"width": 21}, {"width"}),
        ({"depth": 3, "activation": "gelu"}, {"depth", "activation"}),
        ({"mlp_dim": 41}, {"mlp_dim"}),
    ],
    ids=str,
)
def test_a_model_that_differs_is_refused(fields, differing, tmp_path):
    model, path = fitting_model(**fields), write(tmp_path, jax_arrays())
    with Unchanged(model), pytest.raises(weights.ConventionsDiffer) as caught:
        weights.load(model, path, "jax")
    assert set(caught.value.differences) == differing
    message = str(caught.value)
    assert message.startswith(f"{path} does not fit this model, which stays as it was:")
    assert all(f"\n  {name}: the model has" in message for name in differing)


@pytest.mark.parametrize(
    "fields, options",
    [
        ({"activation": "gelu"}, {}),
        ({"activation": "gelu", "image_size": (12, 36)}, {}),
        ({"activation": "gelu", "image_size": 16, "patch_size": 8}, {}),
        ({"norm_epsilon": 1e-3, "num_classes": 5}, {"new_head": True}),
        ({"activation": "gelu", "norm_epsilon": 1e-3}, {"accept": ("norm_epsilon",)}),
    ],
    ids=str,
)
def test_the_printed_call_builds_a_model_that_loads(fields, options, tmp_path):
    model, path = fitting_model(**fields), write(tmp_path, jax_arrays())
    with pytest.raises(weights.ConventionsDiffer) as caught:
        weights.load(model, path, "jax", **options)
    assert str(caught.value).endswith(caught.value.call)
    fits = eval(caught.value.call, {"create_model": create_model})
    assert fits.config.image_size == model.config.image_size
    assert fits.config.num_classes == model.config.num_classes
    filled = values(fits)
    weights.load(fits, path, "jax", **options)
    for name, value in values(fits).items():
        np.testing.assert_array_equal(value, filled[name])


def test_what_is_accepted_is_loaded(tmp_path):
    model, path = fitting_model(activation="gelu"), write(tmp_path, jax_arrays())
    weights.load(model, path, "jax", accept=("activation",))
    np.testing.assert_array_equal(values(model)["head/bias"], jax_arrays()["head/bias"])


def test_only_conventions_can_be_accepted(tmp_path):
    path = write(tmp_path, jax_arrays())
    for name in ("width", "gelu"):
        with pytest.raises(ValueError, match=f"`accept` may hold activation, .*'{name}'"):
            weights.load(fitting_model(), path, "jax", accept=(name,))


def test_every_convention_is_a_field():
    assert set(weights.CONVENTIONS) <= set(vars(ViTConfig()))


def test_a_start_value_is_no_convention(tmp_path):
    """LayerScale's start value does not matter where the weights fill it."""
    model = create_model("vit_ti16", **SIZES, image_size=20, patch_size=4, layer_scale=0.5)
    weights.save(model, tmp_path / "model", "timm")
    other = create_model("vit_ti16", **SIZES, image_size=20, patch_size=4, layer_scale=0.1)
    weights.load(other, tmp_path / "model")
    np.testing.assert_array_equal(values(other)["block_0/scale1/gamma"], np.full(24, 0.5, "f4"))
