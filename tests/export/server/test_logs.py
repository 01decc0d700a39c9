"""Lines of JSON."""

import io
import json

import pytest

from keras_vit.export.server.logs import Log, request_id


def test_an_event_is_one_line():
    stream = io.StringIO()
    log = Log(stream)
    log("first", text='two\nlines "x"', level="error")
    log("second", path=io)
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["event"] == "first" and first["text"] == 'two\nlines "x"'
    assert (first["level"], second["level"]) == ("error", "info")
    assert first["time"].endswith("+00:00")


@pytest.mark.parametrize("given", [None, "", "a b", "a\n", "x" * 129, "ü"])
def test_unsafe_ids_are_replaced(given):
    made = request_id(given)
    assert made != given and len(made) == 16
    assert made != request_id(given)


def test_safe_ids_are_kept():
    assert request_id("Root=1-67891233-abcdef") == "Root=1-67891233-abcdef"
