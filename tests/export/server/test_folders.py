"""What is found in folders."""

import pytest

from keras_vit.export.server.folders import files_of, found, lite_file, state_of


def graph(folder):
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"x")
    return folder


def test_several_models_and_versions(tmp_path):
    paths = [graph(tmp_path / name) for name in ("a/1", "a/00012", "b/3")]
    for other in ("a/.tmp/1", "a/x", ".hidden/1", "empty"):
        (tmp_path / other).mkdir(parents=True)
    (tmp_path / "c" / "7").mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("no model")
    (tmp_path / "d.tflite").write_bytes(b"x")
    assert found(tmp_path) == {
        "a": {1: paths[0], 12: paths[1]},
        "b": {3: paths[2]},
        "c": {7: tmp_path / "c" / "7"},
        "d": {1: tmp_path / "d.tflite"},
    }


def test_one_model(tmp_path):
    version = graph(tmp_path / "net" / "4")
    assert found(tmp_path / "net") == {"net": {4: version}}
    assert found(version) == {"net": {4: version}}


def test_a_bare_savedmodel_is_version_1(tmp_path):
    path = graph(tmp_path / "served")
    assert found(path) == {"served": {1: path}}


def test_one_file(tmp_path):
    path = tmp_path / "net.v2.tflite"
    path.write_bytes(b"x")
    assert found(path) == {"net.v2": {1: path}}
    (tmp_path / "text.md").write_text("")
    assert found(tmp_path / "text.md") == {}


def test_nothing_there(tmp_path):
    assert found(tmp_path) == {}
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        found(tmp_path / "gone")


def test_links_within_are_followed_and_links_out_are_refused(tmp_path):
    root = tmp_path / "models"
    path = graph(root / "a" / "1")
    (path / "inside").symlink_to(path / "saved_model.pb")
    assert set(files_of(path, root)) == {path / "saved_model.pb", path / "inside"}
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("x")
    for link, target in (("file", secret / "key"), ("folder", secret)):
        (path / link).symlink_to(target)
        with pytest.raises(ValueError, match="leads out of"):
            files_of(path, root)
        (path / link).unlink()
    (root / "a" / "2").symlink_to(secret)
    with pytest.raises(ValueError, match="leads out of"):
        files_of(root / "a" / "2", root)


def test_the_served_folder_may_be_a_link_or_a_file(tmp_path):
    path = graph(tmp_path / "models" / "a" / "1")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "models")
    assert files_of(link / "a" / "1", link)
    file = path / "saved_model.pb"
    assert files_of(file, file) == [file]


def test_the_state_changes_with_the_files(tmp_path):
    path = graph(tmp_path / "1")
    states = {state_of(path), state_of(path)}
    (path / "saved_model.pb").write_bytes(b"longer")
    states.add(state_of(path))
    (path / "more").write_bytes(b"")
    states.add(state_of(path))
    assert len(states) == 3
    assert state_of(path / "more") != state_of(path / "saved_model.pb")
    assert state_of(tmp_path / "gone") == ()


def test_the_file_of_a_version(tmp_path):
    assert lite_file(graph(tmp_path / "graph")) is None
    (tmp_path / "lite").mkdir()
    with pytest.raises(ValueError, match="must hold"):
        lite_file(tmp_path / "lite")
    file = tmp_path / "lite" / "any.tflite"
    file.write_bytes(b"x")
    assert lite_file(tmp_path / "lite") == lite_file(file) == file
    (tmp_path / "lite" / "two.tflite").write_bytes(b"x")
    with pytest.raises(ValueError, match="one `.tflite`"):
        lite_file(tmp_path / "lite")
