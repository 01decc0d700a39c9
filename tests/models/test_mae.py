import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.models import MAE, NAMES, MAEConfig
from keras_vit.objectives import MaskedPixelLoss
from tests.models.test_family_parameters import count

SIZES = {"image_size": (8, 12), "patch_size": 4, "channels": 2, "width": 12, "depth": 2}
SIZES |= {"num_heads": 3, "mlp_dim": 10, "decoder_width": 8, "decoder_depth": 1}
SIZES |= {"decoder_num_heads": 2, "decoder_mlp_dim": 12, "mask_ratio": 0.5}
IMAGES = np.random.default_rng(2).normal(size=(3, 8, 12, 2)).astype("float32")


def small(dtype=None, **fields):
    model = MAE(MAEConfig(**{**SIZES, **fields}), dtype=dtype)
    random = np.random.default_rng(6)
    for weight in model.trainable_weights:
        weight.assign(random.normal(size=weight.shape) * 0.3 + (weight.name == "gamma"))
    return model


@pytest.mark.parametrize(
    ("name", "trainable"),
    [("mae_b16", 111_655_680), ("mae_l16", 329_239_296), ("mae_h14", 656_613_964)],
)
def test_published_sizes(name, trainable):
    assert count(name) == trainable
    config = MAEConfig(**NAMES[name][1])
    assert config.keep == {16: 49, 14: 64}[config.patch_size[0]]


def test_what_is_seen_alone_decides():
    """Pixels of a masked patch change the target and nothing else."""
    model = small()
    noise = np.random.default_rng(1).permuted(np.tile(np.arange(6.0), (3, 1)), axis=1)
    noise = noise.astype("float32")
    one = model.painted(IMAGES, noise)
    mask = np.array(one["mask"])
    assert mask.sum(axis=1).tolist() == [3, 3, 3]
    np.testing.assert_array_equal(mask, noise >= 3)
    patches = np.array(one["patches"])
    changed = patches + 7 * mask[..., None]
    pixels = changed.reshape(3, 2, 3, 4, 4, 2).transpose(0, 1, 3, 2, 4, 5).reshape(IMAGES.shape)
    other = model.painted(pixels, noise)
    np.testing.assert_array_equal(one["painted"], other["painted"])
    np.testing.assert_allclose(other["patches"], changed, atol=1e-6)
    unmasked = model.painted(IMAGES + 1, noise)
    assert np.abs(np.array(unmasked["painted"] - one["painted"])).max() > 1e-3


def test_the_encoder_is_a_vit():
    """With all patches seen in their order, a ViT of the same weights gives the same tokens."""
    model = small(mask_ratio=0.1)
    assert model.config.keep == 5
    vit = model.vit(num_classes=4)
    noise = np.tile(np.arange(6, dtype="float32"), (3, 1))
    features = keras.Model(
        [model.input, model.get_layer("noise").output], model.get_layer("patch_encoder").output
    )
    tokens = features([IMAGES, noise])
    np.testing.assert_allclose(
        vit.get_layer("patch_encoder")(vit.get_layer("patches")(IMAGES)), tokens
    )
    for block in ("block_0", "block_1", "norm"):
        tokens = model.get_layer(block)(tokens)
    np.testing.assert_allclose(vit.features(IMAGES)["pooled"], tokens[:, 0], atol=1e-5)
    assert vit(IMAGES).shape == (3, 4)
    assert any(weight.path == "patch_encoder/position" for weight in vit.trainable_weights)


def test_a_vit_for_fine_tuning_has_a_new_norm():
    model = small()
    vit = model.vit(num_classes=4, pooling="gap_then_norm", drop_path=0.1)
    np.testing.assert_array_equal(vit.get_layer("norm").get_weights()[0], np.ones(12))
    ours, theirs = (m.get_layer("block_1").get_weights() for m in (model, vit))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("dtype", "jit"),
    [("float32", False), pytest.param("mixed_bfloat16", True, marks=pytest.mark.prove)],
)
def test_training_masks_anew_and_learns(dtype, jit):
    model = small(dtype)
    one, other = (np.array(model(IMAGES, training=True)["mask"]) for _ in range(2))
    assert (one != other).any()
    np.testing.assert_array_equal(model(IMAGES)["mask"], model(IMAGES)["mask"])
    assert model(IMAGES)["painted"].dtype == "float32"
    model.compile(keras.optimizers.Adam(0.01), MaskedPixelLoss(), jit_compile=jit)
    before = model.evaluate(IMAGES, verbose=0)
    fixed = [w.numpy() for w in model.non_trainable_weights]
    model.fit(IMAGES, epochs=40, verbose=0)
    assert model.evaluate(IMAGES, verbose=0) < 0.8 * before
    for weight, value in zip(model.non_trainable_weights, fixed, strict=True):
        np.testing.assert_array_equal(weight, value)


def test_saved_and_loaded(tmp_path):
    model = small()
    model.save(tmp_path / "mae.keras")
    again = keras.models.load_model(tmp_path / "mae.keras")
    for key, value in model(IMAGES).items():
        np.testing.assert_array_equal(again(IMAGES)[key], value)


@pytest.mark.parametrize("ratio", [0, 1, 0.0, 1.0, -0.1, 1.5, 0.9])
def test_a_ratio_that_leaves_nothing(ratio):
    with pytest.raises(ValueError, match=f"`mask_ratio` must be in .*mask_ratio={ratio}, for 6 pa"):
        MAEConfig(**{**SIZES, "mask_ratio": ratio})


def test_every_weight_gets_a_gradient():
    model = small()
    with tf.GradientTape() as tape:
        loss = MaskedPixelLoss()(None, model(IMAGES, training=True))
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    for weight, gradient in zip(model.trainable_weights, gradients, strict=True):
        assert gradient is not None and np.abs(gradient).max() > 0, weight.path
