import json
from pathlib import Path

from keras_vit.cli.recorded_npu import npu_table

ROOT = Path(__file__).parents[2]

TIMES = {"ethos-u55": 30.0, "ethos-u65": 20.25, "ethos-u85": 4.0}


def compiled(share, blockers):
    return {
        target: {"operators": 77, "share": share, "blockers": blockers, "milliseconds": time}
        for target, time in TIMES.items()
    }


def test_a_row_for_each_model():
    models = {"vit_ti16": compiled(1.0, {}), "swin_t": compiled(0.976, {"MEAN": 5})}
    head, _, *rows = npu_table({"models": models}).strip().splitlines()
    assert head.startswith("| int8 file | operators | on the NPU")
    assert rows[0] == "| vit_ti16 | 77 | 100.0 % | nothing | 30.0 | 20.2 | 4.0 |"
    assert "97.6 % | 5 MEAN |" in rows[1]


def test_the_readme_shows_what_was_recorded():
    figures = json.loads((ROOT / "training" / "results" / "npu.json").read_text())
    assert npu_table(figures).strip() in (ROOT / "README.md").read_text("utf-8")
    left = {
        (name, target): found["blockers"]
        for name, targets in figures["models"].items()
        for target, found in targets.items()
        if found["share"] < 1
    }
    one = {"TRANSPOSE": 1}
    assert left == {("swin_t", "ethos-u55"): one, ("swin_t", "ethos-u65"): one}
