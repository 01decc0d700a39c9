"""Where the stored tokens are: see `tests/references/clip_tokens_reference.py`."""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "clip_tokens"
MERGES = FOLDER / "merges.txt"


def stored():
    return json.loads((FOLDER / "tokens.json").read_text("utf-8"))
