import sys
from pathlib import Path

import pytest

from keras_vit.cli.rivals import with_tflite
from tests.cli.rivals.test_with_keras_vit import TINY


@pytest.mark.parametrize("call", with_tflite.CALLS)
def test_it_answers(call, monkeypatch):
    monkeypatch.syspath_prepend(Path(with_tflite.__file__).parent)
    logits = with_tflite.CALLS[call]({**TINY, "dtype": "float32"})()
    assert logits.shape == (TINY["batch_size"], TINY["num_classes"])
    sys.modules.pop("with_keras_vit")
