import dataclasses

import numpy as np
import pytest
from keras import ops

from keras_vit.layers import Preprocessing

FULL = Preprocessing(
    image_size=(6, 15),
    resize="crop",
    crop=0.875,
    interpolation="bicubic",
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
    class_names=("Äpfel", "梨", '"quoted"'),
    probabilities="sigmoid",
)


def test_round_trip():
    assert Preprocessing.from_json(FULL.to_json()) == FULL
    assert "Äpfel" in FULL.to_json()
    assert Preprocessing.from_json(Preprocessing().to_json()) == Preprocessing()


def test_it_is_a_value():
    assert hash(FULL) == hash(dataclasses.replace(FULL))
    assert Preprocessing(image_size=[6, 15], mean=[0], std=[1]) == Preprocessing(
        image_size=(6, 15), mean=(0.0,), std=(1.0,)
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        FULL.crop = 1.0


def test_a_clip_has_frames():
    assert Preprocessing().shape == (224, 224, 3)
    clip = Preprocessing(image_size=(4, 6), mean=(0.5,), std=(0.5,), frames=5, stride=2)
    assert clip.shape == (5, 4, 6, 1)
    for wrong in ({"frames": -1}, {"stride": 0}):
        with pytest.raises(ValueError, match="`frames` must be at least 0 and `stride`"):
            Preprocessing(**wrong)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64"])
def test_normalize_against_numpy(dtype):
    pixels = np.random.default_rng(3).integers(0, 256, (2, 5, 7, 3)).astype(dtype)
    expected = (pixels.astype("float64") / 255 - np.array(FULL.mean)) / np.array(FULL.std)
    ours = ops.convert_to_numpy(FULL.normalize(pixels))
    assert ours.dtype == "float32"
    np.testing.assert_allclose(ours, expected, atol=2e-6)


@pytest.mark.parametrize("channels", [1, 4, 7])
def test_any_channels(channels):
    value = Preprocessing(mean=(0.25,) * channels, std=(0.5,) * channels)
    assert value.channels == channels
    pixels = np.full((1, 2, 3, channels), 255, "uint8")
    np.testing.assert_allclose(value.normalize(pixels), np.full(pixels.shape, 1.5), atol=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"resize": "pad"}, r"`resize` must be one of \('squash', 'crop'\). Received: 'pad'"),
        ({"interpolation": "area"}, r"`interpolation` must be one of .* Received: 'area'"),
        ({"probabilities": "tanh"}, r"`probabilities` must be one of .* Received: 'tanh'"),
        ({"crop": 0}, r"`crop` must be in \(0, 1\]. Received: 0"),
        ({"crop": 1.1}, r"`crop` must be in \(0, 1\]. Received: 1.1"),
        ({"mean": (0.5,)}, "`mean` and `std` must have one value a channel"),
        ({"std": (0.5, 0.0, 0.5)}, "`std` above zero"),
        ({"mean": (), "std": ()}, "`mean` and `std` must have one value a channel"),
        ({"image_size": 0}, "`image_size` must be a positive integer"),
    ],
)
def test_errors(fields, message):
    with pytest.raises(ValueError, match=message):
        Preprocessing(**fields)
