"""Exported files in several engines. What engines give is held to LiteRT and to each other."""

import pytest

from keras_vit.cli.bench_against import Taken, ninth_tenth
from keras_vit.cli.bench_files import Measured, engines_of, fastest, measure


@pytest.fixture(scope="session")
def file(network, tmp_path_factory):
    from keras_vit.export import export

    return export(network, "cpu", tmp_path_factory.mktemp("bench") / "m.tflite")


def test_litert_is_timed(file):
    first, *_ = measure([file], threads=1, warmup=1, rounds=1)
    assert (first.path, first.engine, first.reason) == (file, "LiteRT", None)
    assert 0 < first.taken.seconds <= first.taken.p90


def test_what_an_engine_cannot_read_says_why(tmp_path):
    (tmp_path / "m.tflite").write_bytes(b"no model")
    for one in measure([tmp_path / "m.tflite"], rounds=1):
        assert one.taken is None and one.reason


def test_the_kinds(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model at"):
        engines_of(tmp_path / "no.tflite")
    (tmp_path / "m.txt").write_text("")
    with pytest.raises(ValueError, match=r"none of what is timed here: \.tflite, \.onnx"):
        engines_of(tmp_path / "m.txt")
    (tmp_path / "3").mkdir()
    (tmp_path / "3" / "saved_model.pb").write_bytes(b"")
    assert engines_of(tmp_path) == (tmp_path / "3", ("TensorFlow", "OpenVINO"))


def test_the_fastest(tmp_path):
    paths = [tmp_path / name for name in ("a.tflite", "b.tflite")]
    for path in paths:
        path.write_bytes(b"")
    found = [
        Measured(paths[0], "LiteRT", Taken(0.02, None)),
        Measured(paths[0], "OpenVINO", Taken(0.01, None)),
        Measured(paths[1], "LiteRT", Taken(0.03, None)),
        Measured(paths[1], "OpenVINO", reason="no"),
    ]
    mine, other = fastest(found, paths[0])
    assert (mine.taken.seconds, other.taken.seconds) == (0.01, 0.03)
    assert fastest(found[:2], paths[0])[1] is None


def test_nine_of_ten():
    assert ninth_tenth(list(range(1, 101))) == 90
    assert ninth_tenth([3]) == 3


@pytest.mark.prove
def test_every_engine_runs_every_kind(network, file, tmp_path):
    from keras_vit.export import export

    served = export(network, "server", tmp_path / "served")
    found = measure([file, served], warmup=1, rounds=1)
    assert [one.engine for one in found] == ["LiteRT", "OpenVINO", "TensorFlow", "OpenVINO"]
    assert [one.reason for one in found[:3]] == [None] * 3
    # The whole folder gives labels, too, and OpenVINO has no tensors for texts.
    assert "does not support string" in found[3].reason
