import pytest

from keras_vit.cli.rivals import with_saved_model
from tests.cli.rivals.answering import answers


@pytest.mark.parametrize("call", with_saved_model.CALLS)
def test_it_answers(call, monkeypatch):
    answers(with_saved_model, call, monkeypatch)
