import json
import subprocess
import sys
from pathlib import Path

import pytest

from keras_vit.cli import recording

ROOT = Path(__file__).parents[2]


def test_a_row_is_written_with_its_machine(tmp_path, monkeypatch):
    monkeypatch.setitem(recording.ROWS, "row", lambda work: {"accuracy": 0.5, "work": str(work)})
    path = recording.record_row("row", tmp_path / "results", work=tmp_path / "work")
    record = json.loads(path.read_text())
    assert path == tmp_path / "results" / "row.json"
    assert (record["row"], record["accuracy"]) == ("row", 0.5)
    assert record["work"] == str(tmp_path / "work" / "row")
    assert record["machine"].keys() == {
        "processor", "cores", "python", "keras", "tensorflow", "numpy",
    }  # fmt: skip


def test_the_entry_file_lists_the_rows():
    done = subprocess.run(
        [sys.executable, ROOT / "training" / "record.py", "nothing"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    assert "Name a row, one of: fashion_mnist" in done.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "training" / "results").glob("*.json")), ids=str)
def test_every_recorded_result_belongs_to_a_row(path):
    assert json.loads(path.read_text())["row"] == path.stem
    assert path.stem in recording.ROWS
