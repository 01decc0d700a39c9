"""`keras-vit explain`."""

import io

import numpy as np
import pytest
from PIL import Image

from keras_vit import create_model
from keras_vit.cli.explain import METHODS, explained
from keras_vit.data import decode, fit
from keras_vit.explain import nearest, overlay, relevance, rollout
from keras_vit.layers import Preprocessing
from keras_vit.models import DynamicViT, merge_tokens


def test_the_picture_and_its_map_side_by_side(cli, digits, model, tmp_path):
    file = tmp_path / "explained.png"
    result = cli("explain", model, sorted((digits / "3").iterdir())[0], "--out", file)
    assert result.exit_code == 0, result.output
    assert result.stdout.rstrip().endswith(f"Written to {file}")
    with Image.open(file) as picture:
        assert picture.size == (896, 448)


@pytest.mark.parametrize("size", [(600, 500), (1, 1)])
def test_a_picture_keeps_its_resolution_or_is_enlarged(network, size):
    file = io.BytesIO()
    Image.new("RGBA", size, (200, 10, 10, 128)).save(file, "PNG")
    picture = explained(network, file.getvalue())
    factor = max(1, 448 // max(size))
    assert picture.shape == (size[1] * factor, 2 * size[0] * factor, 3)
    # Its own colours on the left, on white where it is transparent.
    assert np.ptp(picture[0, 0].astype(int)) > 50


@pytest.mark.parametrize(("method", "heat_of"), [("rollout", rollout), ("relevance", relevance)])
def test_the_map_is_that_of_the_method(network, digits, method, heat_of):
    encoded = sorted((digits / "5").iterdir())[0].read_bytes()
    picture = explained(network, encoded, method)
    seen = picture[:, : picture.shape[1] // 2]
    pixels = fit(decode(encoded, 1), network.preprocessing)
    heat = heat_of(network, network.preprocessing.normalize(pixels[None]))[0]
    np.testing.assert_array_equal(picture[:, picture.shape[1] // 2 :], overlay(seen, heat))


def test_attention_has_a_picture_a_head_and_pca_a_colour_a_patch(network, digits):
    encoded = sorted((digits / "5").iterdir())[0].read_bytes()
    first, last = (explained(network, encoded, "attention", f"block_{i}") for i in (0, 1))
    assert first.shape == last.shape and (first != last).any()
    assert first.shape[0] > first.shape[1] - 60  # 3 heads and the picture: two rows of two
    colours = explained(network, encoded, "pca")[:, 448:]
    assert colours.shape == (448, 448, 3)
    patches = colours.reshape(4, 112, 4, 112, 3)
    assert (patches == patches[:, :1, :, :1]).all() and len(np.unique(colours)) > 9


def test_patches_shows_what_is_kept_or_merged(network, digits):
    encoded = sorted((digits / "5").iterdir())[0].read_bytes()
    merged = explained(merge_tokens(network, 3), encoded, "patches")
    assert merged.shape == (224, 448, 3) and (merged[:, :224] != merged[:, 224:]).any()
    dynamic = DynamicViT.from_image_model(network, stage_blocks=(0, 1), keep_ratios=0.5)
    sheet = explained(dynamic, encoded, "patches")
    assert sheet.shape == (2 * 246 + 6, 2 * 230 + 6, 3)  # the picture and two stages
    with pytest.raises(ValueError, match="must merge tokens"):
        explained(network, encoded, "patches")


def test_neighbours_come_by_falling_cosine(cli, network, model, digits, tmp_path):
    files, file = sorted((digits / "5").iterdir()), tmp_path / "sheet.png"
    options = ("--method", "neighbours", "--data", digits / "5", "--out", file)
    result = cli("explain", model, files[2], *options)
    assert result.exit_code == 0, result.output
    with Image.open(file) as written:
        picture = np.asarray(written)
    images = [fit(decode(path.read_bytes(), 1), network.preprocessing) for path in files]
    features = network.features(network.preprocessing.normalize(np.stack(images)))["pooled"]
    (order,), (cosines,) = nearest(np.asarray(features)[2:3], np.asarray(features), 8)
    assert order[0] == 2 and cosines[0] == pytest.approx(1)
    # The picture itself, then all eight, in rows of three.
    for place, index in enumerate([2, *order]):
        top, left = 6 + place // 3 * (224 + 16 + 6), 6 + place % 3 * (224 + 6)
        tile = fit(decode(files[index].read_bytes(), 3), Preprocessing(224))
        np.testing.assert_array_equal(picture[top : top + 224, left : left + 224], tile)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "rolout"), f"must be one of {', '.join(METHODS)}, neighbours."),
        (("--block", "block_0"), "`--block` is for the methods attention and pca"),
        (("--method", "neighbours"), "`--data` names the folder"),
        (("--data", "x"), "`--data` names the folder"),
        (("--method", "attention", "--block", "block_9"), "one of block_0, block_1."),
    ],
)
def test_wrong_options_are_plain_errors(cli, digits, model, tmp_path, options, message):
    image = sorted((digits / "3").iterdir())[0]
    result = cli("explain", model, image, "--out", tmp_path / "x.png", *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert not (tmp_path / "x.png").exists()


def test_a_model_without_classes_says_none(cli, digits, tmp_path):
    image = sorted((digits / "3").iterdir())[0]
    fields = dict(width=12, depth=1, num_heads=2, mlp_dim=8, image_size=28)
    create_model("dinov2_s14", **fields).save(tmp_path / "m.keras")
    file = tmp_path / "x.png"
    result = cli("explain", tmp_path / "m.keras", image, "--method", "pca", "--out", file)
    assert result.stdout.strip() == f"Written to {file}", result.output


def test_a_picture_of_an_unknown_kind_is_an_error(cli, digits, model, tmp_path):
    image = sorted((digits / "3").iterdir())[0]
    result = cli("explain", model, image, "--out", tmp_path / "x.unknown")
    assert result.exit_code == 1
    assert "unknown" in result.stderr
    assert not (tmp_path / "x.unknown").exists()
