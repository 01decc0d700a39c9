"""Starts a server and ends it without losing a request."""

import asyncio
import contextlib
import signal
import ssl
import threading
import time

from keras_vit.export.server import folders
from keras_vit.export.server.access import Access
from keras_vit.export.server.engine import Engine
from keras_vit.export.server.grpc_service import Calls, ModelService, PredictionService
from keras_vit.export.server.logs import Log
from keras_vit.export.server.metrics import Metrics
from keras_vit.export.server.models import Models
from keras_vit.export.server.requests import Requests
from keras_vit.export.server.rest import Rest
from keras_vit.layers.extras import require

APIS = "tensorflow_serving.apis."
# Beside the tensors a message has names; and gRPC counts a picture's bytes without base64.
_EXTRA_BYTES = 2**16
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Server:
    """Serves the models of a folder in a thread of this process, until the block ends.

    Args:
        settings: `Settings`.
        log: `Log`; to stdout by default.

    Attributes:
        port: gRPC's port.
        rest_port: REST's port.
        models: `Models`.
        loaded: `threading.Event`, set once the folder was looked through.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if there is no model in it.
        ImportError: if a package of the extra `serve` is missing.
    """

    def __init__(self, settings, log=None):
        if not folders.found(settings.folder):
            raise ValueError(
                f"{settings.folder} holds no model. It must be NAME/<version>/ with a SavedModel "
                "or a `.tflite` file in it, a folder of such models, or one `.tflite` file."
            )
        self.settings, self.log = settings, log or Log()
        self.metrics = Metrics()
        self.models = Models(settings, self.log, self.metrics)
        self.engine = Engine(self.models, settings)
        access = Access(settings.tokens)
        self._requests = Requests(settings, access, self.metrics, self.models, self.log)
        self.port = self.rest_port = None
        self.loaded = threading.Event()
        self.started = time.monotonic()

    def __enter__(self):
        listening = threading.Event()
        self._failure = None
        self._thread = threading.Thread(
            target=self._in_thread, args=(listening,), name="server", daemon=True
        )
        self._thread.start()
        listening.wait()
        if self._failure:
            raise self._failure
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    def _in_thread(self, listening):
        try:
            asyncio.run(self.main(lambda: listening.set()))
        except Exception as error:
            self._failure = error
        finally:
            listening.set()

    async def main(self, listening=lambda: None, signals=()):
        """Serves until it is told to end; then finishes what was accepted.

        Args:
            listening: called once the ports are open.
            signals: numbers of the signals that end it.
        """
        self._loop, self._ending = asyncio.get_running_loop(), asyncio.Event()
        for number in signals:
            self._loop.add_signal_handler(number, self._ending.set)
        health = require("grpc_health.v1.health", extra="serve").aio.HealthServicer()
        async with self._grpc(health) as grpc_server, self._rest() as runner:
            self.log(
                "listening",
                host=self.settings.host,
                grpc_port=self.port,
                rest_port=self.rest_port,
                page=f"{'https' if self.settings.tls_cert else 'http'}://"
                f"{self.settings.host}:{self.rest_port}/",
                tls=self.settings.tls_cert is not None,
                token=bool(self.settings.tokens),
            )
            if self.settings.host not in LOOPBACK and not self.settings.tokens:
                self.log("open_to_everybody", level="warning", advice="give it a --token")
            listening()
            watch = self.models.watch
            threading.Thread(target=watch, args=(self._looked,), name="watch", daemon=True).start()
            reporting = asyncio.create_task(self._report(health))
            await self._ending.wait()
            self.log("ending")
            reporting.cancel()
            await health.enter_graceful_shutdown()
            # Both at once: neither takes new requests while the other finishes its own.
            await asyncio.gather(grpc_server.stop(self.settings.timeout_s), runner.cleanup())
        await self._loop.run_in_executor(None, self.models.stop)
        self.engine.close()
        self.log("ended")

    def _looked(self):
        """Tells that the models are loaded, or could not be."""
        self.loaded.set()
        ready = self.models.is_ready
        self.log(
            "ready" if ready else "nothing_can_be_served",
            level="info" if ready else "error",
            models=self.models.names,
            seconds=round(time.monotonic() - self.started, 3),
        )

    async def _report(self, health):
        """Keeps gRPC's health service up to date."""
        states = require("grpc_health.v1.health_pb2", extra="serve").HealthCheckResponse
        while True:
            ready = self.models.is_ready
            await health.set("", states.SERVING if ready else states.NOT_SERVING)
            await asyncio.sleep(0.1)

    @contextlib.asynccontextmanager
    async def _grpc(self, health):
        """Serves gRPC; at the end what was accepted is finished."""
        grpc = require("grpc", extra="serve")
        most = self.settings.max_body + _EXTRA_BYTES
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", most),
                ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0),
            ]
        )
        calls = Calls(self._requests)
        prediction = require(APIS + "prediction_service_pb2_grpc", extra="serve")
        prediction.add_PredictionServiceServicer_to_server(
            PredictionService(self.engine, calls), server
        )
        models = require(APIS + "model_service_pb2_grpc", extra="serve")
        models.add_ModelServiceServicer_to_server(ModelService(self.engine, calls), server)
        services = require("grpc_health.v1.health_pb2_grpc", extra="serve")
        services.add_HealthServicer_to_server(health, server)
        self._open_port(grpc, server)
        await server.start()
        try:
            yield server
        finally:
            await server.stop(None)

    def _open_port(self, grpc, server):
        host = self.settings.host
        address = (
            f"[{host}]:{self.settings.port}" if ":" in host else f"{host}:{self.settings.port}"
        )
        try:
            if self.settings.tls_cert:
                pair = self.settings.tls_key.read_bytes(), self.settings.tls_cert.read_bytes()
                credentials = grpc.ssl_server_credentials([pair])
                self.port = server.add_secure_port(address, credentials)
            else:
                self.port = server.add_insecure_port(address)
        except RuntimeError as error:
            raise OSError(
                f"{address} cannot be opened for gRPC: another program may use it. Give another "
                "port, or 0 for a free one."
            ) from error

    @contextlib.asynccontextmanager
    async def _rest(self):
        """Serves REST; at the end what was accepted is finished."""
        web = require("aiohttp.web", extra="serve")
        app = Rest(self.engine, self._requests, self.metrics).application()
        timeout = self.settings.timeout_s
        runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=timeout,
            # Nobody waits for the answer of a client that has gone.
            handler_cancellation=True,
            # It also bounds how long a client may take for its first line and headers.
            keepalive_timeout=timeout,
        )
        await runner.setup()
        context = None
        if self.settings.tls_cert:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(self.settings.tls_cert, self.settings.tls_key)
        site = web.TCPSite(runner, self.settings.host, self.settings.rest_port, ssl_context=context)
        try:
            await site.start()
            self.rest_port = runner.addresses[0][1]
            yield runner
        finally:
            await runner.cleanup()


def run(settings, log=None):
    """Serves the models of a folder until SIGTERM or Ctrl-C.

    Args:
        settings: `Settings`.
        log: `Log`; to stdout by default.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if there is no model in it.
        ImportError: if a package of the extra `serve` is missing.
    """
    server = Server(settings, log)
    asyncio.run(server.main(signals=(signal.SIGTERM, signal.SIGINT)))
