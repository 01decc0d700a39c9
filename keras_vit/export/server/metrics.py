"""What Prometheus is told."""

import contextlib
import time

from keras_vit.layers.extras import require

# From a small model's batch on a fast machine to the longest time-out anybody sets.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_STATES = ("LOADING", "AVAILABLE", "UNLOADING", "END")


class Metrics:
    """The figures of one server.

    Raises:
        ImportError: if `prometheus_client` is not installed.
    """

    def __init__(self):
        self._client = client = require("prometheus_client", extra="serve")
        self.registry = client.CollectorRegistry()
        client.ProcessCollector(registry=self.registry)
        asked, version = ("protocol", "method", "model"), ("model", "version")
        count, gauge, spread = client.Counter, client.Gauge, client.Histogram
        made = {
            "requests": (count, "Requests that were answered.", (*asked, "code")),
            "request_seconds": (spread, "From a request's arrival to its answer.", asked),
            "requests_in_flight": (gauge, "Requests being answered.", ()),
            "batch_rows": (spread, "Examples of a batch.", version),
            "batch_wait_seconds": (spread, "How long a batch's oldest request waited.", version),
            "batch_run_seconds": (spread, "How long a batch was computed.", version),
            "version_state": (gauge, "1 for the state of a version.", (*version, "state")),
            "load_failures": (count, "Versions that could not be loaded.", ("model",)),
            "load_seconds": (gauge, "Loading and warm-up of the last version.", ("model",)),
        }
        for name, (kind, text, labels) in made.items():
            buckets = {"buckets": ROWS if name == "batch_rows" else SECONDS}
            options = buckets if kind is spread else {}
            figure = kind(f"keras_vit_{name}", text, labels, registry=self.registry, **options)
            setattr(self, name, figure)

    def observer(self, model, version):
        """Returns what a version's `Batcher` calls after each batch."""
        labels = (model, str(version))
        figures = (self.batch_rows, self.batch_wait_seconds, self.batch_run_seconds)
        rows, waits, runs = (figure.labels(*labels) for figure in figures)

        def observe(count, requests, waited, seconds):
            rows.observe(count)
            waits.observe(waited)
            runs.observe(seconds)

        return observe

    def state(self, model, version, state):
        """Notes the state of a version."""
        for one in _STATES:
            self.version_state.labels(model, str(version), one).set(one == state)

    def load_failed(self, model):
        """Notes a version that could not be loaded."""
        self.load_failures.labels(model).inc()

    @contextlib.contextmanager
    def loading(self, model):
        """Times the block; gives a function that returns the seconds so far."""
        started = time.monotonic()
        yield lambda: time.monotonic() - started
        self.load_seconds.labels(model).set(time.monotonic() - started)

    def text(self):
        """Returns all figures as Prometheus reads them, and their content type."""
        return self._client.generate_latest(self.registry), self._client.CONTENT_TYPE_LATEST
