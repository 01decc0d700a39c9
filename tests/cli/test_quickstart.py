"""The job of `make quickstart`, run as a newcomer runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.prove
def test_quickstart(tmp_path):
    folder = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, ROOT / "training" / "quickstart.py", "--out", folder],
        env=None,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    rows = {row["name"]: row for row in json.loads((folder / "results.json").read_text("utf-8"))}
    assert list(rows) == [
        "Keras",
        "SavedModel",
        "TFLite float32",
        "TFLite int8 weights",
        "TFLite full int8",
        "Logistic regression",
    ]
    assert rows["Keras"]["accuracy"] >= 0.95
    for name in ("SavedModel", "TFLite float32"):
        assert rows[name]["agreement"] == 1.0
    assert rows["TFLite int8 weights"]["agreement"] >= 0.98
    assert rows["TFLite full int8"]["agreement"] >= 0.99
    assert rows["Logistic regression"]["accuracy"] > 0.9
    assert all(rows[name]["size"] for name in rows if name != "Logistic regression")
    for name in rows:
        assert name in done.stdout
    assert str(folder / "report.html") in done.stdout
    page = (folder / "report.html").read_text("utf-8")
    assert f"{100 * rows['Keras']['accuracy']:.1f}" in page
    assert "What it looks at" in page
