"""What both protocols tell of models: metadata and status, as TF Serving's messages."""

import json

from keras_vit.export.server.errors import Refused
from keras_vit.layers.extras import require

APIS = "tensorflow_serving.apis."
# Codes of a version: it could not be loaded, whatever broke, or all is well.
OK, UNKNOWN = 0, 2


def metadata(engine, spec, fields=("signature_def",)):
    """Returns a `GetModelMetadataResponse`.

    Args:
        engine: `Engine`.
        spec: `Spec`; its signature counts for nothing.
        fields: what is asked for; only `signature_def` is known.

    Raises:
        Refused: for another field, or no such model.
    """
    messages = require(APIS + "get_model_metadata_pb2", extra="serve")
    if not fields:
        raise Refused("INVALID_ARGUMENT", "GetModelMetadataRequest must specify at least one field")
    for field in fields:
        if field != "signature_def":
            raise Refused("INVALID_ARGUMENT", f"Metadata field {field} is not supported")
    with engine.models.use(spec.name, spec.version, spec.label) as loaded:
        signatures = messages.SignatureDefMap()
        for name, definition in loaded.runner.definitions.items():
            signatures.signature_def[name].CopyFrom(definition)
        response = messages.GetModelMetadataResponse()
        response.model_spec.name = spec.name
        response.model_spec.version.value = loaded.number
        response.metadata["signature_def"].Pack(signatures)
    return response


def status(engine, spec):
    """Returns a `GetModelStatusResponse`.

    Args:
        engine: `Engine`.
        spec: `Spec`; without a version it asks for all.

    Raises:
        Refused: for a model or version that never was there.
    """
    messages = require(APIS + "get_model_status_pb2", extra="serve")
    version = spec.version
    if spec.label:
        with engine.models.use(spec.name, label=spec.label) as loaded:
            version = loaded.number
    response = messages.GetModelStatusResponse()
    for number, one in engine.models.status(spec.name, version).items():
        entry = response.model_version_status.add(version=number)
        entry.state = messages.ModelVersionStatus.State.Value(one.state)
        entry.status.error_code = UNKNOWN if one.error else OK
        entry.status.error_message = one.error
    return response


def as_json(message):
    """Returns a response as TF Serving's REST interface writes it: every field, in snake case."""
    form = require("google.protobuf.json_format", extra="serve")
    options = {"preserving_proto_field_name": True, "always_print_fields_with_no_presence": True}
    if not hasattr(message, "metadata"):
        return form.MessageToJson(message, **options)
    messages = require(APIS + "get_model_metadata_pb2", extra="serve")
    signatures = messages.SignatureDefMap()
    message.metadata["signature_def"].Unpack(signatures)
    return json.dumps(
        {
            "model_spec": form.MessageToDict(message.model_spec, **options),
            "metadata": {"signature_def": form.MessageToDict(signatures, **options)},
        }
    )
