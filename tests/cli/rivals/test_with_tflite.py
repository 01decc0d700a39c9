import pytest

from keras_vit.cli.rivals import with_tflite
from tests.cli.rivals.answering import answers


@pytest.mark.parametrize("call", with_tflite.CALLS)
def test_it_answers(call, monkeypatch):
    answers(with_tflite, call, monkeypatch)
