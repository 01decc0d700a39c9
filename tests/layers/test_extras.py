import json

import pytest

from keras_vit.layers.extras import require


def test_require_gives_the_module():
    assert require("json", extra="dev") is json


def test_require_gives_the_innermost_module():
    assert require("os.path", extra="dev").__name__ in ("posixpath", "ntpath")


def test_missing_package_names_the_extra():
    with pytest.raises(ImportError, match=r"pip install 'keras-vit-kit\[edge\]'") as caught:
        require("no_such_package.part", extra="edge")
    assert "`no_such_package` is not installed" in str(caught.value)


def test_package_with_a_missing_need_names_what_is_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import its_missing_need\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="`its_missing_need` is not installed"):
        require("half_installed", extra="onnx")


def test_an_error_of_another_kind_is_passed_on(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise OSError('no such library')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OSError, match="no such library"):
        require("broken_package", extra="onnx")
