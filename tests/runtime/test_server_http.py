"""HTTP servers that are no TF Serving, or broken."""

import contextlib
import http.server
import socket
import threading

import pytest

from keras_vit.runtime.server_http import Http


@contextlib.contextmanager
def answering(status, body):
    """A server that says the same to everybody; gives the address of a model there."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/models/net"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "kind", "text"),
    [
        (404, b'{"error": "no net"}', ValueError, "no net. Check the model's name"),
        (404, b"<html>", ValueError, "404 Not Found."),
        (429, b'{"error": "full"}', OSError, "full. Try again"),
        (401, b"{}", PermissionError, "KERAS_VIT_TOKEN"),
        (500, b'{"error": "broken"}', ValueError, "broken."),
        (200, b"<html>", ConnectionError, "no TF Serving"),
    ],
)
def test_what_it_says_is_told(status, body, kind, text):
    with answering(status, body) as address:
        with pytest.raises(kind, match=text) as caught:
            Http(address, None, 30).inputs()
        assert str(caught.value).startswith(address)


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ConnectionError, match="No server answers .*refused"):
        Http(f"http://127.0.0.1:{port}/v1/models/net", None, 30).inputs()


def test_nobody_speaks():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/models/net"
        with pytest.raises(TimeoutError, match="No answer within 0.05 seconds"):
            Http(address, None, 0.05).inputs()
