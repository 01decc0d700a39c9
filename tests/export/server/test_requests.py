"""What surrounds a request."""

import asyncio

import pytest

from keras_vit.export.server import requests
from keras_vit.export.server.access import Access
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.logs import Log
from keras_vit.export.server.metrics import Metrics
from keras_vit.export.server.settings import Settings
from tests.export.server.toys import Lines


class Names:
    names = ("net",)


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(requests, "BEYOND_THE_QUEUE", 1)
    lines = Lines()
    settings = Settings("models", queue=1, tokens=("secret",))
    made = requests.Requests(settings, Access(("secret",)), Metrics(), Names(), Log(lines))
    made.lines = lines
    return made


def one(made, **fields):
    return made.one("rest", "predict", authorization="Bearer secret", **fields)


def test_a_line_for_each(made):
    with one(made, given_id="mine") as record:
        record.model, record.rows, record.version = "net", 3, 0
    (line,) = made.lines.events
    assert line["event"] == "request" and line["code"] == "OK" and line["ms"] >= 0
    assert (line["id"], line["model"], line["rows"], line["version"]) == ("mine", "net", 3, 0)
    assert "signature" not in line
    with one(made) as record:
        record.signature = "x" * 10**6
    assert len(made.lines.events[1]["signature"]) == 200


def test_refusals_pass_through(made):
    with pytest.raises(Refused, match="gone"), one(made):
        raise Refused("NOT_FOUND", "gone")
    (line,) = made.lines.events
    assert (line["code"], line["error"]) == ("NOT_FOUND", "gone")


def test_faults_of_ours_say_where_to_look_and_no_more(made):
    with pytest.raises(Refused, match="failed") as caught, one(made) as record:
        raise ZeroDivisionError("secret path")
    assert caught.value.code == "INTERNAL"
    assert record.id in caught.value.message and "secret path" not in caught.value.message
    (line,) = made.lines.events
    assert line["level"] == "error" and "secret path" in line["error"]


def test_a_request_that_was_given_up(made):
    with pytest.raises(asyncio.CancelledError), one(made):
        raise asyncio.CancelledError
    assert made.lines.events[0]["code"] == "CANCELLED"


def test_the_token_comes_first(made):
    with pytest.raises(Refused, match="token"), made.one("rest", "predict"):
        raise AssertionError("must not be reached")
    assert made.lines.events[0]["code"] == "UNAUTHENTICATED"


def test_too_many_at_a_time(made):
    with one(made), one(made):
        with pytest.raises(Refused, match="Too many") as caught, one(made):
            pass
        assert caught.value.code == "RESOURCE_EXHAUSTED"
    with one(made):
        pass


def test_names_that_clients_invent_are_not_kept(made):
    for name in ("net", "invented"):
        with one(made) as record:
            record.model = name
    text = made._metrics.text()[0].decode()
    assert 'model="net"' in text and "invented" not in text
