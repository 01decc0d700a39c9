"""A real web server on the loopback device, with the faults that downloads meet."""

import contextlib
import hashlib
import http.server
import re
import threading

import numpy as np

CONTENT = np.random.default_rng(7).bytes(3_000_017)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class FileServer(http.server.ThreadingHTTPServer):
    """Serves `content` at every path, and keeps what it was asked.

    Attributes:
        requests: a pair (path, Range header or None) for each request.
        breaks_after: bytes after which the connection is cut, or None.
        ranges: `"honoured"`, `"ignored"`, or `"shifted"`: another part than asked for.
        status: of every answer.
        length: whether Content-Length is stated; else the body comes in chunks.
        etag: names the version of the content; a part of another one is not continued.
        stalled: an event to wait for before anything is answered, or None.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content, self.requests = CONTENT, []
        self.breaks_after, self.ranges, self.status, self.length = None, "honoured", 200, True
        self.stalled, self.etag = None, '"first"'

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/folder/w.npz"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server, content = self.server, self.server.content
        asked = self.headers.get("Range")
        server.requests.append((self.path, asked))
        if server.stalled is not None:
            server.stalled.wait()
            self.close_connection = True
            return
        start = 0
        if self.headers.get("If-Range") not in (None, server.etag):
            asked = None
        if asked and server.ranges != "ignored":
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])
            if start >= len(content):
                self._answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                return
            if server.ranges == "shifted":
                start -= 5
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        status = 206 if asked and server.ranges != "ignored" else server.status
        self._answer(status, content[start:], headers if status == 206 else {})

    def _answer(self, status, body, headers):
        self.send_response(status)
        self.send_header("ETag", self.server.etag)
        for name, value in headers.items():
            self.send_header(name, value)
        name, value = "Content-Length", len(body)
        if not self.server.length:
            name, value = "Transfer-Encoding", "chunked"
        self.send_header(name, str(value))
        self.end_headers()
        cut = self.server.breaks_after
        whole = cut is None or len(body) <= cut
        sent = body if whole else body[:cut]
        if self.server.length:
            self.wfile.write(sent)
        else:
            self.wfile.write(f"{len(sent):x}\r\n".encode() + sent + b"\r\n")
            self.wfile.write(b"0\r\n\r\n" if whole else b"")
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving():
    """A running `FileServer`, closed at the end."""
    with FileServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
