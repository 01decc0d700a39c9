import numpy as np
from PIL import Image

from keras_vit.runtime.detector import open_detector
from tests.cli.coco_squares import write_squares
from tests.tiny_detector import tiny_detector


def test_boxes_are_told_and_drawn(cli, tmp_path):
    write_squares(tmp_path)
    model = tiny_detector()
    model.save(tmp_path / "detector.keras")
    (found,) = open_detector(model).detect_files([tmp_path / "0.png"], least=0.3, most=2)
    assert len(found) == 2
    drawn = tmp_path / "new" / "drawn.png"
    arguments = ("predict", tmp_path / "detector.keras", tmp_path / "0.png")
    result = cli(*arguments, "--top", "2", "--out", drawn)
    assert result.exit_code == 0, result.output
    left, top, right, bottom = np.round(found.boxes[0] * [50, 40, 50, 40]).astype(int)
    assert f"{left}, {top}, {right}, {bottom}" in result.stdout
    assert f"{100 * found.scores[0]:.1f} %" in result.stdout
    with Image.open(drawn) as picture, Image.open(tmp_path / "0.png") as before:
        assert picture.size == before.size
        assert (np.asarray(picture) != np.asarray(before)).any()
    result = cli(*arguments, tmp_path / "1.png", "--out", tmp_path / "all")
    assert result.exit_code == 0 and (tmp_path / "all" / "1.png").is_file()
    result = cli(*arguments, tmp_path / "1.png", "--out", tmp_path / "one.png")
    assert result.exit_code != 0 and "must be a folder for 2 images" in result.output
