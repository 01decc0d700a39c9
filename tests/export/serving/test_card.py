"""The card tells what the SavedModel states, and the checksums of what lies beside it."""

import hashlib
import json

import pytest

from keras_vit.export.serving.card import CARD, checksums, contract


def test_it_states_each_signature(artefacts):
    card = json.loads((artefacts["server"] / CARD).read_text("utf-8"))
    assert card["left_out"] == {}
    found = card["signatures"]
    assert found["classify"]["method"] == "tensorflow/serving/classify"
    assert found["serving_bytes"]["method"] == "tensorflow/serving/predict"
    assert {key: value["dtype"] for key, value in found["classify"]["outputs"].items()} == {
        "classes": "string",
        "scores": "float32",
    }
    pixels = {"dtype": "uint8", "shape": [None, 16, 16, 1], "values": "raw pixels, 0 to 255"}
    assert found["serving_uint8"]["inputs"] == {"images": pixels}
    shapes = [
        one["shape"]
        for signature in found.values()
        for one in (*signature["inputs"].values(), *signature["outputs"].values())
    ]
    assert all(shape[0] is None and None not in shape[1:] for shape in shapes)


def test_checksums_are_of_all_files_but_the_card(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a").write_bytes(b"abc")
    (tmp_path / CARD).write_text("{}")
    assert checksums(tmp_path) == {"assets/a": hashlib.sha256(b"abc").hexdigest()}


def test_a_damaged_graph_is_refused(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"no graph")
    with pytest.raises(ValueError, match="saved_model.pb is damaged"):
        contract(tmp_path)
