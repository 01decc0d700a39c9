"""TF Serving's REST interface, health, metrics and the page."""

import asyncio
import dataclasses
import json
import re
from urllib.parse import unquote

from keras_vit.export.server import examples, json_forms, page, status
from keras_vit.export.server.engine import Spec
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.grpc_service import classify
from keras_vit.export.server.logs import REQUEST_ID
from keras_vit.export.server.signatures import DEFAULT, check_form
from keras_vit.layers.extras import require

_MODEL = (
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>[0-9]{1,18})|/labels/(?P<label>[^/:]+))?"
)
_ASK = re.compile(_MODEL + r":(?P<method>predict|classify|regress)")
_TELL = re.compile(_MODEL + r"(?P<metadata>/metadata)?")
# What a client is told by headers, too.
_MORE = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}


class Rest:
    """Answers HTTP requests.

    Args:
        engine: `Engine`.
        requests: `Requests`.
        metrics: `Metrics`.
    """

    def __init__(self, engine, requests, metrics):
        self._engine, self._requests, self._metrics = engine, requests, metrics
        self._web = require("aiohttp.web", extra="serve")
        self._input = require("tensorflow_serving.apis.input_pb2", extra="serve").Input
        self._result = require("tensorflow_serving.apis.classification_pb2", extra="serve")

    def application(self):
        """Returns the aiohttp application."""
        app = self._web.Application(client_max_size=self._engine.settings.max_body)
        app.router.add_get("/healthz", self._healthy)
        app.router.add_get("/readyz", self._ready)
        for path in ("/metrics", "/monitoring/prometheus/metrics"):
            app.router.add_get(path, self._figures)
        for path in page.FILES:
            app.router.add_get(path, self._page)
        app.router.add_get("/page.json", self._listed)
        app.router.add_post("/page/look/{name}", self._look)
        app.router.add_route("*", "/{path:.*}", self._model)
        return app

    async def _healthy(self, request):
        return self._web.json_response({"status": "ok"})

    async def _ready(self, request):
        ready = self._engine.models.is_ready
        body = {"ready": ready, "models": self._engine.models.names}
        return self._web.json_response(body, status=200 if ready else 503)

    async def _figures(self, request):
        async def body(record):
            return self._metrics.text()

        return await self._answered(request, "metrics", body)

    async def _page(self, request):
        text, kind = page.text_of(request.path)
        web = self._web
        return web.Response(text=text, content_type=kind, charset="utf-8", headers=page.HEADERS)

    async def _listed(self, request):
        async def body(record):
            return _json(page.described(self._engine.models))

        return await self._answered(request, "page", body)

    async def _look(self, request):
        async def body(record):
            record.model = request.match_info["name"]
            encoded = await self._read(request)
            return _json(await page.look(self._engine, record.model, encoded))

        return await self._answered(request, "look", body)

    async def _model(self, request):
        """Everything under /v1/models: told from the path as it was sent, never from a file."""
        path = request.raw_path.partition("?")[0]
        if request.method == "POST" and (asked := _ASK.fullmatch(path)):
            return await self._asked(request, asked)
        if request.method in ("GET", "HEAD") and (told := _TELL.fullmatch(path)):
            return await self._told(request, told)

        async def malformed(record):
            raise Refused("INVALID_ARGUMENT", f"Malformed request: {request.method} {path[:200]}")

        return await self._answered(request, "unknown", malformed)

    async def _asked(self, request, match):
        method = match["method"]

        async def body(record):
            spec = _spec(match)
            record.model = spec.name
            if method == "regress":
                text = "Regress is not implemented: these models classify."
                raise Refused("UNIMPLEMENTED", text)
            value = await self._engine.in_thread(json_forms.parsed, await self._read(request))
            spec = dataclasses.replace(spec, signature=value.get("signature_name") or DEFAULT)
            record.signature = spec.signature
            work = {"predict": self._predict, "classify": self._classify}[method]
            return _json(await work(spec, value, record))

        return await self._answered(request, method, body)

    async def _predict(self, spec, value, record):
        with self._engine.definition(spec, missing="INVALID_ARGUMENT") as (loaded, definition):
            inputs, form = await self._engine.in_thread(json_forms.inputs_of, value, definition)
            for name, array in inputs.items():
                info = definition.inputs[name]
                check_form(name, info, info.dtype, array.shape)
            answer = await self._engine.compute(loaded, definition, spec, inputs)
            record.version, record.rows = answer.version, answer.rows
            return await self._engine.in_thread(json_forms.answer, answer.outputs, definition, form)

    async def _classify(self, spec, value, record):
        message = self._input()
        await self._engine.in_thread(json_forms.examples_of, value, message)
        answer = await classify(self._engine, spec, message)
        record.version, record.rows = answer.version, answer.rows
        result = self._result.ClassificationResult()
        examples.fill(result, answer.outputs)
        return json_forms.classification(result)

    async def _told(self, request, match):
        is_metadata = bool(match["metadata"])

        async def body(record):
            spec = _spec(match)
            record.model = spec.name
            tell = status.metadata if is_metadata else status.status
            return _json(status.as_json(tell(self._engine, spec)))

        return await self._answered(request, "metadata" if is_metadata else "status", body)

    async def _read(self, request):
        """The body, which must be small enough, whole, and arrive in time."""
        limit, most = self._engine.settings.timeout_s, self._engine.settings.max_body
        too_large = Refused("INVALID_ARGUMENT", f"The body must have at most {most} bytes.", 413)
        if (request.content_length or 0) > most:
            raise too_large
        try:
            async with asyncio.timeout(limit):
                return await request.read()
        except TimeoutError:
            text = f"The body did not arrive within {limit:.3g} seconds."
            raise Refused("DEADLINE_EXCEEDED", text) from None
        except self._web.HTTPRequestEntityTooLarge:
            raise too_large from None
        except (self._web.RequestPayloadError, ConnectionError) as error:
            raise Refused("INVALID_ARGUMENT", f"The body is broken: {error}") from error

    async def _answered(self, request, method, body):
        """The response with what `body` gives, or with the error that it raises."""
        headers = {}
        try:
            with self._requests.one(
                "rest",
                method,
                request.headers.get(REQUEST_ID),
                request.headers.get("Authorization"),
            ) as record:
                headers[REQUEST_ID] = record.id
                content, kind = await body(record)
                headers["Content-Type"] = kind
                return self._web.Response(body=content, headers=headers)
        except Refused as error:
            headers |= _MORE.get(error.http_status, {})
            body = json.dumps({"error": error.message})
            return self._web.json_response(text=body, status=error.http_status, headers=headers)


def _json(text):
    return text.encode("utf-8"), "application/json"


def _spec(match):
    name, label = unquote(match["name"]), match["label"] and unquote(match["label"])
    return Spec(name, match["version"] and int(match["version"]), label)
