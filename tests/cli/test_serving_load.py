"""What a load counts, on a server in this process and a model of one line."""

import types

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.cli.serving_load import Tally, _count, for_seconds, load, so_many
from tests.export.server.toys import serving

LENGTHS = range(3, 9)


@tf.function(
    input_signature=[tf.TensorSpec((None,), tf.string, name="image_bytes")], autograph=False
)
def lengths(image_bytes):
    """Takes for the logits of a picture how many bytes it has; refuses more than ten."""
    length = tf.cast(tf.strings.length(image_bytes), tf.float32)
    with tf.control_dependencies([tf.debugging.assert_less(length, 11.0, "too long")]):
        return {"logits": tf.stack([length, -length], axis=1), "length": length}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Addresses of a server, pictures, and the model's answers to them."""
    folder = tmp_path_factory.mktemp("load")
    calls = {"serving_bytes": lengths}
    tf.saved_model.save(tf.Module(), str(folder / "vit" / "1"), signatures=calls)
    with serving(folder) as server:
        ports = {"grpc": server.port, "rest": server.rest_port}
        addresses = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
        expected = np.array([[length, -length] for length in LENGTHS], "float32")
        yield types.SimpleNamespace(**addresses), [b"x" * one for one in LENGTHS], expected


def test_every_answer_is_right(asked):
    served, pictures, expected = asked
    tally = load(served, "vit", pictures, expected, clients=4, more=so_many(21))
    assert (len(tally.latencies), tally.sent, tally.wrong, tally.refused) == (21, 21, 0, 0)
    assert 0 <= tally.difference <= 1e-5
    figures = tally.figures()
    assert figures["answers_per_second"] == pytest.approx(21 / tally.seconds, abs=0.1)
    assert 0 < figures["p50_ms"] <= figures["p99_ms"] <= 1000 * tally.seconds


def test_a_swapped_answer_is_seen(asked):
    served, pictures, expected = asked
    swapped = expected[[0, 1, 3, 2, 4, 5]]
    tally = load(served, "vit", pictures, swapped, clients=6, more=so_many(6))
    assert (len(tally.latencies), tally.wrong) == (6, 2)


def test_failures_are_told_apart(asked):
    served, pictures, expected = asked
    broken = [*pictures[:2], b"x" * 11, b"x" * 11]
    tally = load(served, "vit", broken, expected, clients=4, more=so_many(4))
    assert len(tally.latencies) == 2
    assert sorted(failure[:16] for failure in tally.failures) == [
        "400: {'error': '", "INVALID_ARGUMENT",
    ]  # fmt: skip


def test_how_long_a_load_goes_on():
    more = so_many(2)
    assert [more() for _ in range(4)] == [True, True, False, False]
    assert for_seconds(60)() and not for_seconds(0)()


def test_figures_of_a_load_without_answers():
    assert Tally(seconds=2.0, refused=3).figures() == {
        "seconds": 2.0, "answered": 0, "refused": 3, "wrong": 0, "failed": 0,
        "answers_per_second": 0.0, "p50_ms": 0.0, "p99_ms": 0.0,
    }  # fmt: skip


def test_wrong_answers_are_beyond_the_tolerance():
    """The largest difference of a right answer is kept."""
    tally, expected = Tally(), np.array([[1.0, -2.0]], "float32")
    for difference in (0, 1e-5, 1e-3):
        _count(tally, "OK", expected + np.float32(difference), 0.1, expected, 2.0)
    assert (len(tally.latencies), tally.wrong) == (3, 1)
    assert tally.difference == pytest.approx(5e-6, rel=0.1)
