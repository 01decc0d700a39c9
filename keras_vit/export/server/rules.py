"""Which versions of a model are served."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Latest:
    """The newest versions.

    Args:
        count: how many.
        labels: dict of label to version.

    Example:

    >>> Latest(2)([1, 10, 9])
    [10, 9]
    """

    count: int = 1
    labels: dict = dataclasses.field(default_factory=dict)

    def __call__(self, numbers):
        return sorted(numbers, reverse=True)[: self.count]


@dataclasses.dataclass(frozen=True)
class Specific:
    """Chosen versions.

    Args:
        chosen: their numbers.
        labels: dict of label to version.

    Example:

    >>> Specific((1, 3))([1, 2, 10])
    [1]
    """

    chosen: tuple
    labels: dict = dataclasses.field(default_factory=dict)

    def __call__(self, numbers):
        return sorted(set(numbers) & set(self.chosen), reverse=True)


@dataclasses.dataclass(frozen=True)
class All:
    """Every version.

    Args:
        labels: dict of label to version.

    Example:

    >>> All()([1, 10, 9])
    [10, 9, 1]
    """

    labels: dict = dataclasses.field(default_factory=dict)

    def __call__(self, numbers):
        return sorted(numbers, reverse=True)
