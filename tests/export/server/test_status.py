"""Metadata and status."""

import json

import pytest
from tensorflow_serving.apis import get_model_metadata_pb2

from keras_vit.export.server import status
from keras_vit.export.server.engine import Spec
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.signatures import signature_defs


def test_metadata_is_what_the_file_says(server, toy_model):
    response = status.metadata(server.engine, Spec("toy"))
    found = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    assert dict(found.signature_def) == signature_defs(toy_model)
    assert response.model_spec.name == "toy" and response.model_spec.version.value == 1


@pytest.mark.parametrize("fields", [(), ("other",)])
def test_other_fields(server, fields):
    with pytest.raises(Refused):
        status.metadata(server.engine, Spec("toy"), fields)


def test_metadata_as_json(server):
    value = json.loads(status.as_json(status.metadata(server.engine, Spec("toy"))))
    assert value["model_spec"] == {"name": "toy", "signature_name": "", "version": "1"}
    one = value["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert one["method_name"] == "tensorflow/serving/predict"
    shape = one["inputs"]["x"]["tensor_shape"]
    assert [dim["size"] for dim in shape["dim"]] == ["-1", "2"]
    assert shape["unknown_rank"] is False and one["inputs"]["x"]["dtype"] == "DT_FLOAT"


def test_status(server):
    value = json.loads(status.as_json(status.status(server.engine, Spec("toy"))))
    assert value == {
        "model_version_status": [
            {
                "version": "1",
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
        ]
    }
    for spec in (Spec("none"), Spec("toy", 7), Spec("toy", label="x")):
        with pytest.raises(Refused):
            status.status(server.engine, spec)
