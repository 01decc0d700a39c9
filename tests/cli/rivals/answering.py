"""What each of our own files has to do when it is asked for a call."""

import sys
from pathlib import Path

from tests.cli.rivals.test_with_keras_vit import TINY


def answers(module, call, monkeypatch):
    """Makes a call's function as `loop` does, beside its neighbours, and checks its logits."""
    monkeypatch.syspath_prepend(Path(module.__file__).parent)
    logits = module.CALLS[call]({**TINY, "dtype": "float32"})()
    assert logits.shape == (TINY["batch_size"], TINY["num_classes"])
    sys.modules.pop("with_keras_vit")
