"""ONNX files: valid, any batch, exact GELU in the form that runtimes know."""

import json
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

from keras_vit.export.onnx import OPSET, erfc, write_onnx
from keras_vit.layers import Preprocessing


@pytest.fixture(scope="module")
def file(artefacts):
    return onnx.load(artefacts["onnx"])


def test_input_and_outputs_are_stated(file):
    def form(value):
        kind = value.type.tensor_type
        return value.name, kind.elem_type, [d.dim_param or d.dim_value for d in kind.shape.dim]

    real = onnx.TensorProto.FLOAT
    assert [form(one) for one in file.graph.input] == [("images", real, ["batch", 16, 16, 1])]
    assert {one.name: form(one)[1:] for one in file.graph.output} == {
        "logits": (real, ["batch", 10]),
        "probabilities": (real, ["batch", 10]),
    }
    assert {one.domain: one.version for one in file.opset_import}[""] == OPSET


def test_onnxs_own_evaluator_gets_the_models_logits(artefacts, file):
    from onnx.reference import ReferenceEvaluator

    model, pixels = artefacts.model, artefacts.pixels[:3].astype("float32")
    found = ReferenceEvaluator(file).run(["logits", "probabilities"], {"images": pixels})
    expected = np.asarray(model(model.preprocessing.normalize(pixels)))
    assert np.abs(found[0] - expected).max() <= 1e-5 * np.abs(expected).max()
    np.testing.assert_allclose(found[1].sum(axis=-1), 1, rtol=1e-5)


def test_the_description_is_metadata(artefacts, file):
    held = {one.key: one.value for one in file.metadata_props}
    assert held["labels.txt"].splitlines() == list(artefacts.model.preprocessing.class_names)
    assert Preprocessing(**json.loads(held["preprocessing.json"])) == artefacts.model.preprocessing


def test_onnx_runtime_knows_the_gelu(artefacts, tmp_path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    onnxruntime.InferenceSession(str(artefacts["onnx"]), options, ["CPUExecutionProvider"])
    kinds = [node.op_type for node in onnx.load(tmp_path / "optimised.onnx").graph.node]
    assert kinds.count("Gelu") + kinds.count("BiasGelu") == 2 and "Erf" not in kinds


def test_an_erfc_of_something_else_is_refused():
    node = SimpleNamespace(inputs=[SimpleNamespace(type="Add", inputs=[])])
    with pytest.raises(ValueError, match="outside a GELU.*strange"):
        erfc(None, node, "strange", {})


def test_a_model_beyond_protobuf_is_refused_before_the_work(tmp_path):
    large = SimpleNamespace(name="vit_g", weights=[SimpleNamespace(shape=(2**15, 2**15))])
    with pytest.raises(ValueError, match="less than 2 GiB of weights.*vit_g, with 4.0 GiB"):
        write_onnx(large, tmp_path / "large.onnx")
    assert not list(tmp_path.iterdir())
