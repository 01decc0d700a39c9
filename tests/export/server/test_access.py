"""Bearer tokens."""

import pytest

from keras_vit.export.server.access import Access
from keras_vit.export.server.errors import Refused


def test_without_tokens_everybody_comes_in():
    Access(()).check(None)


@pytest.mark.parametrize("header", ["Bearer one", "bearer two", "Bearer  two "])
def test_each_token_lets_in(header):
    Access(("one", "two")).check(header)


@pytest.mark.parametrize(
    "header", [None, "", "one", "Basic one", "Bearer", "Bearer o", "Bearer onee", "Bearer \udcff"]
)
def test_others_stay_out(header):
    with pytest.raises(Refused, match="valid token") as caught:
        Access(("one", "two")).check(header)
    assert caught.value.http_status == 401
