import json

from keras_vit.data import open_data
from keras_vit.runtime.detector import open_detector
from keras_vit.training.box_evaluation import evaluate_boxes
from tests.cli.coco_squares import write_squares
from tests.tiny_detector import tiny_detector


def test_a_table_a_class_and_the_numbers_as_json(cli, tmp_path):
    data, model = write_squares(tmp_path), tiny_detector()
    model.save(tmp_path / "detector.keras")
    result = cli("evaluate", tmp_path / "detector.keras", data, "--json", tmp_path / "n.json")
    assert result.exit_code == 0, result.output
    assert "6 images, 6 boxes: mAP" in result.stdout and "dog" in result.stdout
    expected = evaluate_boxes(open_detector(model), open_data(data)).summary()
    assert json.loads((tmp_path / "n.json").read_text()) == expected
    result = cli("evaluate", tmp_path / "detector.keras", data, "--html", tmp_path / "p.html")
    assert result.exit_code != 0 and "takes boxes: leave it out" in result.output
