"""Opens data by what the user writes on the command line."""

from pathlib import Path

from keras_vit.data.boxes import open_coco
from keras_vit.data.folder import folder_splits, open_folder
from keras_vit.data.manifest import manifest_splits, open_manifest
from keras_vit.data.shards import is_shards, open_shards, shard_splits
from keras_vit.data.tfds_source import PREFIX, is_prepared, open_tfds, tfds_splits

# What a held-out split may be called, in the order of choice.
VALIDATION = ("val", "validation", "test")
ALIASES = {
    "test": ("test", "validation", "val"),
    "val": VALIDATION,
    "validation": ("validation", "val", "test"),
}


def available_splits(spec):
    """Returns the names of the splits that the data comes in.

    Args:
        spec: see `open_data`.

    Returns:
        A tuple such as `("train", "test")`; `()` if the data is one whole.
    """
    splits, _ = _kind(spec)
    return splits(spec)


def open_data(spec, split=None):
    """Opens images with what is known about them.

    Args:
        spec: one of

            - an image folder with one subfolder a class, with or without `train`, `val`,
              `validation`, `test` on top;
            - `"tfds:NAME[/CONFIG][@SPLIT]"`, or the folder of a prepared TFDS data set;
            - a manifest, `.csv` or `.jsonl`: see `keras_vit.data.manifest`;
            - TFRecord or ArrayRecord shards: a file, a folder or a pattern; see
              `keras_vit.data.shards`;
            - COCO's `.json` of boxes.
        split: which split to take, where the data has splits. `"test"`, `"val"` and
            `"validation"` stand for each other where only one of them is there.

    Returns:
        `Records`.

    Raises:
        FileNotFoundError: if the data is not there.
        ValueError: if the data is not of that form, `split` does not fit it, or is empty.
    """
    splits_of, opened = _kind(spec)
    splits = splits_of(spec)
    if splits or split is not None:
        split = _choose(spec, split, splits)
    records = opened(spec, split)
    if not len(records):
        part = f"The split {split!r} of {spec}" if split else str(spec)
        raise ValueError(f"{part} has no image: choose another split, or add images.")
    return records


def open_train_and_held_out(spec, fraction, seed):
    """Opens data for training, with images to validate on.

    Args:
        spec: see `open_data`.
        fraction: share of each class to hold out where the data has no such split, in (0, 1).
        seed: which images those are; see `Records.split`.

    Returns:
        `(train, held_out)`, two `Records`. The data's own splits come first: `train`, and `val`
        or `validation` or else `test`.
    """
    splits = available_splits(spec)
    if not splits:
        return open_data(spec).split(fraction, seed)
    train = open_data(spec, "train")
    held_out = next((name for name in VALIDATION if name in splits), None)
    return (train, open_data(spec, held_out)) if held_out else train.split(fraction, seed)


def _is_tfds(spec):
    return str(spec).startswith(PREFIX) or is_prepared(spec)


def _is_manifest(spec):
    return Path(spec).suffix in (".csv", ".jsonl")


def _is_coco(spec):
    return Path(spec).suffix == ".json"


def _no_splits(spec):
    return ()


# (Is it of this kind?, its splits, how it is opened); the first that says yes.
_KINDS = (
    (_is_tfds, tfds_splits, open_tfds),
    (_is_manifest, manifest_splits, open_manifest),
    (_is_coco, _no_splits, open_coco),
    (is_shards, shard_splits, open_shards),
    (lambda spec: True, folder_splits, open_folder),
)


def _kind(spec):
    """(splits, open) for what the user wrote."""
    return next((splits, opened) for fits, splits, opened in _KINDS if fits(spec))


def _choose(spec, split, splits):
    """The name, as the data has it, of the split that is asked for."""
    for name in ALIASES.get(split, (split,)):
        if name in splits:
            return name
    if _is_tfds(spec) and split is not None and splits:
        return split  # a slice such as train[:10%], or a mistake that TFDS names
    has = f"one of {splits}" if splits else "left out: the data has no splits"
    raise ValueError(f"`split` must be {has}, for {spec}. Received: {split!r}.")
