"""CLIP's tokenizer, token for token against OpenCLIP's and transformers'."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keras_vit.data import Tokenizer
from tests.data.tokens import MERGES, stored

REFERENCES = Path(__file__).parents[1] / "references"


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(MERGES, clean="transformers")


def plain(text):
    """Whether neither code changes a text but for capitals."""
    printable = text.isascii() and text.isprintable()  # ftfy takes control characters out
    return printable and "&" not in text and text == " ".join(text.split())


def test_as_transformers_with_a_small_vocabulary(tokenizer):
    texts = stored()["texts"]
    expected = stored()["small"]["transformers"]
    for text, ours, theirs in zip(texts, tokenizer(texts).tolist(), expected, strict=True):
        # What looks like a mark is text to transformers, which spells its marks otherwise.
        assert ours == theirs or "<start_of_text>" in text, text


def test_plain_texts_as_open_clip_with_a_small_vocabulary(tokenizer):
    pairs = zip(stored()["texts"], stored()["small"]["open_clip"], strict=True)
    texts, expected = zip(*[pair for pair in pairs if plain(pair[0])], strict=True)
    assert len(texts) > 5
    assert tokenizer(list(texts)).tolist() == list(expected)


@pytest.mark.prove
@pytest.mark.parametrize("clean", ["open_clip", "transformers"])
def test_token_for_token_with_the_official_vocabulary(clean):
    found = stored()
    ours = Tokenizer(clean=clean)(found["texts"]).tolist()
    for text, row, theirs in zip(found["texts"], ours, found["official"][clean], strict=True):
        assert row == theirs or clean == "transformers" and "<start_of_text>" in text, text


@pytest.mark.prove
def test_the_other_codes_say_what_is_stored(tmp_path):
    script = REFERENCES / "clip_tokens_reference.py"
    subprocess.run([sys.executable, script, "--out", tmp_path], check=True)
    assert json.loads((tmp_path / "tokens.json").read_text("utf-8")) == stored()
    assert (tmp_path / "merges.txt").read_bytes() == MERGES.read_bytes()


def test_marks_and_zeros(tokenizer):
    assert tokenizer.size == 512 + 2000 + 2
    assert (tokenizer.begin, tokenizer.end) == (2512, 2513)
    rows = tokenizer(["", "a"])
    assert rows.dtype == np.int32 and rows.shape == (2, 77)
    assert rows[0, :3].tolist() == [2512, 2513, 0]
    assert rows[1, :4].tolist() == [2512, *tokenizer.encode("a"), 2513, 0]
    assert tokenizer([]).shape == (0, 77)


def test_a_long_text_is_cut_before_its_end_mark():
    short = Tokenizer(MERGES, context_length=5, clean="transformers")
    row = short(["a b c d e f"])[0].tolist()
    assert row == [short.begin, *short.encode("a b c"), short.end]


def test_decoding(tokenizer):
    """Signs stand apart from words, as OpenCLIP gives them, too."""
    for text in ("a photo of a cat !", "日本 🐱 é", ""):
        assert tokenizer.decode(tokenizer([text])[0]) == text
    # No mark of the end, and a sign of which the last byte is missing.
    assert tokenizer.decode(tokenizer.encode("é")[:1]) in ("é", "�")


def test_what_is_no_unicode_is_replaced(tokenizer):
    assert tokenizer.encode("\udcff") == tokenizer.encode("?")


@pytest.mark.parametrize("wrong", ["a text", [1], [b"a"], ["a", None]])
def test_other_things_than_texts(tokenizer, wrong):
    with pytest.raises(TypeError, match="`texts` must be a list of strings"):
        tokenizer(wrong)


def test_a_row_has_room_for_both_marks():
    with pytest.raises(ValueError, match="`context_length` must be at least 2"):
        Tokenizer(MERGES, context_length=1)
