import json
from pathlib import Path

import pytest

from keras_vit.cli.recorded_speed import draw_growth, files_table, memory_table, speed_table

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "training" / "results"


def cost(seconds, mebibytes=1):
    return {"seconds": seconds, "bytes": mebibytes * 2**20}


FIGURES = {
    "rows": [
        {
            "model": "vit_ti16",
            "batch": 8,
            "dtype": "float32",
            "call": call,
            "keras_vit": cost(0.5, 1200),
            "timm": cost(0.4, 7),
            "timm_compiled": cost(0.25, 5),
            "keras_hub": cost(1.0, 9),
            "share": 0.875,
        }
        for call in ("inference", "training step")
    ]
    + [
        {
            "model": "vit_ti16",
            "batch": 1,
            "dtype": "dynamic int8",
            "call": "file",
            "tflite": cost(0.01234),
            "onnxruntime": cost(0.02),
        }
    ]
}


def test_a_ratio_above_one_is_a_gain():
    line = speed_table(FIGURES).splitlines()[2]
    assert line == "| inference, vit_ti16, float32, batch 8 | 16.0 | 0.80 | 0.50 | 2.00 | 88% |"


def test_memory_is_in_mebibytes():
    line = memory_table(FIGURES).splitlines()[2]
    assert line == "| vit_ti16, float32, batch 8 | 1,200 | 7 | 5 | 9 |"


def test_an_engine_that_has_no_such_file_is_left_open():
    assert files_table(FIGURES).splitlines()[2] == (
        "| vit_ti16, dynamic int8 |  | 12.3 | 20.0 |  |"
    )


@pytest.mark.parametrize("table", [speed_table, memory_table, files_table])
def test_the_readme_shows_what_was_recorded(table):
    figures = json.loads((RESULTS / "speed.json").read_text())
    assert table(figures) in (ROOT / "README.md").read_text("utf-8")


def test_both_pictures_are_drawn(tmp_path):
    rows = [
        {"grows": what, "value": value, "keras_vit": cost(value), "keras_hub": cost(2 * value)}
        for what in ("batch_size", "image_size", "depth", "width")
        for value in (1, 2, 4)
    ]
    law = {name: {"seconds": 1.0, "bytes": 1.0} for name in ("keras_vit", "keras_hub")}
    exponents = {row["grows"]: law for row in rows}
    paths = draw_growth({"rows": rows, "exponents": exponents}, tmp_path)
    assert [path.name for path in paths] == ["growth_seconds.png", "growth_bytes.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
