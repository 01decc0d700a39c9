import json
from pathlib import Path

from keras_vit.cli.recorded_serving import serving_table

ROOT = Path(__file__).parents[2]


def test_a_line_of_the_table():
    part = {
        "answers_per_second": 149.6, "p50_ms": 364.4, "p99_ms": 952.9, "images_a_batch": 12.34,
        "answered": 1529, "refused": 6016, "wrong": 1, "failed": 2, "lost": -4,
    }  # fmt: skip
    names = ("batched", "one_by_one", "short_queue")
    table = serving_table({"short_queue_holds": 4, **dict.fromkeys(names, part)})
    assert table.splitlines()[-1] == (
        "| a queue of 4 | 150 | 364 ms | 953 ms | 12.3 | 1,529 | 6,016 | 7 |"
    )


def test_the_readme_shows_what_was_recorded():
    figures = json.loads((ROOT / "training" / "results" / "serving.json").read_text())
    assert serving_table(figures) in (ROOT / "README.md").read_text("utf-8")
