"""Asks a server by TF Serving's gRPC interface."""

import numpy as np

from keras_vit.layers.extras import require
from keras_vit.runtime.server_failures import failure

APIS = "tensorflow_serving.apis."


class Grpc:
    """A model behind `grpc://host:port/NAME[/N]`, or `grpcs://` for TLS.

    Args:
        address: the address, for messages.
        target: host and port.
        name: the model.
        version: its number, or None for the newest.
        secure: whether to use TLS.
        token: bearer token, or None.
        seconds: most seconds for an answer.

    Raises:
        ImportError: if a package of the extra `serve` is missing.
    """

    def __init__(self, address, target, name, version, secure, token, seconds):
        self._address, self._name, self._version = address, name, version
        self._grpc = grpc = require("grpc", extra="serve")
        self._tf = require("tensorflow", extra="tensorflow")
        self._predict = require(APIS + "predict_pb2", extra="serve")
        self._metadata = require(APIS + "get_model_metadata_pb2", extra="serve")
        service = require(APIS + "prediction_service_pb2_grpc", extra="serve")
        options = [("grpc.max_receive_message_length", -1)]
        if secure:
            credentials = grpc.ssl_channel_credentials()
            channel = grpc.secure_channel(target, credentials, options=options)
        else:
            channel = grpc.insecure_channel(target, options=options)
        self._stub = service.PredictionServiceStub(channel)
        sent = (("authorization", f"Bearer {token}"),) if token else ()
        self._options = {"timeout": seconds, "metadata": sent}

    def inputs(self):
        """Returns the inputs of each signature: dict of signature to dict of name to shape."""
        request = self._metadata.GetModelMetadataRequest(metadata_field=["signature_def"])
        response = self._ask(self._stub.GetModelMetadata, request)
        found = self._metadata.SignatureDefMap()
        response.metadata["signature_def"].Unpack(found)
        return {
            signature: {name: _shape(info) for name, info in definition.inputs.items()}
            for signature, definition in found.signature_def.items()
        }

    def predict(self, signature, name, values):
        """Returns the outputs of a signature with one input; see `Http.predict`."""
        request = self._predict.PredictRequest()
        request.model_spec.signature_name = signature
        request.inputs[name].CopyFrom(self._tf.make_tensor_proto(values))
        outputs = self._ask(self._stub.Predict, request).outputs
        found = {key: self._tf.make_ndarray(proto) for key, proto in outputs.items()}
        return {key: _text(one) if one.dtype == object else one for key, one in found.items()}

    def _ask(self, call, request):
        request.model_spec.name = self._name
        if self._version is not None:
            request.model_spec.version.value = self._version
        try:
            return call(request, **self._options)
        except self._grpc.RpcError as error:
            raise failure(self._address, error.code().name, error.details()) from error


def _shape(info):
    return tuple(dim.size for dim in info.tensor_shape.dim)


def _text(array):
    """Bytes as text, as JSON gives it."""
    texts = [one.decode("utf-8", "replace") for one in array.reshape(-1)]
    return np.array(texts, dtype=object).reshape(array.shape)
