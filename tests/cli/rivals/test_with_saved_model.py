import sys
from pathlib import Path

import pytest

from keras_vit.cli.rivals import with_saved_model
from tests.cli.rivals.test_with_keras_vit import TINY


@pytest.mark.parametrize("call", with_saved_model.CALLS)
def test_it_answers(call, monkeypatch):
    monkeypatch.syspath_prepend(Path(with_saved_model.__file__).parent)
    logits = with_saved_model.CALLS[call]({**TINY, "dtype": "float32"})()
    assert logits.shape == (TINY["batch_size"], TINY["num_classes"])
    sys.modules.pop("with_keras_vit")
