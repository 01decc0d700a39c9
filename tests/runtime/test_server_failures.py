"""Refusals become exceptions that say what to do."""

import pytest

from keras_vit.runtime.server_failures import CODES, failure


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        ("RESOURCE_EXHAUSTED", OSError, "Try again in a moment"),
        ("UNAUTHENTICATED", PermissionError, "KERAS_VIT_TOKEN"),
        ("NOT_FOUND", ValueError, "name and version"),
        ("UNAVAILABLE", ConnectionError, "keras-vit serve"),
        ("DEADLINE_EXCEEDED", TimeoutError, "overloaded"),
        ("INTERNAL", ValueError, ""),
    ],
)
def test_kinds(code, kind, advice):
    error = failure("grpc://host:1/net", code, "It says no")
    assert type(error) is kind
    assert str(error).startswith("grpc://host:1/net: It says no.") and advice in str(error)


def test_codes_are_those_of_the_server():
    from keras_vit.export.server.errors import HTTP_STATUS

    assert {number: code for code, number in HTTP_STATUS.items() if code != "INTERNAL"}.items() <= (
        CODES.items()
    )
