"""The notebook: stored with its pictures, and run from its first cell to its last."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "training" / "own_pictures.ipynb"


def code_cells():
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_it_is_stored_as_it_ran_with_its_pictures_and_small():
    assert NOTEBOOK.stat().st_size < 500_000
    cells = code_cells()
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert all(output["output_type"] in ("stream", "execute_result") for output in outputs)
    kinds = [kind for output in outputs for kind in output.get("data", {})]
    assert sum(kind.startswith("image/") for kind in kinds) >= 6


@pytest.mark.prove
def test_its_cells_run_in_a_new_folder(tmp_path):
    script = "\n\n".join("".join(cell["source"]) for cell in code_cells())
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # As the text beside it says: most are right, and the phone's file says what the model says.
    right, same = (
        float(line.split("%")[0].split()[-1])
        for line in (done.stdout.splitlines()[-1], done.stdout.split("as the model on")[1])
    )
    assert right > 85 and same > 97
    assert (tmp_path / "digits.tflite").stat().st_size < 1e6
