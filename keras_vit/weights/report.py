"""What loading did, array by array."""

import dataclasses
import io

from rich import box
from rich.console import Console
from rich.table import Table

NOTE_WIDTH = 72


@dataclasses.dataclass(frozen=True)
class Report:
    """What happened to each weight of a model and each array of a file. `print` shows a table.

    Args:
        origin: the file.
        source: the format it was read as.
        filled: weight path -> (names of the arrays it came from, shape, note).
        new: weight path -> why it was left at its start value.
        unused: array name -> why the model has no place for it.
        notes: what is worth knowing of the whole.
    """

    origin: str
    source: str
    filled: dict
    new: dict
    unused: dict
    notes: tuple = ()

    @property
    def remarks(self):
        """Everything beyond the plain filling of weights from arrays, a sentence each."""
        lines = [f"{path} is new: {reason}." for path, reason in self.new.items()]
        lines += [f"{path}: {note}." for path, (_, _, note) in self.filled.items() if note]
        return [*self.notes, *lines]

    def __str__(self):
        table = Table("weight", "shape", "from", box=box.HORIZONTALS)
        table.add_column("note", max_width=NOTE_WIDTH)
        for path, (names, shape, note) in self.filled.items():
            table.add_row(path, "×".join(map(str, shape)), "\n".join(names), note)
        for path, reason in self.new.items():
            table.add_row(path, "", "new", reason)
        for name, reason in self.unused.items():
            table.add_row("", "", name, f"not used: {reason}")
        return "\n".join([f"{self.origin} ({self.source})", _text(table), *self.notes])


def _text(table):
    """A table as plain text, as wide as its names need: a name that is cut is of no use."""
    text = io.StringIO()
    Console(
        file=text,
        width=10_000,
        color_system=None,
        markup=False,  # names may hold brackets
        emoji=False,
        highlight=False,
    ).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
