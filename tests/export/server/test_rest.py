"""Plain HTTP."""

import gzip
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.export.server.toys import asked, serving

PREDICT = "/v1/models/toy:predict"


def test_predict_in_both_forms(server):
    for path in (PREDICT, "/v1/models/toy/versions/1:predict"):
        status, body, headers = asked(server, path, {"instances": [[1, 2], [3, 4]]})
        assert (status, body) == (200, {"predictions": [[2, 4], [6, 8]]})
        assert headers.get_content_type() == "application/json"
    assert asked(server, PREDICT, {"inputs": {"x": [[1, 2]]}})[1] == {"outputs": [[2, 4]]}
    body = {"signature_name": "pair", "instances": [{"x": [1, 2], "count": 3}]}
    assert asked(server, PREDICT, body)[1] == {"predictions": [{"count": 6, "total": 6}]}
    body = {"signature_name": "texts", "instances": [{"b64": "/w=="}, "ab"]}
    assert asked(server, PREDICT, body)[1] == {
        "predictions": [
            {"back_bytes": {"b64": "/w=="}, "length": 1},
            {"back_bytes": {"b64": "YWI="}, "length": 2},
        ]
    }
    body = {"signature_name": "fixed", "inputs": [[1, 2, 3], [4, 5, 6]]}
    assert asked(server, PREDICT, body)[1] == {"outputs": 21}


def test_classify(server):
    body = {"signature_name": "classify", "examples": [{"x": [1.0, 2.5]}]}
    status, answer, _ = asked(server, "/v1/models/toy:classify", body)
    assert (status, answer) == (200, {"results": [[["a", 2], ["b", 5]]]})


def test_what_is_told(server):
    status, answer, _ = asked(server, "/v1/models/toy/metadata")
    assert status == 200 and answer["model_spec"]["name"] == "toy"
    for path in ("/v1/models/toy", "/v1/models/toy/versions/1"):
        assert asked(server, path)[1]["model_version_status"][0]["state"] == "AVAILABLE"
    assert asked(server, "/healthz")[0] == 200
    assert asked(server, "/readyz")[:2] == (200, {"ready": True, "models": ["toy"]})


def test_metrics(server):
    asked(server, PREDICT, {"instances": [[1, 2]]})
    for path in ("/metrics", "/monitoring/prometheus/metrics"):
        status, text, _ = asked(server, path)
        assert status == 200
        assert 'requests_total{code="OK",method="predict",model="toy",protocol="rest"}' in text


@pytest.mark.parametrize(
    ("path", "body", "status", "text"),
    [
        (PREDICT, b"{", 400, "JSON Parse error"),
        (PREDICT, b"", 400, "JSON Parse error"),
        (PREDICT, {"instances": [[1, "2"]]}, 400, "x: must hold"),
        (PREDICT, {"instances": [[1, 2, 3]]}, 400, "must have the shape [any, 2]"),
        (PREDICT, {"instances": [[1, 2]] * 17}, 400, "1 to 16 examples"),
        (PREDICT, {"instances": [[-1, 2]]}, 400, "x is negative"),
        (PREDICT, {"signature_name": "no", "instances": [1]}, 400, 'key "no" not found'),
        ("/v1/models/net:predict", {"instances": [1]}, 404, "Latest(net)"),
        ("/v1/models/toy/versions/7:predict", {"instances": [1]}, 404, "Specific(toy, 7)"),
        ("/v1/models/toy/labels/new:predict", {"instances": [1]}, 404, "label: new"),
        ("/v1/models/toy:regress", {"examples": [{}]}, 501, "not implemented"),
        ("/v1/models/toy:classify", {"examples": [{"x": 1.5}]}, 400, "method_name"),
        ("/v1/models/toy:classify", {}, 400, "'examples'"),
        ("/v1/models/toy", b"{}", 400, "Malformed request: POST"),
        ("/v1/models/toy/versions/99999999999999999999:predict", b"{}", 400, "Malformed"),
    ],
)
def test_refusals(server, path, body, status, text):
    found, answer, headers = asked(server, path, body)
    assert found == status and text in answer["error"]
    assert headers["x-request-id"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models/..%2F..%2Fetc%2Fpasswd",
        "/v1/models/../../etc/passwd",
        "/v1/models/%2e%2e/metadata",
        "/v1/models/toy%00/metadata",
        "/v1/models/%c0%ae/metadata",
        "/../../etc/passwd",
        "/page/../index.html",
        "/page.css%00",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/models",
        "//etc/passwd",
    ],
)
def test_no_path_reaches_a_file(server, path):
    # urllib would mend such paths, so they are sent by hand.
    with socket.create_connection(("127.0.0.1", server.rest_port), 30) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := client.recv(65536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] in (b"400", b"404") and b"root:" not in answer
    assert json.loads(body)["error"]


