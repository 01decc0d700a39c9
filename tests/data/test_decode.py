import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.data import decode, fit
from keras_vit.layers import Preprocessing
from tests.data.pictures import as_rgb, encode, noise, smooth

RGB = noise(13, 17, 3)
RGBA = noise(13, 17, 4)


def indexed():
    return Image.fromarray(RGB).quantize(16)


FILES = {
    "jpeg": encode(RGB, "JPEG"),
    "jpeg smooth": encode(smooth(61, 47), "JPEG", quality=83),
    "jpeg 4:2:0 progressive": encode(smooth(61, 47), "JPEG", progressive=True, subsampling=2),
    "jpeg grey": encode(RGB[..., 0], "JPEG"),
    "png": encode(RGB, "PNG"),
    "png 1x1": encode(RGB[:1, :1], "PNG"),
    "png grey": encode(RGB[..., 0], "PNG"),
    "png grey and alpha": encode(RGBA[..., :2], "PNG"),
    "png alpha": encode(RGBA, "PNG"),
    "png palette": encode(indexed(), "PNG"),
    "png palette of 4 bits": encode(indexed(), "PNG", bits=4),
    "png palette and alpha": encode(indexed(), "PNG", transparency=3),
    "png bits": encode(Image.fromarray(RGB).convert("1"), "PNG"),
    "gif": encode(indexed(), "GIF"),
    "gif animated": encode(
        indexed(), "GIF", save_all=True, append_images=[Image.fromarray(RGB[::-1]).quantize(16)]
    ),
    "bmp": encode(RGB, "BMP"),
    "bmp grey": encode(RGB[..., 0], "BMP"),
    "webp lossless": encode(RGB, "WEBP", lossless=True),
    "webp lossless alpha": encode(RGBA, "WEBP", lossless=True, exact=True),
    "webp": encode(smooth(61, 47), "WEBP"),
}


@pytest.fixture(scope="module")
def in_graph():
    spec = tf.TensorSpec([], tf.string)
    return {
        channels: tf.function(lambda b, c=channels: decode(b, c), input_signature=[spec])
        for channels in (1, 3)
    }


@pytest.mark.parametrize("kind", FILES)
def test_pixels_are_pillows(kind, in_graph):
    expected = as_rgb(FILES[kind])
    got = in_graph[3](FILES[kind])
    assert got.dtype == tf.uint8
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", FILES)
def test_grey_is_pillows(kind, in_graph):
    expected = np.asarray(Image.fromarray(as_rgb(FILES[kind])).convert("L"))
    np.testing.assert_array_equal(in_graph[1](FILES[kind])[..., 0], expected)


def test_grey_stays_as_it_is(in_graph):
    np.testing.assert_array_equal(in_graph[1](FILES["png grey"])[..., 0], RGB[..., 0])


def test_16_bit_keeps_the_high_byte(in_graph):
    deep = noise(13, 17, dtype="uint16")
    encoded = encode(deep, "PNG")
    assert Image.open(io.BytesIO(encoded)).mode.startswith("I")
    np.testing.assert_array_equal(in_graph[1](encoded)[..., 0], deep >> 8)


def test_cmyk_is_pillows(in_graph):
    encoded = encode(Image.fromarray(RGB).convert("CMYK"), "JPEG")
    difference = in_graph[3](encoded).numpy().astype(int) - as_rgb(encoded)
    assert np.abs(difference).max() <= 1


def test_the_default_dct_would_not_do():
    """Why the JPEG op is given its method; if this fails the argument is no longer needed."""
    encoded = encode(noise(64, 64, 3), "JPEG")
    fast = tf.io.decode_jpeg(encoded, channels=3, dct_method="INTEGER_FAST").numpy()
    assert np.abs(fast.astype(int) - as_rgb(encoded)).max() > 0


def test_eager_and_static_channels():
    assert decode(FILES["png alpha"], 3).shape == (13, 17, 3)
    graph = tf.function(lambda b: decode(b, 1)).get_concrete_function(tf.TensorSpec([], tf.string))
    assert graph.structured_outputs.shape.as_list() == [None, None, 1]


@pytest.mark.parametrize(
    "encoded",
    [b"", b"x", b"just some text, not an image at all", FILES["jpeg"][:300], FILES["png"][:-3]],
    ids=["empty", "one byte", "text", "jpeg cut short", "png cut short"],
)
def test_broken_bytes_raise(encoded, in_graph):
    with pytest.raises(tf.errors.InvalidArgumentError):
        in_graph[3](encoded)


