"""What happens around every request: its id, the token, the limit, a line in the log."""

import asyncio
import contextlib
import dataclasses
import time
import traceback

from keras_vit.export.server.errors import Refused
from keras_vit.export.server.logs import request_id

# Requests that may be read or written at a time, beyond those in the queue.
BEYOND_THE_QUEUE = 256
# Most characters of a name in the log.
LONGEST_NAME = 200


@dataclasses.dataclass
class Record:
    """What the log will say of a request.

    Args:
        id: its id.
        model: the model that it asks.
        version: the version that answered.
        signature: the signature that it asks.
        rows: its examples.
    """

    id: str
    model: str = ""
    version: int | None = None
    signature: str = ""
    rows: int | None = None


class Requests:
    """Counts and notes requests.

    Args:
        settings: the server's `Settings`.
        access: `Access`.
        metrics: `Metrics`.
        models: `Models`.
        log: `Log`.
    """

    def __init__(self, settings, access, metrics, models, log):
        self._access, self._metrics, self._models, self._log = access, metrics, models, log
        self._limit = settings.queue + BEYOND_THE_QUEUE
        self._running = 0

    @contextlib.contextmanager
    def one(self, protocol, method, given_id=None, authorization=None):
        """Surrounds the work for one request.

        Args:
            protocol: `"grpc"` or `"rest"`.
            method: what is asked, such as `"predict"`.
            given_id: the id that the client gave.
            authorization: the text of that header.

        Yields:
            A `Record` to fill.

        Raises:
            Refused: whatever the block raises, as that.
        """
        record, started, code = Record(request_id(given_id)), time.monotonic(), "OK"
        self._metrics.requests_in_flight.inc()
        self._running += 1
        try:
            self._access.check(authorization)
            if self._running > self._limit:
                raise Refused("RESOURCE_EXHAUSTED", "Too many requests. Try again in a moment.")
            yield record
        except Refused as error:
            code = error.code
            self._note(protocol, method, record, code, started, error=error.message)
            raise
        except asyncio.CancelledError:
            code = "CANCELLED"
            self._note(protocol, method, record, code, started)
            raise
        except Exception as error:
            code = "INTERNAL"
            text = traceback.format_exc()
            self._note(protocol, method, record, code, started, level="error", error=text)
            message = f"The server failed; its log has the reason under the id {record.id}."
            raise Refused(code, message) from error
        else:
            self._note(protocol, method, record, code, started)
        finally:
            self._running -= 1
            self._metrics.requests_in_flight.dec()

    def _note(self, protocol, method, record, code, started, level="info", **more):
        seconds = time.monotonic() - started
        # Only names of models that there are: a client's inventions would fill the memory.
        model = record.model if record.model in self._models.names else ""
        self._metrics.requests.labels(protocol, method, model, code).inc()
        self._metrics.request_seconds.labels(protocol, method, model).observe(seconds)
        fields = {key: value for key, value in vars(record).items() if value not in ("", None)}
        for name in {"model", "signature"} & set(fields):
            fields[name] = fields[name][:LONGEST_NAME]  # a client may send any
        self._log(
            "request",
            level=level,
            protocol=protocol,
            method=method,
            code=code,
            ms=round(1000 * seconds, 2),
            **fields,
            **more,
        )
