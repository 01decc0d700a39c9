import dataclasses

import numpy as np
import pytest
from keras import ops

from keras_vit import create_model
from keras_vit.models import TimeSformer, TimeSformerConfig, ViT, ViTConfig
from keras_vit.models.timesformer import NAMES, SPACE_TIME
from tests.contract.cases import SMALL, TIMESFORMER
from tests.contract.test_contract import randomised

SIZES = {**SMALL, "image_size": (4, 9), "depth": 2}
CLIPS = np.random.default_rng(5).normal(size=(2, 3, 4, 9, 5)).astype("float32")
HEADS = ("head/kernel", "head/bias")


def made(**fields):
    return randomised(TimeSformer(TimeSformerConfig(**{**SIZES, "frames": 3, **fields})))


def logits(model, clips):
    return ops.convert_to_numpy(model(clips, training=False))


@pytest.mark.parametrize("space_time", SPACE_TIME)
def test_what_can_tell_time(space_time):
    """Only with a table of time, or attention over it, does the order of the frames matter."""
    model, reversed_clips = made(space_time=space_time), CLIPS[:, ::-1]
    forward, backward = logits(model, CLIPS), logits(model, reversed_clips)
    if space_time == "space_only":
        np.testing.assert_allclose(forward, backward, atol=1e-5)
    else:
        assert np.abs(forward - backward).max() > 1e-2
    if space_time != "space_only":
        # Without the table no attention can: it sees a set.
        time = model.get_layer("patch_encoder").time
        time.assign(ops.zeros_like(time))
        np.testing.assert_allclose(logits(model, CLIPS), logits(model, reversed_clips), atol=1e-5)


@pytest.mark.parametrize("space_time", ["divided", "space_only"])
def test_from_an_image_model_a_clip_of_one_picture_is_the_picture(space_time):
    image_model = randomised(ViT(ViTConfig(**SIZES)))
    video = TimeSformer.from_image_model(image_model, frames=3, space_time=space_time)
    pictures = CLIPS[:, 0]
    clips = np.repeat(pictures[:, None], 3, axis=1)
    np.testing.assert_allclose(logits(video, clips), logits(image_model, pictures), atol=2e-6)
    assert video.config.frames == video.preprocessing.frames == 3
    assert dataclasses.replace(video.preprocessing, frames=0) == image_model.preprocessing


def test_from_an_image_model_attention_over_time_is_that_over_space():
    image_model = randomised(ViT(ViTConfig(**SIZES)))
    video = TimeSformer.from_image_model(image_model, frames=2, num_classes=3)
    weights = {weight.path: ops.convert_to_numpy(weight) for weight in video.weights}
    kernel = ops.convert_to_numpy(image_model.get_layer("block_1").attention.qkv.kernel)
    np.testing.assert_array_equal(weights["block_1/temporal_attention/qkv/kernel"], kernel)
    gamma = ops.convert_to_numpy(image_model.get_layer("block_1").norm1.gamma)
    np.testing.assert_array_equal(weights["block_1/temporal_norm/gamma"], gamma)
    for path in ("block_1/temporal_projection/kernel", "patch_encoder/time", *HEADS):
        assert not weights[path].any(), path
    assert video.output_shape == (None, 3)


def test_blocks_are_computed_twice():
    x = ops.convert_to_tensor(CLIPS)
    plain, remat = made(), made(remat=True)
    remat.set_weights(plain.get_weights())
    np.testing.assert_allclose(plain(x, training=True), remat(x, training=True), atol=1e-6)
    assert remat.get_layer("block_1").remat


def test_published_sizes():
    tiny = {"depth": 1, "width": 12, "num_heads": 2, "mlp_dim": 8, "image_size": 32}
    model = TimeSformer.from_variant("timesformer_hr_b16", **tiny)
    assert model.config == create_model("timesformer_hr_b16", **tiny).config
    assert model.input_shape == (None, 16, 32, 32, 3)
    assert [fields["frames"] for fields in NAMES.values()] == [8, 16, 96]
    with pytest.raises(ValueError, match="`variant` must be one of .*Received: 'L'"):
        TimeSformer.from_variant("L")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"frames": 0}, "`frames` must be an integer of at least 1. Received: frames=0"),
        ({"space_time": "time_only"}, "`space_time` must be one of .*Received: 'time_only'"),
        ({"registers": 2}, "a class token and no registers. Received: class_token=True, registers"),
        ({"position": "relative"}, "`position` 'relative' knows no time"),
        ({"attention": "performer"}, "the plain MLP and the softmax.*attention='performer'"),
        ({"class_token": False, "pooling": "gap"}, "has a class token .*class_token=False"),
        ({"mlp": "swiglu"}, "mlp='swiglu'"),
        ({"merged": 1}, "merges no tokens. Received: merged=\\(1"),
    ],
)
def test_what_does_not_fit(fields, message):
    with pytest.raises(ValueError, match=message):
        TimeSformerConfig(**{**TIMESFORMER, **fields})