def test_an_animated_webp_is_refused_before_the_decoder_crashes(in_graph):
    frames = [Image.fromarray(RGB[::-1])]
    encoded = encode(RGB, "WEBP", save_all=True, append_images=frames)
    with pytest.raises(tf.errors.InvalidArgumentError, match="animated WebP"):
        in_graph[3](encoded)


def test_channels_are_checked():
    with pytest.raises(ValueError, match="`channels` must be 1 or 3.*Received: 4"):
        decode(FILES["png"], 4)


@pytest.mark.parametrize("kind", ["jpeg smooth", "jpeg turned", "jpeg grey", "png alpha", "gif"])
def test_a_window_is_a_part_of_the_whole(kind):
    files = dict(FILES)
    exif = Image.Exif()
    exif[0x0112] = 6
    files["jpeg turned"] = encode(smooth(61, 47), "JPEG", exif=exif)
    whole = decode(files[kind]).numpy()
    height, width = whole.shape[:2]
    cases = [(0, 0, height, width), (3, 5, 7, 6), (height - 4, width - 9, 4, 9), (1, 0, 1, width)]
    for top, left, high, wide in cases:
        seen = []

        def window(size, part=(top, left, high, wide), seen=seen):
            seen.append(np.array(size).tolist())
            return tf.constant(part)

        got = decode(files[kind], 3, window).numpy().astype(int)
        assert seen == [[height, width]]
        expected = whole[top : top + high, left : left + wide]
        # libjpeg smooths colours from the neighbours that it decoded: at the sides it has fewer.
        assert got.shape == expected.shape and np.abs(got - expected)[:, 1:-1].max(initial=0) <= 2
        assert np.abs(got - expected).max() <= (16 if kind == "jpeg smooth" else 0)


RESAMPLING = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "nearest": Image.Resampling.NEAREST,
}


@pytest.mark.parametrize("interpolation", RESAMPLING)
@pytest.mark.parametrize("shape", [(61, 47), (23, 89), (7, 5), (1, 1), (32, 24)])
def test_squash_is_pillows_resize(shape, interpolation):
    picture = smooth(*shape)
    value = Preprocessing(image_size=(32, 24), interpolation=interpolation)
    got = fit(tf.constant(picture), value)
    expected = Image.fromarray(picture).resize((24, 32), RESAMPLING[interpolation])
    assert got.dtype == tf.float32 and got.shape == (32, 24, 3)
    assert np.abs(got.numpy() - np.asarray(expected, "float32")).max() <= 1


@pytest.mark.parametrize("interpolation", RESAMPLING)
@pytest.mark.parametrize("shape", [(61, 47), (47, 61), (90, 45), (7, 5), (1, 1)])
@pytest.mark.parametrize("crop", [1.0, 0.875])
def test_crop_is_the_centre_of_pillows_resize(shape, crop, interpolation):
    picture = smooth(*shape)
    value = Preprocessing(image_size=28, resize="crop", crop=crop, interpolation=interpolation)
    short = int(28 / crop)
    high, wide = (short * side // min(shape) for side in shape)
    resized = Image.fromarray(picture).resize((wide, high), RESAMPLING[interpolation])
    top, left = round((high - 28) / 2), round((wide - 28) / 2)
    expected = np.asarray(resized, "float32")[top : top + 28, left : left + 28]
    assert np.abs(fit(tf.constant(picture), value).numpy() - expected).max() <= 1


def test_crop_to_a_rectangle_covers_it():
    value = Preprocessing(image_size=(10, 30), resize="crop")
    got = fit(tf.constant(smooth(50, 50)), value).numpy()
    resized = np.asarray(Image.fromarray(smooth(50, 50)).resize((30, 30), 2), "float32")
    assert np.abs(got - resized[10:20]).max() <= 1


def test_a_long_thin_picture_needs_no_memory():
    value = Preprocessing(image_size=224, resize="crop")
    assert fit(tf.zeros([1, 30_000, 3], tf.uint8), value).shape == (224, 224, 3)


def test_levels_are_whole_and_in_range():
    checks = np.uint8(255 * (np.indices((12, 12)).sum(0) % 2))[..., None]
    for interpolation in ("bilinear", "bicubic"):
        value = Preprocessing(32, interpolation=interpolation, mean=(0.5,), std=(0.5,))
        got = fit(tf.constant(checks), value).numpy()
        assert got.min() >= 0 and got.max() <= 255
        np.testing.assert_array_equal(got, np.round(got))


def test_an_image_of_the_right_size_is_left_alone():
    value = Preprocessing(image_size=(13, 17))
    np.testing.assert_array_equal(fit(tf.constant(RGB), value), RGB)
