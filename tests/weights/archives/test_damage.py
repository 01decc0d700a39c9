import zipfile

import pytest

from keras_vit.weights.archives.damage import refused

NO_MEMBER = KeyError("There is no item named 'x' in the archive")


@pytest.mark.parametrize(
    "error, reason",
    [
        (zipfile.BadZipFile("Bad CRC-32 for file 'x'"), "Bad CRC-32 for file 'x'"),
        (NO_MEMBER, "There is no item named 'x' in the archive"),
        (EOFError(), "EOFError"),
        (MemoryError(), "MemoryError"),
        (ValueError("two\n  lines."), "two lines"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_error_becomes_one_sentence(error, reason):
    with pytest.raises(ValueError) as caught, refused("w.npz is damaged"):
        raise error
    assert str(caught.value) == f"w.npz is damaged: {reason}."
    assert caught.value.__cause__ is error


def test_a_long_reason_is_cut():
    with pytest.raises(ValueError) as caught, refused("w"):
        raise ValueError("word " * 1000)
    assert len(str(caught.value)) < 320


def test_an_interrupt_stays_one():
    with pytest.raises(KeyboardInterrupt), refused("w"):
        raise KeyboardInterrupt
    with refused("w"):
        pass
