"""Arm's compiler on integer files."""

import pytest

from keras_vit.export.lint import lint, vela


def test_the_remedy_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="pip install ethos-u-vela"):
        vela.find_vela()


@pytest.mark.prove
@pytest.mark.parametrize("target", ["ethos-u55", "ethos-u65", "ethos-u85"])
def test_all_of_an_integer_file_maps(artefacts, target):
    verdict = lint(artefacts["npu"], target)
    assert verdict.compiled and verdict.passes and verdict.share == 1
    assert verdict.figures["milliseconds"] > 0 and verdict.figures["sram_bytes"] > 0
    assert verdict.figures["configuration"].lower().startswith(target.replace("-", "_"))


@pytest.mark.prove
def test_floats_stay_on_the_cpu(artefacts):
    verdict = lint(artefacts["cpu"], "ethos-u85")
    assert verdict.mapped == 0
    assert {one.reason for one in verdict.blockers} == {"stays on the CPU"}
    assert verdict.blockers[0].block == "patches/projection"


@pytest.mark.prove
def test_what_vela_cannot_read_is_one_sentence(artefacts, tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(artefacts["npu"].read_bytes()[:2000])
    with pytest.raises(ValueError, match="Vela cannot compile"):
        vela.compile_with_vela(path, None, "ethos-u85")
