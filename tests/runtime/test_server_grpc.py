"""gRPC servers that are not there."""

import socket

import pytest

from keras_vit.runtime.server_grpc import Grpc


def ask(port, seconds):
    address = f"grpc://127.0.0.1:{port}/net"
    client = Grpc(address, f"127.0.0.1:{port}", "net", None, False, None, seconds)
    return client.inputs()


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ConnectionError, match=f"^grpc://127.0.0.1:{port}/net: .*keras-vit serve"):
        ask(port, 30)


def test_nobody_speaks():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(TimeoutError, match="overloaded"):
            ask(silent.getsockname()[1], 0.1)
