"""TF Serving's stubs and plain HTTP get the model's own answers, whatever the picture."""

import base64
import json

import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from keras_vit.data.decode import decode, fit
from keras_vit.export import export
from keras_vit.export.server.signatures import signature_defs
from tests.data.pictures import in_every_form, photograph
from tests.export.server.toys import asked, serving
from tests.small_vit import small_vit

pytestmark = pytest.mark.prove
SECONDS = 60


@pytest.fixture(scope="module")
def model():
    return small_vit((32, 48), (8, 8), channels=3, class_token=True, pooling="token")


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    folder = export(model, "server", folder / "digits" / "5").parent.parent
    with serving(folder) as running:
        running.folder = folder
        yield running


@pytest.fixture(scope="module")
def stub(server):
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(f"127.0.0.1:{server.port}", options=options) as channel:
        yield prediction_service_pb2_grpc.PredictionServiceStub(channel)


@pytest.fixture(scope="module")
def files():
    return in_every_form(photograph(70, 90))


@pytest.fixture(scope="module")
def pixels(model, files):
    """What our one decoder makes of the files, in their order."""
    how = model.preprocessing
    return np.stack([fit(decode(tf.constant(file)), how).numpy() for file in files.values()])


@pytest.fixture(scope="module")
def expected(model, pixels):
    """The Keras model's own logits."""
    return np.asarray(model(model.preprocessing.normalize(pixels)))


def alike(found, expected):
    assert np.abs(np.asarray(found) - expected).max() <= 1e-5 * np.abs(expected).max()


def predict(stub, signature, name, values):
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = "digits", signature
    request.inputs[name].CopyFrom(tf.make_tensor_proto(values))
    outputs = stub.Predict(request, timeout=SECONDS).outputs
    return {key: tf.make_ndarray(proto) for key, proto in outputs.items()}


def post(server, signature, instances, method="predict"):
    body = {"signature_name": signature, "instances": instances}
    status, answer, _ = asked(server, f"/v1/models/digits:{method}", body)
    assert status == 200, answer
    return answer["predictions"]


def b64(content):
    return {"b64": base64.b64encode(content).decode("ascii")}


def test_pictures_of_every_kind(server, stub, files, expected):
    for name, file, logits in zip(files, files.values(), expected, strict=True):
        by_grpc = predict(stub, "serving_bytes", "image_bytes", [file])
        (by_rest,) = post(server, "serving_bytes", [b64(file)])
        for found in (by_grpc["logits"][0], by_rest["logits"]):
            assert np.abs(found - logits).max() <= 1e-5 * np.abs(logits).max(), name
        best = np.argsort(-logits)[:5]
        assert by_rest["classes"] == by_grpc["classes"][0].tolist() == best.tolist()
        names = [f"digit {index}" for index in best]
        assert by_rest["labels"] == [one.decode() for one in by_grpc["labels"][0]] == names
        np.testing.assert_allclose(by_rest["scores"], by_grpc["scores"][0], rtol=1e-5)
        assert by_rest["error"] == "" and by_grpc["error"][0] == b""


def test_arrays(server, stub, pixels, expected):
    pixels, expected = pixels[:5], expected[:5]
    for signature, values in (
        ("serving_default", pixels),
        ("serving_uint8", pixels.astype("uint8")),
    ):
        alike(predict(stub, signature, "images", values)["logits"], expected)
        rows = post(server, signature, values.astype("int64").tolist())
        alike([row["logits"] for row in rows], expected)


def test_examples(server, stub, files, expected):
    encoded = list(files.values())[:3]
    request = classification_pb2.ClassificationRequest()
    request.model_spec.name, request.model_spec.signature_name = "digits", "classify"
    for file in encoded:
        example = request.input.example_list.examples.add()
        example.features.feature["image/encoded"].bytes_list.value.append(file)
    rows = stub.Classify(request, timeout=SECONDS).result.classifications
    by_grpc = [[(one.label, one.score) for one in row.classes] for row in rows]
    body = {
        "signature_name": "classify",
        "examples": [{"image/encoded": b64(one)} for one in encoded],
    }
    answer = asked(server, "/v1/models/digits:classify", body)[1]["results"]
    shares = np.exp(expected) / np.exp(expected).sum(axis=-1, keepdims=True)
    for found, listed, share in zip(by_grpc, answer, shares, strict=False):
        best = np.argsort(-share)[:5]
        assert [name for name, _ in found] == [f"digit {index}" for index in best]
        np.testing.assert_allclose([score for _, score in found], share[best], rtol=1e-4)
        assert [name for name, _ in listed] == [name for name, _ in found]
        np.testing.assert_allclose([score for _, score in listed], share[best], rtol=1e-4)


def test_one_bad_picture_fails_alone(server, stub, files, expected):
    good = list(files.values())[0]
    for bad in (b"", b"no picture", good[: len(good) // 2][:300]):
        outputs = predict(stub, "serving_bytes", "image_bytes", [good, bad, good])
        alike(outputs["logits"][[0, 2]], expected[[0, 0]])
        assert [bool(text) for text in outputs["error"]] == [False, True, False]
        rows = post(server, "serving_bytes", [b64(good), b64(bad), b64(good)])
        assert [bool(row["error"]) for row in rows] == [False, True, False]
        alike([rows[0]["logits"], rows[2]["logits"]], expected[[0, 0]])


def test_what_the_server_decodes_is_what_the_graph_decodes(server, files):
    asked_ = [*list(files.values())[:4], b"no picture"]
    with server.models.use("digits") as loaded:
        runner = loaded.runner
        encoded = np.array(asked_, dtype=object)
        signature, inputs, finish = runner.prepare("serving_bytes", {"image_bytes": encoded})
        assert signature == "serving_default"
        found = finish(runner.run(signature, inputs))
        expected = runner.run("serving_bytes", {"image_bytes": encoded})
    assert [bool(text) for text in found.pop("error")] == [False] * 4 + [True]
    for name, array in found.items():
        if array.dtype.kind == "f":
            np.testing.assert_allclose(array, expected[name], rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(array, expected[name])


def test_metadata_is_the_files_own(server, stub):
    path = server.folder / "digits" / "5"
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "digits"
    response = stub.GetModelMetadata(request, timeout=SECONDS)
    found = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    assert dict(found.signature_def) == signature_defs(path)
    told = asked(server, "/v1/models/digits/metadata")[1]["metadata"]["signature_def"]
    assert set(told["signature_def"]) == set(signature_defs(path))
    # What the artefact's own card promises is what is told.
    for name, one in json.loads((path / "SERVING.json").read_text())["signatures"].items():
        shown = told["signature_def"][name]
        assert shown["method_name"] == one["method"]
        for side in ("inputs", "outputs"):
            shapes = {
                key: [int(dim["size"]) for dim in info["tensor_shape"]["dim"]]
                for key, info in shown[side].items()
            }
            stated = {
                key: [-1 if size is None else size for size in form["shape"]]
                for key, form in one[side].items()
            }
            assert shapes == stated
