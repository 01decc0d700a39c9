import pytest
from PIL import Image

from keras_vit.cli import recording_performer as row


def told(part, kind, call, tokens):
    """Softmax's cost grows with the square; they meet at 256 tokens, in memory nowhere."""
    seconds = tokens**2 / 256 if kind == "softmax" else tokens
    return {"seconds": seconds, "bytes": 1 if kind == "softmax" else 2}


def test_a_row_is_kept_and_drawn(tmp_path):
    found = row.performer(tmp_path / "work", told, tokens=(64, 1024))
    assert found["features"] == 266 and len(found["rows"]) == 8
    for part in row.PARTS:
        for call in row.CALLS:
            assert found["break_even"][part][call] == {"seconds": 256, "bytes": None}

    def fails(*_):
        raise AssertionError("was measured already")

    assert row.performer(tmp_path / "work", fails, tokens=(64, 1024)) == found
    for path in row.draw_performer(found, tmp_path):
        with Image.open(path) as picture:
            assert picture.format == "PNG"


@pytest.mark.parametrize("call", row.CALLS)
def test_a_cell(call):
    for part in row.PARTS:
        found = row.cell(part, "performer", call, 32)
        assert 0 < found["seconds"] < 60 and found["bytes"] >= 0


def test_it_may_cost_less_from_the_first_length_on():
    rows = [{"tokens": 64, "softmax": {"seconds": 2}, "performer": {"seconds": 1}}]
    assert row.break_even(rows, "seconds") == 64
