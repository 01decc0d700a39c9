"""What a naming of a foreign code is: its arrays, and ours beside them."""

import dataclasses
import re
from collections.abc import Callable

from keras_vit.weights.layouts import MATRIX, SAME, Layout


@dataclasses.dataclass(frozen=True)
class Entry:
    """One weight of ours, and the arrays that hold it.

    Args:
        ours: the weight's path, such as `block_0/attention/qkv/kernel`.
        options: ways of holding it, each `(names, layout)`; the first is the one written.
    """

    ours: str
    options: tuple

    def found_in(self, archive):
        """The first option whose names are all in the archive, or None."""
        for names, layout in self.options:
            if all(name in archive for name in names):
                return names, layout
        return None


def entry(ours, layout, *names):
    """An entry with one option."""
    return Entry(ours, ((names, layout),))


@dataclasses.dataclass(frozen=True)
class Table:
    """A foreign code's names and layouts for one family of ours.

    Args:
        canonical: gives an archive the names that `entries` uses: prefixes off, other
            spellings translated, stacked blocks split.
        entries: config -> a list of `Entry`.
        facts: canonical archive -> what it says of the architecture (fields of the config,
            `position_rows`, and others that `checkpoint` reads).
        unused: regular expressions of arrays that no model of ours has a place for -> why.
        written: (config, canonical name) -> the name that `save` writes.
    """

    canonical: Callable
    entries: Callable
    facts: Callable
    unused: dict
    written: Callable = lambda config, name: name

    def reason_unused(self, name):
        """Why an array has no place in a model, or None if it should have one."""
        for pattern, reason in self.unused.items():
            if re.fullmatch(pattern, name):
                return reason
        return None


def torch_linear(ours, theirs, layout: Layout, bias_layout: Layout):
    """The entries of a PyTorch layer with `weight` and `bias`."""
    return [
        entry(f"{ours}/kernel", layout, f"{theirs}.weight"),
        entry(f"{ours}/bias", bias_layout, f"{theirs}.bias"),
    ]


def torch_mlp(ours, theirs, names):
    """The entries of the two layers of an MLP; `names` are theirs for `fc1` and `fc2`."""
    return [
        line
        for layer, name in zip(("fc1", "fc2"), names, strict=True)
        for line in torch_linear(f"{ours}/{layer}", f"{theirs}.{name}", MATRIX, SAME)
    ]


def torch_norm(ours, theirs):
    """The entries of a PyTorch norm."""
    return norm(ours, f"{theirs}.weight", f"{theirs}.bias")


def torch_batch_norm(ours, theirs):
    """The entries of a PyTorch batch norm."""
    return [
        *torch_norm(ours, theirs),
        entry(f"{ours}/moving_mean", SAME, f"{theirs}.running_mean"),
        entry(f"{ours}/moving_variance", SAME, f"{theirs}.running_var"),
    ]


def norm(ours, gamma, beta):
    """The entries of a norm."""
    return [entry(f"{ours}/gamma", SAME, gamma), entry(f"{ours}/beta", SAME, beta)]


def dense(ours, theirs, layout=SAME):
    """The entries of a Flax or Keras layer with `kernel` and `bias`."""
    return [
        entry(f"{ours}/kernel", layout, f"{theirs}/kernel"),
        entry(f"{ours}/bias", SAME, f"{theirs}/bias"),
    ]


def numbered(archive, pattern):
    """How many blocks there are: `pattern` has one group, the block's number."""
    found = (re.match(pattern, name) for name in archive.shapes)
    return 1 + max((int(match[1]) for match in found if match), default=-1)


def without_prefix(archive, *prefixes):
    """Takes the longest of `prefixes` that some name has off the names that have it."""
    for prefix in sorted(prefixes, key=len, reverse=True):
        if any(name.startswith(prefix) for name in archive.shapes):
            return archive.renamed(lambda name: name.removeprefix(prefix))  # noqa: B023
    return archive
