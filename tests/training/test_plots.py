import numpy as np
from PIL import Image

from keras_vit.training.plots import draw_curve


def test_a_picture_with_the_curves_colours_and_its_mark(tmp_path):
    x = np.array([1e-3, 1e-2, 1e-1])
    path = draw_curve(
        tmp_path / "new" / "curve.png", x, {"loss": [3, 2, 4], "smoothed": [3, 2.5, 3]},
        ("rate", "loss"), log_x=True, mark=(1e-2, "1e-2"),
    )  # fmt: skip
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 20)}
    assert {(0x0F, 0x76, 0x6E), (0xC4, 0xC9, 0xD0), (0xC2, 0x41, 0x0C)} <= colours
