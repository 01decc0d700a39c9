"""Image folders: one subfolder a class, with or without splits on top."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import tensorflow as tf

from keras_vit.data.naming import distinct
from keras_vit.data.records import Records
from keras_vit.data.targets import Classes, Unlabelled, gathered

SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp")
VIDEOS = (".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".mpg", ".mpeg")
SPLITS = ("train", "val", "validation", "test")


@dataclasses.dataclass(frozen=True, eq=False)
class FolderSource:
    """Image files by position.

    Args:
        folder: the folder that the paths start from.
        paths: paths below `folder`.
    """

    folder: Path
    paths: tuple

    def encoded(self, position):
        """Reads one file in a graph."""
        # Bytes: a file name need not be valid Unicode.
        paths = [os.fsencode(self.folder / path) for path in self.paths]
        return tf.io.read_file(gathered(paths, position))

    def read(self, position):
        """Reads one file."""
        return (self.folder / self.paths[position]).read_bytes()

    def name(self, position):
        """Returns the whole path of one file."""
        return str(self.folder / self.paths[position])


def folder_splits(folder):
    """Returns the names of the splits that a folder has on top, or `()`.

    `train`, `val`, `validation` and `test` are splits when they hold class folders; one that
    holds images itself is a class of that name.

    Args:
        folder: path.

    Raises:
        FileNotFoundError: if there is no such folder.
    """
    folder = _existing(folder)
    return tuple(
        name for name in SPLITS if _subfolders(folder / name) and not _images(folder / name)
    )


def open_folder(folder, split=None):
    """Opens an image folder.

    Files and folders whose names start with a dot are passed over, as are files with other
    endings than `SUFFIXES`. Classes and files are in the order of their names.

    Args:
        folder: `folder/CLASS/….jpg`, or `folder/SPLIT/CLASS/….jpg`.
        split: name of a split on top, exactly as the folder is called, or None.

    Returns:
        `Records`. The class names are those of the `train` split where there is one, so that
        a class keeps its number in every split.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if it has no class folders, a class has no image, or a class is not known
            from the `train` split; or if two classes have one name but for case or Unicode form.
    """
    root = _existing(folder)
    top = root / split if split else root
    names = [path.name for path in _subfolders(top)]
    if not names:
        raise ValueError(_no_classes(top))
    class_names = names = distinct(names, top)
    if split and split != "train" and "train" in folder_splits(root):
        class_names = [path.name for path in _subfolders(root / "train")]
        unknown = sorted(set(names) - set(class_names))
        if unknown:
            raise ValueError(f"{top} has classes that {root / 'train'} has not: {unknown}.")
    files = {name: _images(top / name, deep=True) for name in names}
    empty = [name for name in names if not files[name]]
    if empty:
        if any(_is_video(name) for name in os.listdir(top / empty[0])):
            raise ValueError(
                f"{top} holds videos, and images are needed here: models that take clips are "
                "trained by a recipe such as timesformer_clips."
            )
        raise ValueError(
            f"Every class needs an image; in {top} there is none for {empty}. Add images ending "
            f"in {', '.join(SUFFIXES)}, or remove the folder."
        )
    paths = [path.relative_to(root) for name in names for path in files[name]]
    labels = [class_names.index(name) for name in names for _ in files[name]]
    return Records(
        FolderSource(root, tuple(str(path) for path in paths)),
        Classes(class_names, labels),
        np.arange(len(paths)),
    )


def open_images(paths):
    """Opens pictures that nothing is known of.

    Args:
        paths: picture files and folders; of a folder all pictures in it and below it are taken,
            in the order of their names.

    Returns:
        `Records` with `Unlabelled`.

    Raises:
        FileNotFoundError: if a path is not there.
        ValueError: if there is no picture at all.
    """
    found = []
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(f"There is no picture or folder {path}.")
        found += _images(path, deep=True) if path.is_dir() else [path]
    if not found:
        raise ValueError(
            f"There is no picture in {', '.join(map(str, paths))}: none ends in "
            f"{', '.join(SUFFIXES)}."
        )
    source = FolderSource(Path(), tuple(str(path) for path in found))
    return Records(source, Unlabelled(len(found)), np.arange(len(found)))


def _existing(folder):
    folder = Path(folder)
    if not folder.exists():
        raise FileNotFoundError(f"There is no image folder {folder}.")
    if not folder.is_dir():
        raise ValueError(
            f"An image folder is needed, with one subfolder a class. Received: {folder}."
        )
    return folder


def _subfolders(folder):
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and _visible(path.name))


def _images(folder, deep=False):
    """The image files in a folder, and with `deep` also below it, in order."""
    found = []
    for base, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if deep and _visible(name)]
        found += [Path(base, name) for name in names if _visible(name) and _is_image(name)]
    return sorted(found)


def _visible(name):
    return not name.startswith(".")


def _is_image(name):
    return name.lower().endswith(SUFFIXES)


def _is_video(name):
    return name.lower().endswith(VIDEOS)


def _no_classes(folder):
    images = len(_images(folder))
    found = f"has {images} images but no subfolders" if images else "is empty"
    return (
        f"The image folder {folder} {found}: put the images of each class in a subfolder named "
        f"after it, such as {folder / 'cat' / '1.jpg'}."
    )
