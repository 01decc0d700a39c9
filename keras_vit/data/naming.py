"""Classes from what a file says of them: names, numbers, and a list of names beside the data."""

import unicodedata
from pathlib import Path

from keras_vit.data.targets import Classes, Tags

# One class name a line; the second is what TensorFlow Datasets writes.
LABEL_FILES = ("labels.txt", "label.labels.txt")


def listed_names(folder):
    """Returns the class names listed in a folder's `labels.txt`, or None if there is none.

    Raises:
        ValueError: if the file lists nothing.
    """
    for name in LABEL_FILES:
        path = Path(folder) / name
        if path.is_file():
            found = path.read_text("utf-8").splitlines()
            if not found:
                raise ValueError(f"{path} is empty: write one class name a line, or remove it.")
            return distinct(found, path)
    return None


def distinct(names, where):
    """Returns class names as a tuple if no two of them are one name to a reader.

    Args:
        names: the names.
        where: what to call their place in the message.

    Raises:
        ValueError: for two names that differ by nothing, or by case, or by Unicode form only.
    """
    seen = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if key in seen:
            raise ValueError(
                f"{where} has two classes of one name, {ascii(seen[key])} and {ascii(name)}: "
                "merge them, or rename one."
            )
        seen[key] = name
    return tuple(names)


def classes(values, where, known=None):
    """Returns `Classes` for one value an image.

    Args:
        values: a name or a number for each image, strings or integers.
        where: what to call the data in messages.
        known: class names, if they are listed. A number is then an index into them; otherwise
            the classes are the values that occur, in their order.

    Raises:
        ValueError: for a value that is not listed, or two classes of one name.
    """
    values = [str(value) for value in values]
    names, numbers = _numbered(set(values), where, known)
    return Classes(names, [numbers[value] for value in values])


def tags(members, where, known=None):
    """Returns `Tags` for a list of values an image; see `classes`."""
    members = [[str(value) for value in values] for values in members]
    names, numbers = _numbered({value for values in members for value in values}, where, known)
    return Tags.of(names, [[numbers[value] for value in values] for values in members])


def _numbered(values, where, known):
    """Class names, and the number of each value that occurs."""
    if known is None:
        names = distinct(_ordered(values), where)
        return names, {name: number for number, name in enumerate(names)}
    numbers = {name: number for number, name in enumerate(known)}
    for value in values - set(known):
        if not _is_number(value) or int(value) >= len(known):
            raise ValueError(
                f"{where} has the label {value!r}, which is neither a name nor a number of the "
                f"{len(known)} classes that are listed ({known[0]!r} is 0): correct the label, "
                "or the list."
            )
        numbers[value] = int(value)
    return tuple(known), numbers


def _ordered(values):
    """Numbers by value, names by letter."""
    return sorted(values, key=int) if all(map(_is_number, values)) else sorted(values)


def _is_number(value):
    return value.isascii() and value.isdigit()
