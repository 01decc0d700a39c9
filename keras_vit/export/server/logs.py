"""One line of JSON for each event."""

import datetime
import json
import re
import secrets
import sys
import threading

REQUEST_ID = "x-request-id"
_SAFE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


class Log:
    """Writes events as lines of JSON.

    Args:
        stream: where to; stdout by default, where nothing else is written.

    Example:

    >>> Log()("started", port=8500)
    {"time": "...", "level": "info", "event": "started", "port": 8500}
    """

    def __init__(self, stream=None):
        self._stream, self._lock = stream or sys.stdout, threading.Lock()

    def __call__(self, event, level="info", **fields):
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "level": level, "event": event, **fields}, default=str)
        with self._lock:
            self._stream.write(line + "\n")
            self._stream.flush()


def request_id(given=None):
    """Returns the client's own id of a request, or a new one where it gave none that is safe.

    Example:

    >>> request_id("cat-17"), len(request_id("two\\nlines"))
    ('cat-17', 16)
    """
    if given and _SAFE.fullmatch(given):
        return given
    return secrets.token_hex(8)
