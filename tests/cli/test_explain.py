"""`keras-vit explain`."""

import io

import numpy as np
import pytest
from PIL import Image

from keras_vit.cli.explain import explained


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


def test_a_picture_of_an_unknown_kind_is_an_error(cli, digits, model, tmp_path):
    image = sorted((digits / "3").iterdir())[0]
    result = cli("explain", model, image, "--out", tmp_path / "x.unknown")
    assert result.exit_code == 1
    assert "unknown" in result.stderr
    assert not (tmp_path / "x.unknown").exists()
