"""Runs scenarios: trains small models on R replicas and on one device.

`python scenarios.py R NAME...` prints a line of JSON for each: its name and its numbers. A process
can hold one MirroredStrategy only, and starts longer than most scenarios run: all run in one.
"""

import json
import sys

import scene
import scenes_losses  # noqa: F401
import scenes_states  # noqa: F401
import scenes_step  # noqa: F401

for name in sys.argv[2:] or scene.SCENARIOS:
    print(json.dumps([name, scene.SCENARIOS[name]()]), flush=True)
