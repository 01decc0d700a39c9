"""Batches, with workers that we hold."""

import threading
import time

import numpy as np
import pytest

from keras_vit.export.server.batcher import Batcher, Task
from keras_vit.export.server.errors import Refused

FAR = float("inf")


class Held:
    """Doubles its input, once it is let; notes what came."""

    def __init__(self):
        self.calls, self.free, self.started = [], threading.Event(), threading.Event()

    def __call__(self, kind, inputs):
        self.started.set()
        assert self.free.wait(30)
        self.calls.append((kind, inputs["x"].tolist()))
        if (inputs["x"] < 0).any():
            raise ValueError("negative")
        return {"y": 2 * inputs["x"]}


def ask(batcher, *values, kind=("a",), deadline=FAR, rows=None):
    batcher.enter()
    x = np.array(values)
    return batcher.submit(Task(kind, {"x": x}, len(values) if rows is None else rows, deadline))


@pytest.fixture
def held():
    return Held()


@pytest.fixture
def batcher(held):
    made = Batcher(held, max_batch=4, delay=0, queue=5)
    yield made
    held.free.set()
    made.close()


def busy(batcher, held):
    """Gives the worker something to do, so that what follows waits."""
    first = ask(batcher, 0, kind=("busy",))
    assert held.started.wait(30)
    return first


def test_what_waits_is_computed_together_and_each_gets_its_own(batcher, held):
    busy(batcher, held)
    futures = [ask(batcher, 1), ask(batcher, 2, 3), ask(batcher, 4)]
    held.free.set()
    assert [future.result(30)["y"].tolist() for future in futures] == [[2], [4, 6], [8]]
    assert held.calls == [(("busy",), [0]), (("a",), [1, 2, 3, 4])]


def test_a_batch_is_not_too_large(batcher, held):
    busy(batcher, held)
    futures = [ask(batcher, 1, 2, 3), ask(batcher, 4, 5), ask(batcher, 6)]
    held.free.set()
    assert futures[2].result(30)["y"].tolist() == [12]
    assert [values for _, values in held.calls[1:]] == [[1, 2, 3], [4, 5, 6]]


def test_kinds_are_not_mixed(batcher, held):
    busy(batcher, held)
    futures = [ask(batcher, 1), ask(batcher, 2, kind=("b",)), ask(batcher, 3)]
    held.free.set()
    assert [future.result(30)["y"].tolist() for future in futures] == [[2], [4], [6]]
    assert held.calls[1:] == [(("a",), [1, 3]), (("b",), [2])]


def test_a_full_queue_refuses_and_loses_nothing(batcher, held):
    busy(batcher, held)
    futures = [ask(batcher, number) for number in range(5)]
    with pytest.raises(Refused, match="queue is full: 5 requests") as caught:
        batcher.enter()
    assert caught.value.code == "RESOURCE_EXHAUSTED"
    held.free.set()
    assert [future.result(30)["y"].tolist() for future in futures] == [[2 * n] for n in range(5)]
    assert batcher.waiting == 0
    batcher.enter()
    batcher.leave()


def test_one_bad_request_fails_alone(batcher, held):
    busy(batcher, held)
    good, bad, other = ask(batcher, 1), ask(batcher, -1), ask(batcher, 2)
    held.free.set()
    with pytest.raises(ValueError, match="negative"):
        bad.result(30)
    assert good.result(30)["y"].tolist() == [2] and other.result(30)["y"].tolist() == [4]


def test_late_and_cancelled_requests_are_not_computed(batcher, held):
    busy(batcher, held)
    late = ask(batcher, 1, deadline=time.monotonic() - 1)
    cancelled = ask(batcher, 2)
    last = ask(batcher, 3)
    assert cancelled.cancel()
    held.free.set()
    assert last.result(30)["y"].tolist() == [6]
    with pytest.raises(Refused, match="ran out"):
        late.result(30)
    assert held.calls[-1] == (("a",), [3])


def test_without_a_batch_axis_requests_stay_apart(batcher, held):
    busy(batcher, held)
    tasks = [Task(("whole",), {"x": np.array([n, n])}, None, FAR) for n in (1, 2)]
    for task in tasks:
        batcher.enter()
        batcher.submit(task)
    held.free.set()
    assert [task.future.result(30)["y"].tolist() for task in tasks] == [[2, 2], [4, 4]]


def test_a_full_batch_does_not_wait_for_the_delay(held):
    batcher = Batcher(held, max_batch=2, delay=1000, queue=9)
    held.free.set()
    futures = [ask(batcher, 1), ask(batcher, 2)]
    assert futures[1].result(30)["y"].tolist() == [4]
    left = ask(batcher, 3)
    assert not left.done()
    batcher.close()  # closing does not wait either
    assert left.result(30)["y"].tolist() == [6]


def test_closing_finishes_what_has_entered(held):
    batcher = Batcher(held, max_batch=2, delay=0, queue=9)
    busy(batcher, held)
    batcher.enter()  # still decoding, say
    closing = threading.Thread(target=batcher.close)
    closing.start()
    held.free.set()
    task = Task(("a",), {"x": np.array([7])}, 1, FAR)
    assert batcher.submit(task).result(30)["y"].tolist() == [14]
    closing.join(30)
    with pytest.raises(Refused, match="shutting down"):
        batcher.enter()


def test_what_is_observed(held):
    seen = []
    held.free.set()
    batcher = Batcher(held, 4, 0, 9, observe=lambda *values: seen.append(values))
    ask(batcher, 1, 2).result(30)
    batcher.close()
    ((rows, requests, waited, seconds),) = seen
    assert (rows, requests) == (2, 1) and waited >= 0 and seconds >= 0