def test_bodies_that_are_too_large(models):
    with serving(models, max_body_mb=0.01) as server:
        large = b'{"instances": [' + b" " * 20_000 + b"[1, 2]]}"
        for body, headers in (
            (large, {}),
            (gzip.compress(large), {"Content-Encoding": "gzip"}),
        ):
            status, answer, _ = asked(server, PREDICT, body, headers=headers)
            assert status == 413 and "at most 10485 bytes" in answer["error"]
        status, answer, _ = asked(server, PREDICT, b"no gzip", headers={"Content-Encoding": "gzip"})
        assert status == 400
        assert asked(server, PREDICT, {"instances": [[1, 2]]})[0] == 200


def test_a_body_that_does_not_arrive(models):
    with serving(models, timeout_s=0.2) as server:
        with socket.create_connection(("127.0.0.1", server.rest_port), 30) as client:
            client.sendall(
                f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{{".encode()
            )
            assert client.recv(65536).startswith(b"HTTP/1.1 504")
        with socket.create_connection(("127.0.0.1", server.rest_port), 30) as client:
            client.sendall(b"POST ")
            assert client.recv(65536) == b""  # closed


class Held:
    """Holds the workers of a server's model until it is let."""

    def __init__(self, server):
        self.free, self.entered = threading.Event(), threading.Semaphore(0)
        with server.models.use("toy") as loaded:
            self._run, self.workers = loaded.runner.run, loaded.runner.workers
            self.batcher = loaded.batcher
            loaded.runner.run = self

    def __call__(self, *arguments):
        self.entered.release()
        assert self.free.wait(30)
        return self._run(*arguments)


def test_a_full_queue_and_a_client_that_goes(models):
    body, answers = {"instances": [[1, 2]]}, []
    with serving(models, queue=1) as server, ThreadPoolExecutor() as pool:
        held = Held(server)
        for _ in range(held.workers):
            answers.append(pool.submit(asked, server, PREDICT, body))
            assert held.entered.acquire(timeout=30)
        text = json.dumps(body)
        request = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n\r\n{text}"
        with socket.create_connection(("127.0.0.1", server.rest_port), 30) as client:
            client.sendall(request.encode())
            while not held.batcher.waiting:
                pass
            status, answer, headers = asked(server, PREDICT, body)
            assert (status, headers["Retry-After"]) == (429, "1")
            assert "queue is full" in answer["error"]
        while not [one for one in server.lines.of("request") if one["code"] == "CANCELLED"]:
            pass
        held.free.set()
        assert [one.result(30)[0] for one in answers] == [200] * held.workers
        assert asked(server, PREDICT, body)[0] == 200


def test_a_model_that_takes_too_long(models):
    with serving(models, timeout_s=0.2) as server:
        held = Held(server)
        status, answer, _ = asked(server, PREDICT, {"instances": [[1, 2]]})
        assert status == 504 and "No answer within 0.2 seconds" in answer["error"]
        held.free.set()


def test_the_token(models):
    with serving(models, tokens=("one", "two")) as server:
        for path in ("/v1/models/toy", "/metrics", "/page.json", PREDICT):
            status, answer, headers = asked(server, path, b"{}" if path == PREDICT else None)
            assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
            assert "token" in answer["error"]
        for path in ("/healthz", "/readyz", "/", "/page.js", "/page.css"):
            assert asked(server, path)[0] == 200
        headers = {"Authorization": "Bearer two"}
        assert asked(server, "/v1/models/toy", headers=headers)[0] == 200


def test_the_page_loads_nothing_from_elsewhere(server):
    status, text, headers = asked(server, "/")
    assert status == 200 and headers.get_content_type() == "text/html"
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    for path in ("/", "/page.js", "/page.css"):
        _, text, headers = asked(server, path)
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text and "//cdn" not in text
