"""TF Serving's gRPC services: what its generated code calls."""

import asyncio

from keras_vit.export.server import examples, status
from keras_vit.export.server.engine import Spec
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.logs import REQUEST_ID
from keras_vit.export.server.reload import rules_of
from keras_vit.export.server.signatures import DEFAULT, check_form
from keras_vit.export.server.tensors import dtype_of, to_proto
from keras_vit.layers.extras import require

APIS = "tensorflow_serving.apis."


def spec_of(message):
    """Returns the `Spec` of a `ModelSpec` message.

    Raises:
        Refused: without a name.
    """
    if not message.name:
        raise Refused("INVALID_ARGUMENT", "Missing ModelSpec")
    version = message.version.value if message.HasField("version") else None
    signature = message.signature_name or DEFAULT
    return Spec(message.name, version, message.version_label or None, signature)


class Calls:
    """Runs the body of a call and turns what it raises into gRPC's status.

    Args:
        requests: `Requests`.
    """

    def __init__(self, requests):
        self._requests = requests
        self._codes = require("grpc", extra="serve").StatusCode

    async def run(self, method, context, body):
        """Returns what `body`, a coroutine function of a `Record`, returns.

        Args:
            method: name of the call.
            context: gRPC's.
            body: the work.
        """
        sent = dict(context.invocation_metadata())
        try:
            with self._requests.one(
                "grpc", method, sent.get(REQUEST_ID), sent.get("authorization")
            ) as record:
                context.set_trailing_metadata(((REQUEST_ID, record.id),))
                return await body(record)
        except Refused as error:
            refused = error
        await context.abort(self._codes[refused.code], refused.message)


class PredictionService:
    """Predict, Classify and GetModelMetadata; Regress and MultiInference are not implemented.

    Args:
        engine: `Engine`.
        calls: `Calls`.
    """

    def __init__(self, engine, calls):
        self._engine, self._calls = engine, calls
        self._predict = require(APIS + "predict_pb2", extra="serve")
        self._classify = require(APIS + "classification_pb2", extra="serve")

    async def Predict(self, request, context):
        """Runs a signature on tensors."""

        async def body(record):
            spec = _noted(record, spec_of(request.model_spec))
            answer = await self._engine.predict(
                spec, request.inputs, list(request.output_filter), context.time_remaining()
            )
            response = self._predict.PredictResponse()
            _fill_spec(response.model_spec, record, spec, answer)
            for name, array in answer.outputs.items():
                dtype = dtype_of(answer.definition.outputs[name])
                response.outputs[name].CopyFrom(to_proto(array, dtype))
            return response

        return await self._calls.run("predict", context, body)

    async def Classify(self, request, context):
        """Runs a classification signature on `tf.Example`s."""

        async def body(record):
            spec = _noted(record, spec_of(request.model_spec))
            answer = await classify(self._engine, spec, request.input, context.time_remaining())
            response = self._classify.ClassificationResponse()
            _fill_spec(response.model_spec, record, spec, answer)
            examples.fill(response.result, answer.outputs)
            return response

        return await self._calls.run("classify", context, body)

    async def GetModelMetadata(self, request, context):
        """Tells a model's signatures."""

        async def body(record):
            spec = _noted(record, spec_of(request.model_spec))
            return status.metadata(self._engine, spec, request.metadata_field)

        return await self._calls.run("metadata", context, body)

    async def Regress(self, request, context):
        """Refuses: these models classify."""
        return await self._calls.run("regress", context, _refuse("Regress"))

    async def MultiInference(self, request, context):
        """Refuses: these models classify."""
        return await self._calls.run("multi_inference", context, _refuse("MultiInference"))


class ModelService:
    """GetModelStatus and HandleReloadConfigRequest.

    Args:
        engine: `Engine`.
        calls: `Calls`.
    """

    def __init__(self, engine, calls):
        self._engine, self._calls = engine, calls
        self._reload = require(APIS + "model_management_pb2", extra="serve")

    async def GetModelStatus(self, request, context):
        """Tells the state of a model's versions."""

        async def body(record):
            return status.status(self._engine, _noted(record, spec_of(request.model_spec)))

        return await self._calls.run("status", context, body)

    async def HandleReloadConfigRequest(self, request, context):
        """Takes other rules for models and versions, and waits until they hold."""

        async def body(record):
            models = self._engine.models
            settings = self._engine.settings
            models.rules = rules_of(request.config, settings.folder, settings.versions)
            await asyncio.get_running_loop().run_in_executor(None, models.look)
            return self._reload.ReloadConfigResponse()

        return await self._calls.run("reload_config", context, body)


async def classify(engine, spec, message, seconds=None):
    """Returns the `Answer` of a classification signature.

    Args:
        engine: `Engine`.
        spec: `Spec`.
        message: TF Serving's `Input`.
        seconds: how long the client waits, or None.

    Raises:
        Refused: if it cannot be answered.
    """
    with engine.definition(spec) as (loaded, definition):
        examples.check(definition)
        inputs = {examples.INPUT: examples.serialized(message)}
        info = definition.inputs[examples.INPUT]
        check_form(examples.INPUT, info, info.dtype, inputs[examples.INPUT].shape)
        wanted = examples.wanted(definition)
        return await engine.compute(loaded, definition, spec, inputs, wanted, seconds)


def _noted(record, spec):
    record.model, record.signature = spec.name, spec.signature
    return spec


def _fill_spec(message, record, spec, answer):
    record.version, record.rows = answer.version, answer.rows
    message.name, message.signature_name = spec.name, spec.signature
    message.version.value = answer.version


def _refuse(name):
    async def body(record):
        text = f"{name} is not implemented: these models classify. Use Predict or Classify."
        raise Refused("UNIMPLEMENTED", text)

    return body
