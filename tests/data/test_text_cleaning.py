import pytest

from keras_vit.data.text_cleaning import CLEANINGS, as_open_clip, as_transformers, cleaning


def test_transformers():
    assert as_transformers("A\t Cat\n") == "a cat "
    assert as_transformers("e\u0301") == "\u00e9"  # one letter instead of two signs
    assert as_transformers("ΟΔΟΣ") == "οδοσ"  # letter by letter
    assert as_transformers("&amp;") == "&amp;"


def test_open_clip(monkeypatch):
    class Ftfy:
        @staticmethod
        def fix_text(text):
            return text.replace("Ã©", "é")

    monkeypatch.setitem(__import__("sys").modules, "ftfy", Ftfy)
    assert as_open_clip("  CafÃ©\t&amp;amp; ") == "café &"
    assert as_open_clip("ΟΔΟΣ") == "οδος"
    assert as_open_clip("") == ""


def test_names():
    assert cleaning("open_clip") is CLEANINGS["open_clip"]
    with pytest.raises(ValueError, match="`clean` must be one of"):
        cleaning("lower")
