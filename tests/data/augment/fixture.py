"""What timm's augmentations are told and draw: see `tests/references/augment_reference.py`."""

import json
from pathlib import Path

TIMM = json.loads((Path(__file__).parents[2] / "fixtures" / "augment.json").read_text())
