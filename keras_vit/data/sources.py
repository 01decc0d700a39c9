"""Opens data by what the user writes on the command line."""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path

from keras_vit.data.boxes import open_coco
from keras_vit.data.folder import folder_splits, open_folder
from keras_vit.data.manifest import open_manifest
from keras_vit.data.shards import is_shards, open_shards
from keras_vit.data.tfds_source import PREFIX, TfdsData, is_prepared
from keras_vit.data.video import open_videos

# What a held-out split may be called, in the order of choice.
VALIDATION = ("val", "validation", "test")
ALIASES = {
    "test": ("test", "validation", "val"),
    "val": VALIDATION,
    "validation": ("validation", "val", "test"),
}


@dataclasses.dataclass(frozen=True)
class Data:
    """Data that was found and looked into once: its splits, and the images of each.

    Args:
        spec: what the user wrote.
        splits: names of the splits, such as `("train", "test")`; `()` if the data is one whole.
        opened: function from the name of a split, or None, to its `Records`.
        slices: whether a split may also be a slice, such as `train[:10%]`.
    """

    spec: str
    splits: tuple
    opened: Callable
    slices: bool = False

    def open(self, split=None):
        """Returns the images of a split, or of the whole: see `open_data`."""
        if self.splits or split is not None:
            split = self._choose(split)
        records = self.opened(split)
        if not len(records):
            part = f"The split {split!r} of {self.spec}" if split else str(self.spec)
            raise ValueError(f"{part} has no image: choose another split, or add images.")
        return records

    def open_all(self):
        """Returns a dict from the name of each split, `""` for a whole, to its images."""
        if not self.splits:
            return {"": self.open()}
        return {split: self.open(split) for split in self.splits}

    def open_for_training(self):
        """Returns the split `train`, or the whole where there are no splits."""
        return self.open("train" if self.splits else None)

    def open_train_and_held_out(self, fraction, seed):
        """Returns images to train and to validate on: see `open_train_and_held_out`."""
        train = self.open_for_training()
        held_out = next((name for name in VALIDATION if name in self.splits), None)
        return (train, self.open(held_out)) if held_out else train.split(fraction, seed)

    def _choose(self, split):
        """The name, as the data has it, of the split that is asked for."""
        for name in ALIASES.get(split, (split,)):
            if name in self.splits:
                return name
        if self.slices and split is not None and self.splits:
            return split  # or a mistake that TFDS names
        has = f"one of {self.splits}" if self.splits else "left out: the data has no splits"
        raise ValueError(f"`split` must be {has}, for {self.spec}. Received: {split!r}.")


def find_data(spec, data_dir=None):
    """Finds data and looks what splits it has.

    Opening several splits of what this returns reads a manifest, and indexes shards, once;
    `open_data` would do it each time.

    Args:
        spec: see `open_data`; what is `Data` already is returned as it is.
        data_dir: see `open_data`.

    Returns:
        `Data`.

    Raises:
        FileNotFoundError: if the data is not there.
        ValueError: if it is not of that form.
    """
    if isinstance(spec, Data):
        return spec
    if data_dir is not None and not _is_tfds(spec):
        raise ValueError(
            "`data_dir` is the folder of TensorFlow's data sets, for tfds:NAME alone. "
            f"Received: data_dir={str(data_dir)!r} for {spec}."
        )
    if _is_tfds(spec):
        data = TfdsData(spec, data_dir)
        return Data(spec, data.splits, data.open, slices=True)
    found = next(found for fits, found in _KINDS if fits(spec))
    return Data(spec, *found(spec))


def find_videos(spec):
    """Finds a folder of videos, whose records `keras_vit.data.clips` makes clips of.

    Args:
        spec: the folder, see `open_videos`; what is `Data` already is returned as it is.

    Returns:
        `Data`.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if it is no folder.
    """
    if isinstance(spec, Data):
        return spec
    if not Path(spec).is_dir() and (_is_tfds(spec) or Path(spec).exists()):
        raise ValueError(
            "Clips come from a folder of videos, FOLDER/CLASS/VIDEO, where VIDEO is a file or a "
            f"folder of frames. Received: {spec}."
        )
    return Data(spec, folder_splits(spec), functools.partial(open_videos, spec))


def available_splits(spec, data_dir=None):
    """Returns the names of the splits that the data comes in.

    Args:
        spec, data_dir: see `open_data`.

    Returns:
        A tuple such as `("train", "test")`; `()` if the data is one whole.
    """
    return find_data(spec, data_dir).splits


def open_data(spec, split=None, data_dir=None):
    """Opens images with what is known about them.

    Args:
        spec: one of

            - an image folder with one subfolder a class, with or without `train`, `val`,
              `validation`, `test` on top;
            - `"tfds:NAME[/CONFIG][@SPLIT]"`, or the folder of a prepared TFDS data set;
            - a manifest, `.csv` or `.jsonl`: see `keras_vit.data.manifest`;
            - TFRecord or ArrayRecord shards: a file, a folder or a pattern; see
              `keras_vit.data.shards`;
            - COCO's `.json` of boxes;
            - `Data` that `find_data` returned.
        split: which split to take, where the data has splits. `"test"`, `"val"` and
            `"validation"` stand for each other where only one of them is there.
        data_dir: folder in which TFDS looks for `tfds:NAME`, and prepares it; by default that of
            the environment variable `TFDS_DATA_DIR`, or else TFDS's own.

    Returns:
        `Records`.

    Raises:
        FileNotFoundError: if the data is not there.
        ValueError: if the data is not of that form, `split` or `data_dir` does not fit it, or it
            is empty.
    """
    return find_data(spec, data_dir).open(split)


def open_train_and_held_out(spec, fraction, seed, data_dir=None):
    """Opens data for training, with images to validate on.

    Args:
        spec, data_dir: see `open_data`.
        fraction: share of each class to hold out where the data has no such split, in (0, 1).
        seed: which images those are; see `Records.split`.

    Returns:
        `(train, held_out)`, two `Records`. The data's own splits come first: `train`, and `val`
        or `validation` or else `test`.
    """
    return find_data(spec, data_dir).open_train_and_held_out(fraction, seed)


def _is_tfds(spec):
    return str(spec).startswith(PREFIX) or is_prepared(spec)


def _is_manifest(spec):
    return Path(spec).suffix in (".csv", ".jsonl")


def _is_coco(spec):
    return Path(spec).suffix == ".json"


def _coco(spec):
    return (), functools.partial(open_coco, spec)


def _folder(spec):
    return folder_splits(spec), functools.partial(open_folder, spec)


# (Is it of this kind?, to its splits and what opens one of them); the first that says yes.
_KINDS = (
    (_is_manifest, open_manifest),
    (_is_coco, _coco),
    (is_shards, open_shards),
    (lambda spec: True, _folder),
)
