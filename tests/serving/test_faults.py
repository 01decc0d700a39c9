"""What goes wrong around a server: it dies, its folder changes, its clients misbehave."""

import contextlib
import http.client
import json
import os
import shutil
import socket
import struct
import threading
import time

import grpc
import numpy as np
import pytest
from tensorflow.core.framework import tensor_pb2
from tensorflow_serving.apis import predict_pb2

from keras_vit.cli.recording_serving import jpegs, logits_of
from keras_vit.cli.served import Served
from keras_vit.cli.serving_load import load, so_many
from tests.data.pictures import claiming
from tests.serving.clients import NAME, by_grpc, by_rest, in_base64, predicted, stub

pytestmark = pytest.mark.prove
CLIENTS = 4
PREDICT = f"/v1/models/{NAME}:predict"


@pytest.fixture(scope="module")
def known(exported):
    """Pictures and the model's answers to them."""
    pictures = jpegs(CLIENTS)
    return pictures, logits_of(exported, pictures)


@pytest.fixture
def folder(exported, tmp_path):
    """A folder of models that a test may change."""
    shutil.copytree(exported, tmp_path / "models" / NAME / "1")
    return tmp_path / "models"


def add_version(folder, number, change=lambda path: None):
    """Puts a copy of version 1 there at once, as an export does."""
    hidden = folder / NAME / f".{number}"
    shutil.copytree(folder / NAME / "1", hidden)
    change(hidden)
    hidden.rename(folder / NAME / str(number))


def check_answers(served, known):
    tally = load(served, NAME, *known, clients=2, more=so_many(4))
    assert (len(tally.latencies), tally.wrong, tally.failures) == (4, 0, [])


@contextlib.contextmanager
def under_load(served, known):
    """Loads a server during the block; gives the tally when it is over."""
    over, tallies = threading.Event(), []

    def clients():
        tallies.append(load(served, NAME, *known, CLIENTS, more=lambda: not over.is_set()))

    thread = threading.Thread(target=clients)
    thread.start()
    try:
        yield tallies
    finally:
        over.set()
        thread.join()


def test_killed_and_started_again(folder, known, capsys):
    for _ in range(2):
        served = Served(folder)
        check_answers(served, known)
        answered = time.monotonic() - served.started
        with capsys.disabled():
            print(f"\nready after {served.ready_seconds:.1f} s, answered after {answered:.1f} s")
        with under_load(served, known) as tallies:
            time.sleep(0.5)
            assert served.kill() == -9
        assert tallies[0].wrong == 0 and tallies[0].failures


def test_versions_come_and_go_under_load(folder, known):
    with Served(folder, "--poll-s", 0.1) as served:
        with under_load(served, known) as tallies:
            add_version(folder, 2)
            served.wait("version_unloaded", version=1)
            # Damaged ones are told, loudly, and passed over.
            add_version(folder, 3, lambda path: (path / "saved_model.pb").write_bytes(b"damaged"))
            alarm = served.wait("version_cannot_be_loaded", version=3)
            add_version(folder, 4, cut_weights)
            served.wait("version_cannot_be_loaded", version=4)
        (tally,) = tallies
        assert (tally.wrong, tally.refused, tally.failures) == (0, 0, [])
        assert len(tally.latencies) > CLIENTS
        assert alarm["level"] == "error" and "saved_model.pb" in alarm["error"]
        assert served.metric("keras_vit_load_failures_total", model=NAME) == 2
        states = by_rest(served, f"/v1/models/{NAME}")[1]["model_version_status"]
        assert {one["version"]: one["state"] for one in states} == {
            "4": "END", "3": "END", "2": "AVAILABLE", "1": "END",
        }  # fmt: skip
        check_answers(served, known)


