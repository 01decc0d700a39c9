"""A server starts and ends."""

import json
import signal
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request

import grpc
import pytest
from tensorflow_serving.apis import get_model_status_pb2, model_service_pb2_grpc

from keras_vit.export.server import Server, Settings
from keras_vit.export.server.running import run
from tests.export.server.toys import asked, serving


def test_events_of_a_life(models):
    with serving(models) as server:
        (ready,) = server.lines.of("ready")
        assert ready["models"] == ["toy"] and ready["seconds"] > 0
        (listening,) = server.lines.of("listening")
        assert (listening["grpc_port"], listening["rest_port"]) == (server.port, server.rest_port)
    assert server.lines.events[-1]["event"] == "ended"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.rest_port), 1)


def test_what_was_accepted_is_finished(models):
    started, free = threading.Event(), threading.Event()
    answers = []
    with serving(models) as server:
        with server.models.use("toy") as loaded:
            compute = loaded.runner.run

        def held(*arguments):
            started.set()
            assert free.wait(30)
            return compute(*arguments)

        loaded.runner.run = held
        body = {"instances": [[1, 2]]}
        client = threading.Thread(
            target=lambda: answers.append(asked(server, "/v1/models/toy:predict", body))
        )
        client.start()
        assert started.wait(30)
        server._loop.call_soon_threadsafe(server._ending.set)
        while not server.lines.of("ending"):
            pass
        free.set()
        client.join(30)
    assert answers[0][:2] == (200, {"predictions": [[2, 4]]})


def test_it_warns_when_everybody_may_ask(models):
    with serving(models, host="0.0.0.0") as server:
        assert server.lines.of("open_to_everybody")[0]["level"] == "warning"
    with serving(models, host="0.0.0.0", tokens=("secret",)) as server:
        assert not server.lines.of("open_to_everybody")


def test_nothing_to_serve(tmp_path):
    with pytest.raises(ValueError, match="holds no model"):
        Server(Settings(tmp_path))
    with pytest.raises(FileNotFoundError):
        run(Settings(tmp_path / "gone"))


def test_a_port_that_is_taken(models, server):
    with pytest.raises(OSError), Server(Settings(models, port=0, rest_port=server.rest_port)):
        pass
    with pytest.raises(OSError, match="another program may use it"):
        with Server(Settings(models, port=server.port, rest_port=0)):
            pass


def test_a_model_that_cannot_be_loaded_is_waited_for(models, toy_model):
    graph = models / "toy" / "1" / "saved_model.pb"
    graph.write_bytes(b"damaged")
    with serving(models) as server:
        assert server.lines.of("nothing_can_be_served")
        assert asked(server, "/readyz")[0] == 503 and asked(server, "/healthz")[0] == 200
        assert asked(server, "/v1/models/toy")[1]["model_version_status"][0]["state"] == "END"
        graph.write_bytes((toy_model / "saved_model.pb").read_bytes())
        while not server.models.is_ready:
            pass
        assert asked(server, "/readyz")[0] == 200


@pytest.mark.prove
def test_tls_for_both_protocols(models, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    with serving(models, tls_cert=cert, tls_key=key) as server:
        context = ssl.create_default_context(cafile=cert)
        url = f"https://localhost:{server.rest_port}/v1/models/toy"
        with urllib.request.urlopen(url, context=context, timeout=30) as answer:
            assert answer.status == 200
        credentials = grpc.ssl_channel_credentials(cert.read_bytes())
        with grpc.secure_channel(f"localhost:{server.port}", credentials) as channel:
            request = get_model_status_pb2.GetModelStatusRequest()
            request.model_spec.name = "toy"
            stub = model_service_pb2_grpc.ModelServiceStub(channel)
            assert stub.GetModelStatus(request, timeout=30).model_version_status


@pytest.mark.prove
def test_the_command_ends_at_sigterm(models):
    command = [sys.executable, "-m", "keras_vit.cli.main", "serve", models]
    ports = ["--port", "0", "--rest-port", "0"]
    with subprocess.Popen([*command, *ports], stdout=subprocess.PIPE, text=True) as process:
        events = []
        for line in process.stdout:
            events.append(json.loads(line)["event"])
            if events[-1] == "ready":
                process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert events[:3] == ["listening", "version_loaded", "ready"] and events[-1] == "ended"
