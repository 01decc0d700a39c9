"""From texts to the numbers of their pieces, as CLIP reads them."""

import functools
import re
import sys
import unicodedata

import numpy as np

from keras_vit.data.text_cleaning import cleaning
from keras_vit.data.vocabulary import END_OF_WORD, byte_symbols, official_file, read_merges

BEGIN, END = "<start_of_text>", "<end_of_text>"


class Tokenizer:
    """CLIP's byte-pair encoding: any text becomes a row of `context_length` numbers.

    A row is the mark of the beginning, the pieces, the mark of the end, and zeros. A text that is
    too long is cut, and its last number is the mark of the end; an empty one is the two marks.
    Everything is cut down to bytes at the worst, so that there is no unknown text; what is no
    valid Unicode counts as a replacement character.

    Args:
        vocabulary: path of OpenAI's `bpe_simple_vocab_16e6.txt.gz` or of a `merges.txt`; by
            default that of the installed package open_clip_torch.
        context_length: how many numbers a row has.
        clean: key of `keras_vit.data.text_cleaning.CLEANINGS`: `"open_clip"`, which needs ftfy,
            or `"transformers"`.

    Attributes:
        size: how many pieces there are: 49,408 in CLIP's vocabulary.
        begin, end: the numbers of the two marks, the last of all.

    Raises:
        ValueError: if the vocabulary is another kind of file, or no text fits the length.
        ImportError: if the vocabulary or ftfy is not installed.

    Reference:
        Sennrich et al., *Neural Machine Translation of Rare Words with Subword Units*, 2016,
        arXiv 1508.07909.
    """

    def __init__(self, vocabulary=None, context_length=77, clean="open_clip"):
        if context_length < 2:
            raise ValueError(f"`context_length` must be at least 2. Received: {context_length}.")
        self.context_length = context_length
        self._cleaning = cleaning(clean)
        self._bytes = byte_symbols()
        merges = read_merges(official_file() if vocabulary is None else vocabulary)
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        symbols = list(self._bytes.values())
        self._pieces = [*symbols, *(symbol + END_OF_WORD for symbol in symbols)]
        self._pieces += [first + second for first, second in merges] + [BEGIN, END]
        self._numbers = {piece: number for number, piece in enumerate(self._pieces)}
        self._words = {BEGIN: [self.begin], END: [self.end]}

    @property
    def size(self):
        return len(self._pieces)

    @property
    def begin(self):
        return self.size - 2

    @property
    def end(self):
        return self.size - 1

    def __call__(self, texts):
        """Returns int32 `[n, context_length]` for a list of `n` texts.

        Raises:
            TypeError: if `texts` is no list of strings.
        """
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError(f"`texts` must be a list of strings. Received: {texts!r}.")
        rows = np.zeros((len(texts), self.context_length), "int32")
        for row, text in zip(rows, texts, strict=True):
            pieces = self.encode(text)[: self.context_length - 2]
            row[: len(pieces) + 2] = [self.begin, *pieces, self.end]
        return rows

    def encode(self, text):
        """Returns the numbers of a text's pieces, all of them, without the marks."""
        found = words(self._cleaning.ignores_case).findall(self._cleaning.clean(text))
        return [number for word in found for number in self._word(word)]

    def decode(self, row):
        """Returns the text of a row, cleaned as it was, up to the first mark of the end."""
        numbers = [int(number) for number in row if number != self.begin]
        if self.end in numbers:
            numbers = numbers[: numbers.index(self.end)]
        symbols = "".join(self._pieces[number] for number in numbers).replace(END_OF_WORD, " ")
        values = {symbol: byte for byte, symbol in self._bytes.items()} | {" ": ord(" ")}
        return bytes(values[symbol] for symbol in symbols).decode("utf-8", "replace").strip()

    def _word(self, word):
        if word not in self._words:
            encoded = word.encode("utf-8", "replace")
            pieces = [self._bytes[byte] for byte in encoded]
            pieces[-1] += END_OF_WORD
            self._words[word] = [self._numbers[piece] for piece in self._merged(pieces)]
        return self._words[word]

    def _merged(self, pieces):
        """Merges neighbours, those of the first rank wherever they stand, as long as any can be."""
        while len(pieces) > 1:
            rank = lambda pair: self._ranks.get(pair, len(self._ranks))  # noqa: E731
            best = min(zip(pieces, pieces[1:], strict=False), key=rank)
            if best not in self._ranks:
                break
            joined, place = [], 0
            while place < len(pieces):
                found = tuple(pieces[place : place + 2]) == best
                joined.append("".join(best) if found else pieces[place])
                place += 2 if found else 1
            pieces = joined
        return pieces


@functools.cache
def words(ignores_case):
    """Returns the pattern of what is never merged beyond: words, digits, runs of other signs.

    Letters and numbers are those of Unicode's categories, which `re` has no names for. In a
    cleaned text there is no white space but blanks.

    Args:
        ignores_case: see `keras_vit.data.text_cleaning.Cleaning`.
    """
    letters, numbers = (_characters(kind) for kind in "LN")
    s, neither = ("[sſ]", " \u0345") if ignores_case else ("s", " ")
    return re.compile(
        f"{BEGIN}|{END}|'{s}|'t|'re|'ve|'m|'ll|'d"
        f"|[{letters}]+|[{numbers}]|[^{neither}{letters}{numbers}]+"
    )


def _characters(kind):
    """The characters of a category as ranges for a pattern."""
    codes = range(sys.maxunicode + 1)
    members = [code for code in codes if unicodedata.category(chr(code))[0] == kind]
    ranges, start = [], members[0]
    for code, following in zip(members, [*members[1:], None], strict=True):
        if following != code + 1:
            ranges.append(f"{chr(start)}-{chr(code)}")
            start = following
    return "".join(ranges)
