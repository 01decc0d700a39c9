import numpy as np
import pytest
from PIL import Image, ImageColor

from keras_vit.explain.boxes import COLOURS, draw_boxes

BOX = [0.25, 0.5, 0.75, 0.9]


def test_the_box_is_drawn_around_what_it_holds():
    picture = np.zeros((200, 400, 3), "uint8")
    drawn = np.asarray(draw_boxes(picture, [BOX], ["cat 90 %"], [2]))
    assert drawn.shape == picture.shape and not picture.any()
    edge = (drawn == ImageColor.getrgb(COLOURS[2])).all(axis=-1)
    rows, columns = np.flatnonzero(edge[:, 300 - 1]), np.flatnonzero(edge[150])
    assert rows[0] == 100 and rows[-1] == 179
    assert columns[0] == 100 and columns[-1] == 299
    assert not drawn[120:170, 110:290].any()  # nothing inside
    assert edge[70:100, 100:160].any()  # the caption, above


def test_captions_stay_in_the_picture():
    corners = [[0, 0, 0.1, 0.1], [0.9, 0.9, 1, 1], [0.95, 0, 1, 0.02]]
    drawn = np.asarray(draw_boxes(Image.new("RGB", (120, 90)), corners, ["a long name 99 %"] * 3))
    assert drawn.any() and drawn.shape == (90, 120, 3)


def test_the_surest_is_on_top():
    drawn = np.asarray(draw_boxes(np.zeros((60, 60, 3), "uint8"), [BOX, BOX], ["", ""], [0, 1]))
    assert (drawn[40, 15] == ImageColor.getrgb(COLOURS[0])).all()


def test_nothing_found_leaves_the_picture():
    picture = np.full((8, 8, 3), 7, "uint8")
    np.testing.assert_array_equal(draw_boxes(picture, np.zeros((0, 4)), []), picture)


def test_one_caption_a_box():
    with pytest.raises(ValueError, match="a text for each box. Received: 0 for 1"):
        draw_boxes(np.zeros((8, 8, 3), "uint8"), [BOX], [])
