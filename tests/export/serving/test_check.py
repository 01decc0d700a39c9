"""A whole artefact passes, a damaged one is refused with the reason."""

import json
import shutil

import numpy as np
import pytest

from keras_vit.export.serving.card import CARD, checksums
from keras_vit.export.serving.check import CHECKS, check


@pytest.fixture
def folder(artefacts, tmp_path):
    return shutil.copytree(artefacts["server"], tmp_path / "digits" / "1")


def state(folder, **changes):
    """Writes the card anew, as someone would who also changed the checksums."""
    contents = json.loads((folder / CARD).read_text("utf-8"))
    contents |= {"files": checksums(folder), **changes}
    (folder / CARD).write_text(json.dumps(contents), "utf-8")


def test_a_whole_artefact_passes_every_check(folder):
    found = check(folder.parent)  # its newest version
    assert list(found) == list(CHECKS)
    assert found["labels"] == "10 classes" and found["warm-up"] == "36 requests"
    assert "same top class 100%" in found["parity"]


@pytest.mark.parametrize(
    "name", ["saved_model.pb", "assets/labels.txt", "variables/variables.index"]
)
def test_a_changed_file_is_named(folder, name):
    with open(folder / name, "ab") as file:
        file.write(b"\0")
    with pytest.raises(ValueError, match=f"{name} was changed"):
        check(folder)


def test_a_missing_and_a_strange_file_are_named(folder):
    (folder / "note.txt").write_text("")
    with pytest.raises(ValueError, match="note.txt was not written with it"):
        check(folder)
    (folder / "batching_parameters.txt").unlink()
    with pytest.raises(ValueError, match="lacks batching_parameters.txt"):
        check(folder)
    (folder / CARD).unlink()
    with pytest.raises(ValueError, match="SERVING.json cannot be read"):
        check(folder)


def test_a_folder_that_is_no_version_is_refused(folder):
    with pytest.raises(ValueError, match="must be a version, a number; it is latest"):
        check(folder.rename(folder.with_name("latest")))
    with pytest.raises(FileNotFoundError, match="no folder"):
        check(folder)


def test_labels_of_another_model_are_refused(folder):
    path = folder / "assets" / "labels.txt"
    path.write_text(path.read_text("utf-8").replace("digit 3", "three"), "utf-8")
    state(folder)
    with pytest.raises(ValueError, match="name other classes"):
        check(folder)


def test_another_contract_is_refused(folder):
    contents = json.loads((folder / CARD).read_text("utf-8"))["signatures"]
    contents["serving_uint8"]["inputs"]["images"]["dtype"] = "int8"
    state(folder, signatures=contents)
    with pytest.raises(ValueError, match="the signature serving_uint8 is not the one of SERVING"):
        check(folder)


def test_weights_of_another_model_are_refused(folder):
    with np.load(folder / "assets.extra" / "probe.npz") as probe:
        images, logits = probe["images"], probe["logits"]
    np.savez_compressed(folder / "assets.extra" / "probe.npz", images=images, logits=logits + 1)
    state(folder)
    with pytest.raises(ValueError, match="against the Keras model, now: relative difference"):
        check(folder)


def test_a_warm_up_that_is_not_whole_is_refused(folder):
    path = folder / "assets.extra" / "tf_serving_warmup_requests"
    path.write_bytes(b"")
    state(folder)
    with pytest.raises(ValueError, match="the warm-up of .* is for batches of set()"):
        check(folder)
