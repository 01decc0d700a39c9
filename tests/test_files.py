import os

import pytest

from keras_vit.files import replacing, require_writable


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "state"
    target.write_text("old")
    with pytest.raises(RuntimeError), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["state"]


def test_a_file_is_replaced_whole(tmp_path):
    target = tmp_path / "new folder" / "state.bin"
    with replacing(target) as temporary:
        assert temporary.suffix == ".bin"
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["state.bin"]


def test_a_folder_replaces_a_full_folder(tmp_path):
    target = tmp_path / "saved"
    target.mkdir()
    (target / "old").write_text("old")
    with replacing(target) as temporary:
        temporary.mkdir()
        (temporary / "new").write_text("new")
    assert os.listdir(target) == ["new"]
    assert os.listdir(tmp_path) == ["saved"]


def test_a_parent_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Cannot write in the folder .*file"):
        with replacing(tmp_path / "file" / "state"):
            pass


def test_a_folder_that_can_be_written_stays_empty(tmp_path):
    require_writable(tmp_path / "new")
    assert os.listdir(tmp_path / "new") == []
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Cannot write in the folder .*file"):
        require_writable(tmp_path / "file")
