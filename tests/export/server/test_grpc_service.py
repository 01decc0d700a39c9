"""TF Serving's own stubs."""

import contextlib

import grpc
import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from keras_vit.export.server.signatures import signature_defs
from tests.export.server.toys import serving

SECONDS = 30


@contextlib.contextmanager
def stubs(server):
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield (
            prediction_service_pb2_grpc.PredictionServiceStub(channel),
            model_service_pb2_grpc.ModelServiceStub(channel),
            health_pb2_grpc.HealthStub(channel),
        )


@pytest.fixture(scope="module")
def clients(server):
    with stubs(server) as made:
        yield made


def predicting(signature="", version=None, **inputs):
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = "toy", signature
    if version is not None:
        request.model_spec.version.value = version
    for name, value in inputs.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(value))
    return request


X = np.array([[1, 2], [3, 4.5]], "float32")


def test_predict(clients):
    predict = clients[0].Predict
    response = predict(predicting(x=X), timeout=SECONDS)
    assert response.outputs["y"].float_val[:] == [2, 4, 6, 9]
    np.testing.assert_array_equal(tf.make_ndarray(response.outputs["y"]), 2 * X)
    spec = response.model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == ("toy", 1, "serving_default")
    request = predicting("pair", 1, x=X, count=np.array([1, 2], "int32"))
    assert set(predict(request, timeout=SECONDS).outputs) == {"total", "count"}
    request.output_filter.append("count")
    assert set(predict(request, timeout=SECONDS).outputs) == {"count"}
    response = predict(predicting("texts", text_bytes=[b"\xff", b""]), timeout=SECONDS)
    assert response.outputs["back_bytes"].string_val[:] == [b"\xff", b""]
    assert response.outputs["length"].int_val[:] == [1, 0]


def test_classify(clients):
    request = classification_pb2.ClassificationRequest()
    request.model_spec.name, request.model_spec.signature_name = "toy", "classify"
    example = request.input.example_list.examples.add()
    example.features.feature["x"].float_list.value.extend([1, 2.5])
    response = clients[0].Classify(request, timeout=SECONDS)
    found = [(one.label, one.score) for one in response.result.classifications[0].classes]
    assert found == [("a", 2), ("b", 5)]
    assert response.model_spec.signature_name == "classify"


def test_metadata_and_status(clients, toy_model):
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "toy"
    response = clients[0].GetModelMetadata(request, timeout=SECONDS)
    found = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    assert dict(found.signature_def) == signature_defs(toy_model)
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "toy"
    (status,) = clients[1].GetModelStatus(request, timeout=SECONDS).model_version_status
    assert (status.version, status.state, status.status.error_code) == (1, 30, 0)


@pytest.mark.parametrize(
    ("request_", "code", "text"),
    [
        (predict_pb2.PredictRequest(), "INVALID_ARGUMENT", "Missing ModelSpec"),
        (predicting(version=7, x=X), "NOT_FOUND", "Specific(toy, 7)"),
        (predicting("no", x=X), "FAILED_PRECONDITION", 'key "no" not found'),
        (predicting(), "INVALID_ARGUMENT", "Missing but required: {x}"),
        (predicting(x=-X), "INVALID_ARGUMENT", "x is negative"),
    ],
)
def test_refusals(clients, request_, code, text):
    with pytest.raises(grpc.RpcError) as caught:
        clients[0].Predict(request_, timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode[code] and text in caught.value.details()


def test_what_is_not_implemented(clients):
    calls = [
        (clients[0].Regress, regression_pb2.RegressionRequest()),
        (clients[0].MultiInference, inference_pb2.MultiInferenceRequest()),
    ]
    for call, request in calls:
        with pytest.raises(grpc.RpcError) as caught:
            call(request, timeout=SECONDS)
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
        assert "Use Predict or Classify" in caught.value.details()


def test_ids_and_lines_of_the_log(clients, server):
    _, call = clients[0].Predict.with_call(
        predicting(x=X), timeout=SECONDS, metadata=(("x-request-id", "cat-17"),)
    )
    assert ("x-request-id", "cat-17") in [tuple(one) for one in call.trailing_metadata()]
    (line,) = [one for one in server.lines.of("request") if one["id"] == "cat-17"]
    assert (line["protocol"], line["rows"], line["version"]) == ("grpc", 2, 1)


def test_reloading_the_config(models):
    request = model_management_pb2.ReloadConfigRequest()
    text = "model_config_list { config { name: 'toy' version_labels { key: 'good' value: 1 } } }"
    text_format.Parse(text, request.config)
    asked = predicting(x=X)
    asked.model_spec.version_label = "good"
    with serving(models) as server, stubs(server) as (prediction, service, _):
        with pytest.raises(grpc.RpcError, match="version label: good"):
            prediction.Predict(asked, timeout=SECONDS)
        service.HandleReloadConfigRequest(request, timeout=SECONDS)
        assert prediction.Predict(asked, timeout=SECONDS).model_spec.version.value == 1
        request.config.model_config_list.config[0].base_path = "/etc"
        with pytest.raises(grpc.RpcError, match="base_path"):
            service.HandleReloadConfigRequest(request, timeout=SECONDS)


def test_the_token_and_health(models):
    with serving(models, tokens=("secret",)) as server, stubs(server) as (prediction, _, health):
        with pytest.raises(grpc.RpcError) as caught:
            prediction.Predict(predicting(x=X), timeout=SECONDS)
        assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED
        metadata = (("authorization", "Bearer secret"),)
        assert prediction.Predict(predicting(x=X), timeout=SECONDS, metadata=metadata)
        watched = health.Watch(health_pb2.HealthCheckRequest(), timeout=SECONDS)
        while next(watched).status != health_pb2.HealthCheckResponse.SERVING:
            pass
        watched.cancel()
