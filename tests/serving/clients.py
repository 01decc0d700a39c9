"""TF Serving's own stubs, and HTTP by the standard library."""

import base64
import contextlib
import json
import urllib.error
import urllib.request

import grpc
import tensorflow as tf
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    predict_pb2,
    prediction_service_pb2_grpc,
)

NAME = "vit"


@contextlib.contextmanager
def stub(served):
    with grpc.insecure_channel(served.grpc) as channel:
        yield prediction_service_pb2_grpc.PredictionServiceStub(channel)


def by_grpc(served, signature, **inputs):
    """The outputs of a Predict call, as arrays."""
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = NAME, signature
    for name, value in inputs.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(value))
    with stub(served) as service:
        response = service.Predict(request, timeout=60)
    return {name: tf.make_ndarray(proto) for name, proto in response.outputs.items()}


def classified_by_grpc(served, pictures):
    request = classification_pb2.ClassificationRequest()
    request.model_spec.name, request.model_spec.signature_name = NAME, "classify"
    for picture in pictures:
        example = request.input.example_list.examples.add()
        example.features.feature["image/encoded"].bytes_list.value.append(picture)
    with stub(served) as service:
        return service.Classify(request, timeout=60).result.classifications


def metadata_by_grpc(served):
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = NAME
    with stub(served) as service:
        response = service.GetModelMetadata(request, timeout=60)
    found = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    return response.model_spec, found.signature_def


def by_rest(served, path, body=None, method=None, headers=None):
    """(status, JSON) of an HTTP request."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    url = f"http://{served.rest}{path}"
    request = urllib.request.Request(url, data, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def in_base64(picture):
    return {"b64": base64.b64encode(picture).decode()}


def predicted(served, signature, instances):
    """The rows that REST answers."""
    body = {"signature_name": signature, "instances": instances}
    status, answer = by_rest(served, f"/v1/models/{NAME}:predict", body)
    assert status == 200, answer
    return answer["predictions"]
