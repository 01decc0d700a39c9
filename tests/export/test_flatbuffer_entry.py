"""An entry in a file's metadata, read back by the schema's own classes and run by LiteRT."""

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from keras_vit.export.flatbuffer_entry import with_metadata


@pytest.fixture(scope="module")
def content(artefacts):
    return artefacts["npu"].read_bytes()


@pytest.fixture(scope="module")
def added(content):
    return with_metadata(content, "NOTE", b"seventeen bytes..")


def entries(content):
    """name -> data of all metadata."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    return {one.name: model.buffers[one.buffer].data for one in model.metadata}


def test_the_entry_is_there_beside_the_old_ones(content, added):
    before, after = entries(content), entries(added)
    assert after[b"NOTE"].tobytes() == b"seventeen bytes.."
    assert set(after) == {*before, b"NOTE"}
    for name, data in before.items():
        np.testing.assert_array_equal(after[name], data)


def test_everything_else_is_the_same(content, added):
    before, after = (schema.ModelT.InitFromPackedBuf(one, 0) for one in (content, added))
    assert (before.version, before.description) == (after.version, after.description)
    assert len(after.buffers) == len(before.buffers) + 1
    assert len(after.operatorCodes) == len(before.operatorCodes)
    assert after.signatureDefs[0].signatureKey == before.signatureDefs[0].signatureKey
    assert added.endswith(content)


def places(content):
    """Where each constant stands in a file."""
    base = np.frombuffer(content, "uint8").__array_interface__["data"][0]
    model = schema.Model.GetRootAs(content, 0)
    buffers = [model.Buffers(index) for index in range(model.BuffersLength())]
    return [
        one.DataAsNumpy().__array_interface__["data"][0] - base
        for one in buffers
        if one.DataLength()
    ]


def test_constants_keep_their_alignment(content, added):
    *kept, new = places(added)
    shift = len(added) - len(content)
    assert shift % 16 == 0 and new % 16 == 0
    assert kept == [place + shift for place in places(content)]


def test_it_runs_as_before(content, added):
    image = np.random.default_rng(0).integers(0, 256, (1, 16, 16, 1)).astype("uint8")
    answers = [
        Interpreter(model_content=one).get_signature_runner()(images=image)["logits"]
        for one in (content, added)
    ]
    np.testing.assert_array_equal(*answers)


def test_twice_is_refused(added):
    with pytest.raises(ValueError, match="Received: 'NOTE', which the file has"):
        with_metadata(added, "NOTE", b"")
    assert b"OTHER" in entries(with_metadata(added, "OTHER", b"x" * 33))


def test_another_file_is_refused():
    with pytest.raises(ValueError, match="must be a TFLite file"):
        with_metadata(b"PK" * 10, "NOTE", b"")
