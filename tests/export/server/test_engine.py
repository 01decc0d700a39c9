"""From a request to its answer."""

import asyncio
import threading

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.export.server.engine import Engine, Spec
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.loaded import Loaded
from keras_vit.export.server.models import Models
from keras_vit.export.server.settings import Settings


@pytest.fixture
def engine(toy_model):
    """An engine for the toy, without a server around it."""
    settings = Settings(toy_model, max_batch=4, timeout_s=30, max_body_mb=1, queue=1)
    models = Models(settings, None, None)
    loaded = Loaded("toy", 1, toy_model, settings, lambda *_: None)
    models._loaded = {"toy": {1: loaded}}
    made = Engine(models, settings)
    yield made
    made.close()
    loaded.let_go()


def ask(engine, spec=None, wanted=(), seconds=None, **inputs):
    protos = {name: tf.make_tensor_proto(value) for name, value in inputs.items()}
    return asyncio.run(engine.predict(spec or Spec("toy"), protos, wanted, seconds))


def rows(*values):
    return np.array([values], "float32")


def test_answers(engine):
    answer = ask(engine, x=rows(1, 2))
    assert answer.outputs["y"].tolist() == [[2, 4]]
    assert (answer.version, answer.rows) == (1, 1)
    answer = ask(engine, Spec("toy", signature="fixed"), x=np.ones((2, 3), "float32"))
    assert answer.outputs["total"] == 6 and answer.rows is None


def test_outputs_that_are_wanted(engine):
    pair = Spec("toy", signature="pair")
    inputs = {"x": rows(1, 2), "count": np.array([3], "int32")}
    assert set(ask(engine, pair, **inputs).outputs) == {"total", "count"}
    assert set(ask(engine, pair, ["count"], **inputs).outputs) == {"count"}
    with pytest.raises(Refused, match=r"signature: y Outputs .* set \{count,total\}"):
        ask(engine, pair, ["y"], **inputs)
    with pytest.raises(Refused, match="duplicate"):
        ask(engine, pair, ["count", "count"], **inputs)


@pytest.mark.parametrize(
    ("inputs", "wanted"),
    [
        ({}, "Missing but required: {x}"),
        ({"x": rows(1, 2, 3)}, "shape"),
        ({"x": rows(1, 2).astype("float64")}, "x must be float32. Received: float64"),
        ({"x": np.zeros((5, 2), "float32")}, "1 to 4 examples. Received: 5"),
        ({"x": np.zeros((0, 2), "float32")}, "1 to 4 examples. Received: 0"),
        ({"x": rows(-1, 2)}, "x is negative"),
    ],
)
def test_requests_that_do_not_fit(engine, inputs, wanted):
    with pytest.raises(Refused, match=wanted) as caught:
        ask(engine, **inputs)
    assert caught.value.code == "INVALID_ARGUMENT"
    assert ask(engine, x=rows(1, 2)).rows == 1  # and the queue of one has room again


def test_what_there_is_not(engine):
    with pytest.raises(Refused, match='key "no" not found') as caught:
        ask(engine, Spec("toy", signature="no"), x=rows(1, 2))
    assert caught.value.code == "FAILED_PRECONDITION"
    with pytest.raises(Refused, match="saved_model_init_op. not found"):
        ask(engine, Spec("toy", signature="__saved_model_init_op"))
    with pytest.raises(Refused, match="Servable not found"):
        ask(engine, Spec("net"), x=rows(1, 2))


class Holding:
    """Holds the workers of an engine's model until it is let."""

    def __init__(self, engine):
        self.free, self.entered = threading.Event(), threading.Semaphore(0)
        with engine.models.use("toy") as loaded:
            self._run = loaded.runner.run
            loaded.runner.run = self
            self.workers = loaded.runner.workers

    def __call__(self, signature, inputs):
        self.entered.release()
        assert self.free.wait(30)
        return self._run(signature, inputs)


def test_a_client_that_waits_no_longer_and_a_full_queue(engine):
    holding = Holding(engine)

    async def scene():
        protos = {"x": tf.make_tensor_proto(rows(1, 2))}
        running = []
        for _ in range(holding.workers):
            running.append(asyncio.create_task(engine.predict(Spec("toy"), protos)))
            await asyncio.to_thread(holding.entered.acquire)
        with pytest.raises(Refused, match="No answer within") as caught:
            await engine.predict(Spec("toy"), protos, seconds=0.05)
        assert caught.value.code == "DEADLINE_EXCEEDED"
        # The one that was given up keeps its place until a worker passes over it.
        with pytest.raises(Refused, match="queue is full") as caught:
            await engine.predict(Spec("toy"), protos)
        assert caught.value.code == "RESOURCE_EXHAUSTED"
        holding.free.set()
        for task in running:
            assert (await task).outputs["y"].tolist() == [[2, 4]]
        assert (await engine.predict(Spec("toy"), protos)).rows == 1

    asyncio.run(scene())
