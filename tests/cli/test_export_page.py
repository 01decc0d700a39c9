"""`keras-vit export --page`."""

import pytest


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], "`--out` or, for web, `--page`"),
        (["--page", "x", "--out", "y.tflite"], "`--out` or, for web, `--page`"),
        (["--page", "x"], "`--page` is for `--profile web`. Received: --profile cpu"),
    ],
)
def test_a_wrong_request_is_one_sentence(cli, model, options, text):
    result = cli("export", model, "--profile", "cpu", *options)
    assert result.exit_code == 1 and text in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_page_is_written(cli, model, tmp_path, monkeypatch):
    monkeypatch.setattr("keras_vit.export.web.page.copy_litertjs", lambda folder: folder.mkdir())
    result = cli("export", model, "--profile", "web", "--page", tmp_path / "page")
    assert result.exit_code == 0, result.output
    assert "python -m http.server" in result.stdout
    assert (tmp_path / "page" / "index.html").is_file()
