"""What is measured once: a long run that was stopped goes on after the last figure."""

import json

from keras_vit.cli.evaluate import write_json


def once(path, measure):
    """Returns what `measure()` gave when it was first asked for, kept as JSON at `path`."""
    if not path.exists():
        write_json(measure(), path)
    return json.loads(path.read_text())