def cut_weights(path):
    (weights,) = path.glob("variables/*.data-*")
    os.truncate(weights, weights.stat().st_size // 2)


def connect(address):
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def said(connection):
    """All that comes until the server closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def post(length, body):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: it\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize("protocol", ["rest", "grpc"])
def test_garbage(served, known, protocol):
    garbage = np.random.RandomState(1).bytes(4096)
    for start in (b"", b"GET ", b"POST / HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
        with connect(getattr(served, protocol)) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(start + garbage)
                connection.shutdown(socket.SHUT_WR)
            assert b" 200 " not in said(connection)
    check_answers(served, known)


def test_a_truncated_request(served, known):
    for protocol, part in (("rest", post(1000, b'{"instances"')), ("grpc", b"PRI * HTTP/2.0")):
        for ends in (lambda it: it.shutdown(socket.SHUT_WR), reset):
            connection = connect(getattr(served, protocol))
            connection.sendall(part)
            ends(connection)
            connection.close()
    check_answers(served, known)


def reset(connection):
    """Lets the connection end by a reset rather than in good order."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_half_closed_connection(served, known):
    """Its client is taken for gone, or is answered; the request does not stay either way."""
    whole = json.dumps({"signature_name": "serving_bytes", "instances": [in_base64(known[0][0])]})
    for body in (whole, whole[:-9]):
        with connect(served.rest) as connection:
            connection.sendall(post(len(whole), body.encode()))
            connection.shutdown(socket.SHUT_WR)
            answer = said(connection)
            assert not answer or answer.startswith(b"HTTP/1.1 200 OK" if body is whole else b"HTTP")
    check_answers(served, known)
    while served.metric("keras_vit_requests_in_flight") > 1:  # the question is one itself
        time.sleep(0.05)


def test_a_giant_body(served, known):
    """Refused by its length before it is read, or as soon as it is too long."""
    with connect(served.rest) as connection:
        connection.sendall(post(10**12, b"x"))
        assert connection.recv(12) == b"HTTP/1.1 413"
    client = http.client.HTTPConnection(served.rest, timeout=30)
    chunks = (b" " * 65536 for _ in range(64))  # 4 MB, where 1 MB is allowed
    with contextlib.suppress(ConnectionError):
        client.request("POST", PREDICT, chunks, encode_chunked=True)
    with contextlib.suppress(ConnectionError):
        assert client.getresponse().status == 413
    client.close()
    with pytest.raises(grpc.RpcError) as refused:
        by_grpc(served, "serving_bytes", image_bytes=[b"x" * 2**21])
    assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    check_answers(served, known)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
def test_a_picture_that_says_it_is_giant(served, kind):
    side = 16_000 if kind == "WEBP" else 60_000
    before = served.metric("process_resident_memory_bytes")
    (row,) = predicted(served, "serving_bytes", [in_base64(claiming(kind, side, side))])
    assert "pixels" in row["error"] and not any(row["logits"])
    assert served.metric("process_resident_memory_bytes") < before + 2**27


def test_a_tensor_that_says_it_is_giant(served):
    """One value stands for as many as the shape says."""
    request = predict_pb2.PredictRequest()
    request.model_spec.name = NAME
    proto = tensor_pb2.TensorProto(dtype=1, float_val=[1.0])
    for size in (2**20, 16, 16, 3):
        proto.tensor_shape.dim.add(size=size)
    request.inputs["images"].CopyFrom(proto)
    with stub(served) as service, pytest.raises(grpc.RpcError) as refused:
        service.Predict(request, timeout=60)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_slow_clients_are_cut_off_and_hold_up_nobody(served, known):
    """Heads and bodies that come by drops; the server's time-out is two seconds."""
    starts = [b"GET /v1/models/vit HTTP/1.1\r\nX: ", post(1000, b"{"), b""]
    slow = [connect(served.rest) for _ in range(60)]
    for number, connection in enumerate(slow):
        connection.sendall(starts[number % len(starts)])
    check_answers(served, known)
    open_ones, end = set(slow), time.monotonic() + 60
    while open_ones and time.monotonic() < end:
        for connection in list(open_ones):
            if closed_after(connection, b" "):
                open_ones.discard(connection)
        time.sleep(0.2)
    for connection in slow:
        connection.close()
    assert not open_ones, f"{len(open_ones)} of {len(slow)} slow clients are still connected."
    check_answers(served, known)


def closed_after(connection, drop):
    """Whether the other side has closed a connection; if not, it gets another drop."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
        return True
    except BlockingIOError:
        with contextlib.suppress(BlockingIOError):
            connection.sendall(drop)
        return False
    except ConnectionError:
        return True


def test_a_full_batch_and_one_more(served, known):
    pictures, _ = known
    instances = [in_base64(picture) for picture in (pictures * 5)[:17]]
    assert len(predicted(served, "serving_bytes", instances[:16])) == 16
    body = {"signature_name": "serving_bytes", "instances": instances}
    status, answer = by_rest(served, PREDICT, body)
    assert (status, "1 to 16 examples" in answer["error"]) == (400, True)
