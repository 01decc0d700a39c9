import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from keras_vit.weights.archives.open import OPENERS, open_archive
from tests.weights.archives.reading import assert_refused, read_all

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("suffix", OPENERS)
def test_empty_files_and_text_under_each_ending(tmp_path, suffix):
    path = tmp_path / f"w{suffix}"
    path.touch()
    assert assert_refused(path) == f"{path} is empty."
    for text in ("x", "no weights\n" * 1000, "\0" * 4096, "[]", "{}", "12"):
        path.write_text(text)
        assert_refused(path)


@pytest.mark.parametrize("suffix", OPENERS)
def test_files_under_another_ending(tmp_path, suffix):
    np.savez(tmp_path / "npz", x=np.arange(3))
    save_file({"x": np.arange(3)}, tmp_path / "safetensors")
    shutil.copy(FIXTURES / "pth" / "small.pth", tmp_path / "pth")
    shutil.copy(tmp_path / "npz.npz", tmp_path / "npz")
    own = {
        OPENERS[suffix] is OPENERS[f".{kind}"] and kind for kind in ("npz", "safetensors", "pth")
    }
    if suffix == ".bin":  # a state dict as hubs name it
        own |= {"pth"}
    for kind in {"npz", "safetensors", "pth"} - own:
        path = tmp_path / f"w{suffix}"
        shutil.copy(tmp_path / kind, path)
        assert_refused(path)


def test_unknown_endings(tmp_path):
    for name in ("w.h5", "w", "w.keras", "w.onnx"):
        (tmp_path / name).write_text("text")
        text = assert_refused(tmp_path / name, "is no file of weights")
        assert all(suffix in text for suffix in OPENERS)


def test_no_such_file(tmp_path):
    for name in ("w.npz", "w.pth", "folder"):
        with pytest.raises(FileNotFoundError, match="There is no file .*"):
            open_archive(tmp_path / name)
    (tmp_path / "w.npz").symlink_to("nowhere")
    assert_refused(tmp_path / "w.npz", "There is no file")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def denied(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "w.npz").write_text("text")
    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(PermissionError, match=r"w\.npz"):
        open_archive(tmp_path / "w.npz")


def test_folders(tmp_path):
    assert_refused(
        tmp_path, "holds none of model.safetensors, model.safetensors.index.json", tmp_path
    )
    shards = FIXTURES / "weights" / "hf_vit_shards"
    from_folder, from_index = read_all(shards), read_all(shards / "model.safetensors.index.json")
    assert open_archive(shards).origin == str(shards / "model.safetensors.index.json")
    assert from_folder.keys() == from_index.keys()
    whole = FIXTURES / "weights" / "hf_vit"
    assert open_archive(whole).origin == str(whole / "model.safetensors")
    assert open_archive(str(whole)).shapes == {n: a.shape for n, a in from_folder.items()}


def test_what_a_pt_file_holds_is_what_a_pth_file_holds(tmp_path):
    shutil.copy(FIXTURES / "pth" / "small.pth", tmp_path / "small.pt")
    np.testing.assert_array_equal(read_all(tmp_path / "small.pt")["b"], [7, 8])
