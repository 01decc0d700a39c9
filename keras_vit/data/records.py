"""Images that are still encoded, with what is known about them, wherever they come from."""

import dataclasses
import hashlib

import numpy as np
import tensorflow as tf

from keras_vit.data.targets import gathered


class ReadThroughPython:
    """A source that TensorFlow has no op for: a graph calls its `read`."""

    def encoded(self, position):
        """Reads one image in a graph."""
        return tf.ensure_shape(tf.numpy_function(self.read, [position], tf.string), [])


@dataclasses.dataclass(frozen=True, eq=False)
class Records:
    """Encoded images and their targets by index. Holds names and labels, never pixels.

    Args:
        source: where the bytes are: an object with `encoded(position)` (a tensor to a string
            tensor, usable in a graph), `read(position)` (an int to bytes) and `name(position)`.
        targets: what is known about the images: `Classes`, `Tags`, `Unlabelled`, `Captions` or
            `Boxes` of `keras_vit.data.targets`.
        positions: `[n]`, the place of each image in `source`.

    Raises:
        ValueError: if targets and positions differ in length.
    """

    source: object
    targets: object
    positions: np.ndarray

    def __post_init__(self):
        positions = np.array(self.positions, dtype="int64").reshape(-1)
        positions.setflags(write=False)
        object.__setattr__(self, "positions", positions)
        if len(self.targets) != len(positions):
            raise ValueError(
                "`targets` and `positions` must have one entry an image. "
                f"Received: {len(self.targets)} targets, {len(positions)} positions."
            )

    def __len__(self):
        return len(self.positions)

    @property
    def class_names(self):
        """Names of the classes, or `()` where the targets have none."""
        return self.targets.class_names

    @property
    def class_sizes(self):
        """Number of images of each class, int `[num_classes]`."""
        return self.targets.class_sizes

    @property
    def labels(self):
        """The labels: `[n]` for one class an image, `[n, num_classes]` for several.

        Raises:
            ValueError: if the images have none.
        """
        labels = getattr(self.targets, "labels", None)
        if labels is None:
            raise ValueError(
                f"The images have no labels, only {type(self.targets).__name__}: {self.name(0)}."
            )
        return labels

    def encoded(self, index):
        """Returns the bytes of one image as a scalar string tensor.

        Args:
            index: scalar integer tensor in `[0, len(self))`; may be symbolic.
        """
        return self.source.encoded(gathered(self.positions, index))

    def read(self, index):
        """Returns the bytes of one image, outside of any graph."""
        return self.source.read(int(self.positions[index]))

    def name(self, index):
        """Returns what the user knows one image by: its path, or its place in a data set."""
        return self.source.name(int(self.positions[index]))

    def select(self, indices):
        """Returns the records at `indices`, an integer array, in that order."""
        indices = np.asarray(indices, dtype="int64")
        return dataclasses.replace(
            self, targets=self.targets.select(indices), positions=self.positions[indices]
        )

    def split(self, fraction, seed):
        """Holds out a share of every class.

        A class with two images or more has at least one on each side; the only image of a class
        stays in the first part. The same seed gives the same split, on every machine, and
        adding a class at the end leaves the split of the others as it was. Where an image has
        several classes, its rarest one counts.

        Args:
            fraction: share to hold out, in (0, 1).
            seed: integer in [0, 2**32).

        Returns:
            `(rest, held_out)`, two `Records`.

        Raises:
            ValueError: for values outside these rules, or if nothing can be held out.
        """
        if not 0 < fraction < 1:
            raise ValueError(f"`fraction` must be in (0, 1). Received: {fraction}.")
        held_out = np.zeros(len(self), dtype=bool)
        for order in self._shuffled_groups(seed):
            if len(order) > 1:
                count = min(max(round(fraction * len(order)), 1), len(order) - 1)
                held_out[order[:count]] = True
        if not held_out.any():
            raise ValueError("Nothing can be held out: no class has two images or more.")
        return self.select(np.flatnonzero(~held_out)), self.select(np.flatnonzero(held_out))

    def part(self, fraction, seed):
        """Keeps a share of every class, to learn from few labels.

        Every class keeps at least one image. A smaller part is inside a larger one of the same
        seed. Where an image has several classes, its rarest one counts.

        Args:
            fraction: share to keep, in (0, 1].
            seed: integer in [0, 2**32).

        Returns:
            `Records`, in the order they were.

        Raises:
            ValueError: for values outside these rules.
        """
        if not 0 < fraction <= 1:
            raise ValueError(f"`fraction` must be in (0, 1]. Received: {fraction}.")
        kept = [
            order[: max(round(fraction * len(order)), 1)] for order in self._shuffled_groups(seed)
        ]
        return self.select(np.sort(np.concatenate(kept))) if kept else self

    def fingerprint(self):
        """Returns a hash of class names, labels and image names, in their order.

        A resumed run compares it: an added or removed file would silently change every batch.
        """
        digest = hashlib.sha256(self.targets.digest())
        for index in range(len(self)):
            digest.update(self.name(index).encode("utf-8", "backslashreplace") + b"\n")
        return digest.hexdigest()[:16]

    def _shuffled_groups(self, seed):
        """The indices of each class, in an order by the seed."""
        if not 0 <= seed < 2**32:
            raise ValueError(f"`seed` must be in [0, 2**32). Received: {seed}.")
        groups = self.targets.groups
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            # RandomState: its stream is frozen across numpy versions, Generator's is not.
            yield members[np.random.RandomState([seed, group]).permutation(len(members))]
