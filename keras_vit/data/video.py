"""Videos, one folder a class: files, or folders of frames, for models that read clips."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import tensorflow as tf

from keras_vit.data.decode import decode
from keras_vit.data.folder import SUFFIXES, VIDEOS
from keras_vit.data.naming import distinct
from keras_vit.data.records import Records
from keras_vit.data.targets import Classes, gathered
from keras_vit.layers.extras import require


@dataclasses.dataclass(frozen=True, eq=False)
class VideoSource:
    """Videos by position.

    Args:
        paths: files, and folders of frames.
        lengths: number of frames of each.
    """

    paths: tuple
    lengths: np.ndarray

    def length(self, position):
        """Returns the number of frames of one video in a graph."""
        return gathered(self.lengths, position)

    def clip(self, position, frames):
        """Reads frames of one video in a graph.

        Args:
            position: scalar integer tensor.
            frames: int64 `[t]`, the numbers of the frames, rising.

        Returns:
            uint8 `[t, h, w, 3]`.
        """
        clip = tf.numpy_function(self.read_clip, [position, frames], tf.uint8)
        return tf.ensure_shape(clip, [frames.shape[0], None, None, 3])

    def read_clip(self, position, frames):
        """Reads frames of one video; see `read_frames`."""
        return read_frames(self.paths[int(position)], [int(number) for number in frames])

    def name(self, position):
        """Returns the path of one video."""
        return str(self.paths[position])


def open_videos(folder, split=None):
    """Opens a folder of videos: `folder/CLASS/VIDEO`, or `folder/SPLIT/CLASS/VIDEO`.

    A video is a file that ends as one of `VIDEOS`, or a folder of frames: pictures, in the order
    of their names.

    Args:
        folder: path.
        split: name of a folder on top, or None.

    Returns:
        `Records` with `Classes` and a `VideoSource`; `clip_batches` makes batches of it. Each video
        is opened once, to count its frames. The class names are those of the split `train` where
        there is one.

    Raises:
        FileNotFoundError: if there is no such folder.
        ImportError: if PyAV, which reads files, is not installed.
        ValueError: if there is no class or a class has no video, a class is not known from the
            split `train`, or a video cannot be read.
    """
    root = Path(folder)
    top = root / split if split else root
    names = class_names = distinct(_classes(top), top)
    if split and split != "train" and (root / "train").is_dir():
        class_names = tuple(_classes(root / "train"))
    paths, labels = [], []
    for name in names:
        if name not in class_names:
            raise ValueError(f"{top} has a class that {root / 'train'} has not: {name!r}.")
        found = _videos(top / name)
        if not found and _pictures(top / name):
            raise ValueError(
                f"{top} holds images, and clips are needed here: put the frames of each video in "
                f"a folder of its own, such as {top / name / 'video'}; or take a model or a "
                "recipe for images, such as from_scratch."
            )
        if not found:
            raise ValueError(
                f"Every class needs a video; in {top} there is none for {name!r}: neither a file "
                f"that ends in {', '.join(VIDEOS)}, nor a folder of pictures."
            )
        paths += found
        labels += [class_names.index(name)] * len(found)
    lengths = np.array([count_frames(path) for path in paths], "int64")
    return Records(VideoSource(tuple(paths), lengths), Classes(class_names, labels),
                   np.arange(len(paths)))  # fmt: skip


def count_frames(path):
    """Returns the number of frames of a video; of a file, of those that can be decoded.

    Raises:
        FileNotFoundError: if it is not there.
        ValueError: if it has none, or is no video.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no video {path}.")
    count = len(_pictures(path)) if path.is_dir() else sum(1 for _ in _decoded(path))
    if not count:
        raise ValueError(f"{path} has no frame.")
    return count


def read_frames(path, numbers):
    """Reads frames of a video by their numbers.

    A file is decoded from its start on, since only so the number of a frame is certain: seeking
    lands on key frames, whose numbers files with a varying rate do not tell.

    Args:
        path: a file, or a folder of frames.
        numbers: numbers of frames, rising; may repeat.

    Returns:
        uint8 `[t, h, w, 3]`.

    Raises:
        ValueError: if there is no such frame, or frames of a folder differ in size.
    """
    path, wanted = Path(path), set(numbers)
    if path.is_dir():
        pictures = _pictures(path)
        found = {
            number: decode(pictures[number].read_bytes()).numpy()
            for number in wanted
            if number < len(pictures)
        }
    else:
        found = {}
        for number, frame in enumerate(_decoded(path)):
            if number in wanted:
                found[number] = frame.to_ndarray(format="rgb24")
            if len(found) == len(wanted):
                break
    if len(found) < len(wanted):
        raise ValueError(f"{path} has no frame {max(wanted - set(found))}.")
    if len({frame.shape for frame in found.values()}) > 1:
        raise ValueError(f"The frames of {path} must be of one size.")
    return np.stack([found[number] for number in numbers])


def _decoded(path):
    """Yields the frames of a file as PyAV's."""
    av = require("av", extra="video")
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise ValueError(f"{path} has no pictures.")
            yield from container.decode(video=0)
    except av.error.FFmpegError as error:
        raise ValueError(f"{path} cannot be read as a video: {error}.") from error


def _classes(folder):
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder of videos {folder}.")
    found = sorted(path.name for path in folder.iterdir() if path.is_dir() and _visible(path))
    if not found:
        raise ValueError(f"{folder} has no subfolders: put the videos of each class in one.")
    return found


def _videos(folder):
    return sorted(
        path
        for path in folder.iterdir()
        if _visible(path)
        and (path.suffix.lower() in VIDEOS if path.is_file() else bool(_pictures(path)))
    )


def _pictures(folder):
    names = sorted(os.listdir(folder))
    return [folder / name for name in names if name.lower().endswith(SUFFIXES) and name[0] != "."]


def _visible(path):
    return not path.name.startswith(".")
