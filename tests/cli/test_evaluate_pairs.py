"""The whole command, with a CLIP that was trained, is in `test_clips_and_pairs.py`."""

from types import SimpleNamespace

import pytest

from keras_vit.cli.evaluate_pairs import evaluate_pairs
from tests.data.tokens import MERGES


def test_another_vocabulary_is_refused():
    model = SimpleNamespace(config=SimpleNamespace(context_length=9, vocabulary_size=5))
    data = SimpleNamespace(open=lambda split: [split])
    with pytest.raises(ValueError, match="the model's 5 pieces: give its own by --vocabulary"):
        evaluate_pairs(model, data, None, 2, MERGES, "transformers")
