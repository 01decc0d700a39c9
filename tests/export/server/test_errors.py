"""Refusals, and what TensorFlow's errors say."""

import grpc
import pytest
import tensorflow as tf

from keras_vit.export.server.errors import HTTP_STATUS, Refused, first_line, graph_reason


def test_every_code_is_one_of_grpc():
    for code in HTTP_STATUS:
        assert grpc.StatusCode[code].name == code


def test_a_refusal_may_have_a_number_of_its_own():
    assert Refused("INVALID_ARGUMENT", "too large", 413).http_status == 413
    assert Refused("RESOURCE_EXHAUSTED", "full").http_status == 429


def test_long_messages_are_cut():
    assert len(str(Refused("INVALID_ARGUMENT", "x" * 10**6))) < 1100


def test_the_first_line():
    assert first_line(ValueError("one\ntwo")) == "one"
    assert first_line(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("assertion failed: [x is negative.  ] [Condition]\n\t [[{{node a}}]]", "x is negative."),
        (
            "at node a\n<stack traces unavailable>\nInvalid JPEG, size 8\n\t [[a]]",
            "Invalid JPEG, size 8",
        ),
        ("{{function_node a}} bad [[{{node b}}]] [Op:c]", "bad"),
        (None, "InvalidArgumentError"),
    ],
)
def test_what_a_graph_says(message, reason):
    assert graph_reason(tf.errors.InvalidArgumentError(None, None, message)) == reason
