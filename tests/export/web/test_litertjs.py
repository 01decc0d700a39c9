import pytest

from keras_vit.export.web.litertjs import ENGINES, SCRIPTS, VERSION, copy_litertjs, installed


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache that is empty, and no npm."""
    monkeypatch.setenv("KERAS_VIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "cache"


def test_the_remedy_where_npm_is_missing(cache, tmp_path):
    with pytest.raises(OSError, match="LiteRT.js.*npm install --prefix .*@litertjs/core@2.5.3"):
        copy_litertjs(tmp_path / "litert")


def test_what_is_kept_here_is_copied_without_npm(cache, tmp_path):
    package = cache / f"litertjs-{VERSION}" / "node_modules" / "@litertjs"
    for place in SCRIPTS.values():
        (package / place).parent.mkdir(parents=True)
        (package / place).write_text("code\n//# sourceMappingURL=index.js.map\n")
    (package / "core" / "wasm").mkdir()
    for engine in ENGINES:
        for ending in ("js", "wasm"):
            (package / "core" / "wasm" / f"litert_wasm{engine}_internal.{ending}").write_text("w")
    assert installed() == package
    copy_litertjs(tmp_path / "litert")
    assert (tmp_path / "litert" / "core.js").read_text() == "code\n"
    assert len(list((tmp_path / "litert" / "wasm").iterdir())) == 6
    assert "Apache License 2.0" in (tmp_path / "litert" / "LICENSE.txt").read_text()
