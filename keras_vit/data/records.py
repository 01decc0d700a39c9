"""Labelled images that are still encoded, wherever they come from."""

import dataclasses
import hashlib

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True, eq=False)
class Records:
    """Labelled, encoded images by index. Holds names and labels, never pixels.

    Args:
        source: where the bytes are: an object with `encoded(position)` (a tensor to a string
            tensor, usable in a graph), `read(position)` (an int to bytes) and `name(position)`.
        class_names: names of the classes; a label is an index into them.
        labels: `[n]`, the class of each image.
        positions: `[n]`, the place of each image in `source`.

    Raises:
        ValueError: if labels and positions differ in length, or a label has no class name.
    """

    source: object
    class_names: tuple
    labels: np.ndarray
    positions: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "class_names", tuple(str(name) for name in self.class_names))
        for field in ("labels", "positions"):
            values = np.array(getattr(self, field), dtype="int64").reshape(-1)
            values.setflags(write=False)
            object.__setattr__(self, field, values)
        if len(self.labels) != len(self.positions):
            raise ValueError(
                "`labels` and `positions` must have one entry an image. "
                f"Received: {len(self.labels)} labels, {len(self.positions)} positions."
            )
        classes = len(self.class_names)
        if len(self.labels) and not 0 <= self.labels.min() <= self.labels.max() < classes:
            raise ValueError(
                f"`labels` must be in [0, {classes}), one of the class names. "
                f"Received: {self.labels.min()} to {self.labels.max()}."
            )

    def __len__(self):
        return len(self.labels)

    @property
    def class_sizes(self):
        """Number of images of each class, int `[num_classes]`."""
        return np.bincount(self.labels, minlength=len(self.class_names))

    def encoded(self, index):
        """Returns the bytes of one image as a scalar string tensor.

        Args:
            index: scalar integer tensor in `[0, len(self))`; may be symbolic.
        """
        with tf.init_scope():  # captured once, not copied into every traced function
            positions = tf.constant(self.positions)
        return self.source.encoded(tf.gather(positions, index))

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
            self, labels=self.labels[indices], positions=self.positions[indices]
        )

    def split(self, fraction, seed):
        """Holds out a share of every class.

        A class with two images or more has at least one on each side; the only image of a class
        stays in the first part. The same seed gives the same split, on every machine, and
        adding a class at the end leaves the split of the others as it was.

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
        if not 0 <= seed < 2**32:
            raise ValueError(f"`seed` must be in [0, 2**32). Received: {seed}.")
        held_out = np.zeros(len(self), dtype=bool)
        for label in range(len(self.class_names)):
            members = np.flatnonzero(self.labels == label)
            if len(members) < 2:
                continue
            count = min(max(round(fraction * len(members)), 1), len(members) - 1)
            # RandomState: its stream is frozen across numpy versions, Generator's is not.
            order = np.random.RandomState([seed, label]).permutation(len(members))
            held_out[members[order[:count]]] = True
        if not held_out.any():
            raise ValueError("Nothing can be held out: no class has two images or more.")
        return self.select(np.flatnonzero(~held_out)), self.select(np.flatnonzero(held_out))

    def fingerprint(self):
        """Returns a hash of class names, labels and image names, in their order.

        A resumed run compares it: an added or removed file would silently change every batch.
        """
        digest = hashlib.sha256(repr(self.class_names).encode("utf-8", "backslashreplace"))
        digest.update(self.labels.tobytes())
        for index in range(len(self)):
            digest.update(self.name(index).encode("utf-8", "backslashreplace") + b"\n")
        return digest.hexdigest()[:16]
