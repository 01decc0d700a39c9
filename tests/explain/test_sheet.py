"""Where pictures and captions lie on a sheet."""

import numpy as np
import pytest

from keras_vit.explain.sheet import GAP, LINE, sheet


def test_pictures_lie_row_by_row_on_white():
    pictures = [np.full((20, 30), 10 * number, "uint8") for number in range(5)]
    canvas = sheet(pictures, ["", "", "", "x", ""])
    height, width = 20 + LINE + GAP, 30 + GAP
    assert canvas.shape == (2 * height + GAP, 3 * width + GAP, 3)  # 3 columns, 2 rows
    for number in range(5):
        top, left = number // 3 * height + GAP, number % 3 * width + GAP
        assert (canvas[top : top + 20, left : left + 30] == 10 * number).all()
        caption = canvas[top + 20 : top + 20 + LINE, left : left + 30]
        assert (caption.min() < 128) == (number == 3)
    assert (canvas[:GAP] == 255).all() and (canvas[:, :GAP] == 255).all()
    assert (canvas[height + GAP :, 2 * width + GAP :] == 255).all()


def test_columns_may_be_given_and_any_name_is_written():
    picture = np.zeros((4, 9, 3), "uint8")
    assert sheet([picture] * 3, ["蝶", "a" * 99, ""], columns=1).shape[1] == 9 + 2 * GAP


@pytest.mark.parametrize("pictures", [[], [np.zeros((2, 2)), np.zeros((2, 3))]])
def test_pictures_of_one_size_are_needed(pictures):
    with pytest.raises(ValueError, match="one picture or more, of one size"):
        sheet(pictures, [""] * len(pictures))
