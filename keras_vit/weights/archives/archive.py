"""Named arrays of a file, as every format of the border gives them."""

import dataclasses
import functools
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Archive:
    """The arrays of a checkpoint; each is read when it is asked for, and not kept.

    Args:
        origin: file or folder, for messages.
        shapes: name of each array -> its shape.
        read: function from a name to a numpy array in float32 (float64 stays).
        metadata: what the file, or a `config.json` beside it, says of itself.
    """

    origin: str
    shapes: dict
    read: Callable
    metadata: dict = dataclasses.field(default_factory=dict)

    def __contains__(self, name):
        return name in self.shapes

    def renamed(self, rename):
        """The same arrays under the names that `rename` gives.

        Raises:
            ValueError: if two arrays would get one name.
        """
        names = {}
        for name in self.shapes:
            new = rename(name)
            if new in names:
                raise ValueError(f"{self.origin} holds {new!r} twice: {names[new]!r} and {name!r}.")
            names[new] = name
        shapes = {new: self.shapes[name] for new, name in names.items()}
        return dataclasses.replace(self, shapes=shapes, read=lambda new: self.read(names[new]))

    def with_arrays(self, reads, shapes, without=()):
        """The same archive with more arrays, or with other ones under the same names.

        Args:
            reads: name -> function without arguments that gives the array.
            shapes: name -> shape, of the same names.
            without: names to leave out.
        """
        kept = {name: shape for name, shape in self.shapes.items() if name not in without}
        left = {name: functools.partial(self.read, name) for name in kept}
        every = left | reads
        return dataclasses.replace(self, shapes=kept | shapes, read=lambda name: every[name]())
