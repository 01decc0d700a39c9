"""Clients that load a server: each has pictures of its own, and knows their answers."""

import asyncio
import base64
import contextlib
import dataclasses
import itertools
import json
import time

import numpy as np

from keras_vit.layers.extras import require

# Largest difference of an answer, as a part of the largest logit.
TOLERANCE = 1e-5
REFUSED = ("RESOURCE_EXHAUSTED", 429)


@dataclasses.dataclass
class Tally:
    """What happened to the requests of a load.

    Args:
        seconds: how long the load took.
        latencies: seconds of each request that was answered.
        refused: how many were refused because the queue was full.
        wrong: how many got another answer than that of their picture.
        failures: what else came back, as text.
        difference: the largest difference of a right answer, as a part of the largest logit.
    """

    seconds: float = 0.0
    latencies: list = dataclasses.field(default_factory=list)
    refused: int = 0
    wrong: int = 0
    failures: list = dataclasses.field(default_factory=list)
    difference: float = 0.0

    @property
    def sent(self):
        """How many requests were sent."""
        return len(self.latencies) + self.refused + len(self.failures)

    def figures(self):
        """Returns the counts, the throughput and the latencies, for JSON."""
        p50, p99 = np.percentile(self.latencies or [0], (50, 99))
        return {
            "seconds": round(self.seconds, 1),
            "answered": len(self.latencies),
            "refused": self.refused,
            "wrong": self.wrong,
            "failed": len(self.failures),
            "answers_per_second": round(len(self.latencies) / self.seconds, 1),
            "p50_ms": round(1000 * float(p50), 1),
            "p99_ms": round(1000 * float(p99), 1),
        }


def for_seconds(seconds):
    """Returns a `more` for `load` that says yes for so long."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def so_many(requests):
    """Returns a `more` for `load` that says yes so often."""
    left = iter(range(requests))
    return lambda: next(left, None) is not None


def load(served, name, pictures, expected, clients, more):
    """Lets clients ask at the same time, each the next request when it has its answer.

    Half of them speak gRPC, half REST. The first picture of client 3 is picture 3.

    Args:
        served: has the addresses `grpc` and `rest`.
        name: the model's.
        pictures: list of encoded pictures, at least one for each client.
        expected: their logits, `[number of pictures, num_classes]`.
        clients: how many ask at a time.
        more: function that says, before each request, whether it is to be sent.

    Returns:
        A `Tally`.
    """
    return asyncio.run(_load(served, name, pictures, expected, clients, more))


async def _load(served, name, pictures, expected, clients, more):
    tally, scale = Tally(), np.abs(expected).max()
    started = time.monotonic()

    async def client(ask, own):
        for index in itertools.cycle(own):
            if not more():
                return
            asked = time.monotonic()
            kind, answer = await ask(pictures[index])
            _count(tally, kind, answer, time.monotonic() - asked, expected[index], scale)

    async with _protocols(served, name) as protocols:
        await asyncio.gather(
            *(
                client(protocols[number % len(protocols)], range(number, len(pictures), clients))
                for number in range(clients)
            )
        )
    tally.seconds = time.monotonic() - started
    return tally


def _count(tally, kind, answer, seconds, expected, scale):
    if kind in REFUSED:
        tally.refused += 1
    elif kind != "OK":
        tally.failures.append(f"{kind}: {answer}")
    else:
        tally.latencies.append(seconds)
        difference = np.abs(answer - expected).max() / scale
        if difference <= TOLERANCE:
            tally.difference = max(tally.difference, float(difference))
        else:
            tally.wrong += 1


@contextlib.asynccontextmanager
async def _protocols(served, name):
    """Functions from a picture to `("OK", logits)` or to what went wrong, for both protocols."""
    grpc, aiohttp = require("grpc", extra="serve"), require("aiohttp", extra="serve")
    # One connection for each client, as if they were on machines of their own.
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        grpc.aio.insecure_channel(served.grpc) as channel,
        aiohttp.ClientSession(connector=connector) as session,
    ):
        yield [_grpc_asker(channel, name), _rest_asker(session, served.rest, name)]


def _grpc_asker(channel, name):
    import tensorflow as tf

    grpc = require("grpc", extra="serve")
    predict = require("tensorflow_serving.apis.predict_pb2", extra="serve")
    stubs = require("tensorflow_serving.apis.prediction_service_pb2_grpc", extra="serve")
    stub = stubs.PredictionServiceStub(channel)

    async def ask(picture):
        request = predict.PredictRequest(output_filter=["logits"])
        request.model_spec.name = name
        request.model_spec.signature_name = "serving_bytes"
        request.inputs["image_bytes"].CopyFrom(tf.make_tensor_proto([picture]))
        try:
            response = await stub.Predict(request, timeout=60)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return "OK", np.array(response.outputs["logits"].float_val, "float32")

    return ask


def _rest_asker(session, address, name):
    aiohttp = require("aiohttp", extra="serve")
    url = f"http://{address}/v1/models/{name}:predict"

    async def ask(picture):
        instances = [{"b64": base64.b64encode(picture).decode()}]
        body = json.dumps({"signature_name": "serving_bytes", "instances": instances})
        try:
            async with session.post(url, data=body) as response:
                answer = await response.json()
                if response.status != 200:
                    return response.status, answer
                return "OK", np.array(answer["predictions"][0]["logits"], "float32")
        except (aiohttp.ClientError, ValueError) as error:
            return type(error).__name__, str(error)

    return ask
