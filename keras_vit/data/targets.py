"""What is known about each image: one class, any number of classes, a text, or nothing.

Each kind is a small class with the same calls, which `Records` leans on:

- `class_names`, `class_sizes`: names of the classes and how many images each has, or empty;
- `groups`: int `[n]`, the class that an image counts as when a share of every class is drawn;
- `for_training(index)`, `for_evaluation(index)`: the tensors that follow the images in a batch;
- `select(indices)`: the targets of some images;
- `digest()`: bytes that change when a target does.
"""

import dataclasses

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True, eq=False)
class Classes:
    """One class an image.

    Args:
        class_names: names of the classes; a label is an index into them.
        labels: `[n]`, the class of each image.

    Raises:
        ValueError: if a label has no class name.
    """

    class_names: tuple
    labels: np.ndarray

    def __post_init__(self):
        _freeze(self, class_names=names(self.class_names), labels=_integers(self.labels))
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
        return np.bincount(self.labels, minlength=len(self.class_names))

    @property
    def groups(self):
        return self.labels

    def for_training(self, index):
        """Returns one-hot labels, float32 `[..., num_classes]`."""
        return (tf.one_hot(gathered(self.labels, index), len(self.class_names)),)

    def for_evaluation(self, index):
        """Returns the labels, int64 of the shape of `index`."""
        return (gathered(self.labels, index),)

    def select(self, indices):
        return dataclasses.replace(self, labels=self.labels[indices])

    def digest(self):
        return text_bytes(repr(self.class_names)) + self.labels.tobytes()


@dataclasses.dataclass(frozen=True, eq=False)
class Tags:
    """Any number of classes an image, none included.

    Args:
        class_names: names of the classes.
        labels: `[n, num_classes]`, 1 where an image has the class, else 0.

    Raises:
        ValueError: for another shape or other values.
    """

    class_names: tuple
    labels: np.ndarray

    def __post_init__(self):
        given = np.asarray(self.labels)
        labels = given.astype("uint8")
        _freeze(self, class_names=names(self.class_names), labels=labels)
        if labels.ndim != 2 or labels.shape[1] != len(self.class_names):
            raise ValueError(
                "`labels` must have one column a class name. Received: "
                f"shape={labels.shape}, {len(self.class_names)} class names."
            )
        if labels.size and not (np.isin(given, (0, 1))).all():
            raise ValueError("`labels` of several classes an image must be 0 or 1.")

    @classmethod
    def of(cls, class_names, members):
        """Returns the targets for a list of class numbers of each image."""
        labels = np.zeros((len(members), len(class_names)), "uint8")
        for row, numbers in zip(labels, members, strict=True):
            row[list(numbers)] = 1
        return cls(class_names, labels)

    def __len__(self):
        return len(self.labels)

    @property
    def class_sizes(self):
        return self.labels.sum(axis=0, dtype="int64")

    @property
    def groups(self):
        """The rarest class of each image, so that a share has some of every class.

        An image without a class counts as one class more.
        """
        order = np.argsort(self.class_sizes, kind="stable")
        rarest = order[self.labels[:, order].argmax(axis=1)] if len(order) else np.zeros(len(self))
        return np.where(self.labels.any(axis=1), rarest, len(order)).astype("int64")

    def for_training(self, index):
        """Returns float32 `[..., num_classes]`, 1 for every class that an image has."""
        return (tf.cast(gathered(self.labels, index), tf.float32),)

    for_evaluation = for_training

    def select(self, indices):
        return dataclasses.replace(self, labels=self.labels[indices])

    def digest(self):
        return text_bytes(repr(self.class_names)) + self.labels.tobytes()


@dataclasses.dataclass(frozen=True, eq=False)
class Unlabelled:
    """Nothing but the images.

    Args:
        count: how many.
    """

    count: int
    class_names = ()

    def __len__(self):
        return self.count

    @property
    def class_sizes(self):
        return np.zeros(0, "int64")

    @property
    def groups(self):
        return np.zeros(len(self), "int64")

    def for_training(self, index):
        """Returns nothing: a batch is the images alone."""
        return ()

    for_evaluation = for_training

    def select(self, indices):
        return Unlabelled(len(indices))

    def digest(self):
        return b""


@dataclasses.dataclass(frozen=True, eq=False)
class Captions:
    """A text an image, for models of image and text.

    Args:
        texts: one string an image.
    """

    texts: tuple
    class_names = ()

    def __post_init__(self):
        _freeze(self, texts=names(self.texts))

    def __len__(self):
        return len(self.texts)

    class_sizes = Unlabelled.class_sizes
    groups = Unlabelled.groups

    def for_training(self, index):
        """Returns the texts, a string tensor (UTF-8) of the shape of `index`."""
        return (gathered(np.array([text_bytes(text) for text in self.texts], object), index),)

    for_evaluation = for_training

    def select(self, indices):
        return Captions([self.texts[index] for index in indices])

    def digest(self):
        return text_bytes(repr(self.texts))


def names(values):
    """Returns names as a tuple of strings."""
    return tuple(str(value) for value in values)


def _integers(values):
    return np.array(values, dtype="int64").reshape(-1)


def _freeze(target, **fields):
    """Sets the fields of a frozen dataclass; arrays are made read-only."""
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(target, name, value)


def gathered(values, index):
    """Returns the rows of a constant array at `index`, a tensor."""
    with tf.init_scope():  # captured once, not copied into every traced function
        held = tf.constant(values)
    return tf.gather(held, index)


def text_bytes(text):
    """Returns text as UTF-8; what is not valid Unicode, as in a file name, is escaped."""
    return text.encode("utf-8", "backslashreplace")
