"""`keras-vit check-served`."""

import pytest

from keras_vit.cli.check_served import check_served


def test_what_was_checked_is_printed(monkeypatch, capsys, tmp_path):
    found = {"layout": "version 1", "parity": "4 images"}
    monkeypatch.setattr("keras_vit.export.serving.check.check", lambda folder: found)
    check_served(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip().split(maxsplit=2)[1:] for line in lines] == [
        list(pair) for pair in found.items()
    ]


def test_a_refusal_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="SERVING.json cannot be read"):
        check_served(tmp_path)
