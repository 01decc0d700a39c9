"""How a text is cleaned before it is cut into pieces."""

import dataclasses
import html
import re
import unicodedata
from collections.abc import Callable

from keras_vit.layers.choices import check_choice
from keras_vit.layers.extras import require


def as_open_clip(text):
    """Cleans as OpenAI's and OpenCLIP's code do, by which CLIP's weights were trained.

    Text that was decoded wrongly is mended (by ftfy), HTML entities become what they stand for,
    white space one blank, capitals small letters.

    Raises:
        ImportError: if ftfy is not installed.
    """
    mended = require("ftfy", extra="clip").fix_text(text)
    plain = html.unescape(html.unescape(mended))
    return " ".join(plain.split()).lower()


def as_transformers(text):
    """Cleans as transformers' tokenizer does: canonical Unicode, one blank, small letters.

    Nothing is mended, and HTML entities stay.
    """
    # Four control characters are white space to Python, and not to Unicode.
    canonical = re.sub(r"[^\S\x1c-\x1f]+", " ", unicodedata.normalize("NFC", text))
    # Letter by letter: Python's `lower` of a whole word knows the sigma at its end.
    return "".join(letter.lower() for letter in canonical)


@dataclasses.dataclass(frozen=True)
class Cleaning:
    """How a code prepares a text for its pattern of words.

    Args:
        clean: function from a text to a cleaned one.
        ignores_case: whether the pattern then ignores case. Of small letters this is seen in two
            signs: the long s counts as an s, and the Greek iota below is passed over.
    """

    clean: Callable
    ignores_case: bool


CLEANINGS = {
    "open_clip": Cleaning(as_open_clip, ignores_case=True),
    "transformers": Cleaning(as_transformers, ignores_case=False),
}


def cleaning(name):
    """Returns the `Cleaning` called `name`.

    Raises:
        ValueError: if there is none.

    Example:

    >>> cleaning("transformers").clean("A  Cat")
    'a cat'
    """
    check_choice("clean", name, CLEANINGS)
    return CLEANINGS[name]
