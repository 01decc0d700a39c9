"""Batches of clips: some frames of each video, cut and turned alike."""

import dataclasses

import numpy as np
import tensorflow as tf

from keras_vit.data.augment import augmentations, smoothed
from keras_vit.data.decode import fit
from keras_vit.data.order import example, fold, uniform
from keras_vit.data.pipeline import kept_rows, normalised, ordered
from keras_vit.data.records import Records
from keras_vit.data.targets import Unlabelled
from keras_vit.data.video import VideoSource, count_frames

# The parts that all frames of a clip can share.
STAGES = ("decoded", "image", "fitted")
AUGMENT = ("inception_crop((0.4, 1.0))", "flip")


def frame_numbers(length, frames, stride, place):
    """Returns which frames of a video a clip has.

    Args:
        length: frames of the video, integer.
        frames: frames of the clip.
        stride: frames of the video from one to the next.
        place: where the clip lies, 0 (at the start) to 1 (at the end). Of a video that is shorter
            than a clip the last frame is repeated.

    Returns:
        int64 `[frames]`.

    Example:

    >>> frame_numbers(10, frames=3, stride=2, place=0.5).numpy().tolist()
    [3, 5, 7]
    >>> frame_numbers(4, frames=3, stride=2, place=0.5).numpy().tolist()
    [0, 2, 3]
    """
    length = tf.cast(length, tf.int64)
    room = tf.maximum(length - (frames - 1) * stride, 1)
    start = tf.cast(tf.floor(place * tf.cast(room, tf.float32)), tf.int64)
    start = tf.minimum(start, room - 1)
    return tf.minimum(start + stride * tf.range(frames, dtype=tf.int64), length - 1)


def places(clips):
    """Returns where so many clips of a video lie, for `frame_numbers`: at even distances.

    Example:

    >>> places(2).tolist()
    [0.25, 0.75]
    """
    return (np.arange(clips) + 0.5) / clips


def clip_batches(
    records,
    preprocessing,
    batch_size,
    seed,
    start_step=0,
    augment=AUGMENT,
    label_smoothing=0.0,
    rows=None,
):
    """Endless batches of clips for training, each a pure function of its step.

    A clip is from anywhere in its video. Whatever is random in augmentation is the same for all
    its frames.

    Args:
        records: what `open_videos` returned.
        preprocessing: `Preprocessing` of the model; its `frames` and `stride` make a clip.
        batch_size: clips a batch.
        seed: integer: fixes order, places and augmentation.
        start_step: number of the first batch.
        augment: names of `AUGMENTATIONS` that change single images, or parts like those. Leave
            `"flip"` out where left and right matter.
        label_smoothing: share of the target spread over all classes.
        rows: places in the batch that are kept, as in `training_batches`; all are made.

    Returns:
        A `tf.data.Dataset` of (clips, labels): normalised float32 `[b, frames, h, w, 3]`, and
        one-hot float32 `[b, num_classes]`.

    Raises:
        ValueError: for records that hold no videos, a part that cannot be the same for all
            frames, or a model of other than colour clips.
    """
    _check(records, preprocessing, batch_size)
    parts = list(enumerate(augmentations(augment)))
    wrong = [type(part).__name__ for _, part in parts if part.stage not in STAGES]
    if wrong:
        raise ValueError(
            "`augment` of clips must be of parts that change single images. "
            f"Received: {', '.join(wrong)}."
        )
    cropped = any(part.stage == "decoded" for _, part in parts)
    size = dataclasses.replace(preprocessing, resize="squash") if cropped else preprocessing

    def draw(number):
        index, key = example(number, seed, len(records))
        clip = _read(records, index, preprocessing, uniform(key, 1)[0])
        for place, part in parts:
            if part.stage == "decoded":
                clip = _cut(clip, part.window(tf.shape(clip)[1:3], fold(key, place)))
        clip = tf.cast(_fitted(clip, size), tf.uint8)
        for stage in STAGES[1:]:
            for place, part in parts:
                if part.stage == stage:
                    clip = _alike(part, clip, fold(key, place))
        return clip, index

    def finish(clips, index):
        (labels,) = records.targets.for_training(index)
        return tf.cast(clips, tf.float32), smoothed(labels, label_smoothing)

    clips = tf.data.Dataset.counter(start_step * batch_size).map(draw, tf.data.AUTOTUNE)
    batches = clips.batch(batch_size, drop_remainder=True).map(finish)
    return ordered(normalised(kept_rows(batches, rows), preprocessing))


def evaluation_clips(records, preprocessing, batch_size, clips=1, rows=None):
    """All videos once, in their order, with one clip of the middle, or several.

    Args:
        records, preprocessing: as in `clip_batches`.
        batch_size: videos a batch; the last may have fewer.
        clips: clips of each video, at even distances.
        rows: places in each batch that are kept.

    Returns:
        A `tf.data.Dataset` of (pixels, labels): float32 `[b, clips, frames, h, w, 3]`, whole
        values 0 to 255, and int64 `[b]`.

    Raises:
        ValueError: as in `clip_batches`, and for fewer than one clip.
    """
    _check(records, preprocessing, batch_size)
    if clips < 1:
        raise ValueError(f"`clips` must be at least 1. Received: {clips}.")

    def load(index):
        found = [
            _fitted(_read(records, index, preprocessing, place), preprocessing)
            for place in places(clips)
        ]
        return tf.stack(found), *records.targets.for_evaluation(index)

    videos = tf.data.Dataset.range(len(records)).map(load, tf.data.AUTOTUNE)
    return ordered(kept_rows(videos.batch(batch_size), rows))


def video_clips(path, preprocessing, clips=1):
    """Returns clips of one video, as raw pixels.

    Args:
        path: a video file, or a folder of frames.
        preprocessing: `Preprocessing` of a model that takes clips.
        clips: how many, at even distances.

    Returns:
        float32 `[clips, frames, h, w, 3]`, whole values 0 to 255.

    Raises:
        ValueError: for what is no video, for fewer than one clip, or a model of other than colour
            clips.
    """
    source = VideoSource((path,), np.array([count_frames(path)], "int64"))
    records = Records(source, Unlabelled(1), [0])
    ((pixels,),) = evaluation_clips(records, preprocessing, 1, clips).as_numpy_iterator()
    return pixels[0]


def _check(records, preprocessing, batch_size):
    if not isinstance(records.source, VideoSource):
        raise ValueError(
            f"Clips are cut from videos. Received: records of {type(records.source).__name__}."
        )
    if batch_size < 1:
        raise ValueError(f"`batch_size` must be at least 1. Received: {batch_size}.")
    if not preprocessing.frames or preprocessing.channels != 3:
        raise ValueError(
            "The model must take clips with three channels. "
            f"Received: frames={preprocessing.frames}, {preprocessing.channels} channels."
        )


def _read(records, index, preprocessing, place):
    position = tf.gather(records.positions, index)
    numbers = frame_numbers(
        records.source.length(position), preprocessing.frames, preprocessing.stride, place
    )
    return records.source.clip(position, numbers)


def _cut(clip, box):
    frames = clip.shape[0]
    return tf.slice(clip, [0, box[0], box[1], 0], [frames, box[2], box[3], 3])


def _alike(part, clip, key):
    """Changes every frame by the same random numbers."""
    if part.stage == "fitted":
        return part(clip, tf.repeat(key[None], clip.shape[0], axis=0))
    return tf.map_fn(lambda frame: part(frame, key), clip)


def _fitted(clip, preprocessing):
    shape = (*preprocessing.image_size, 3)
    return tf.map_fn(
        lambda frame: fit(frame, preprocessing),
        clip,
        fn_output_signature=tf.TensorSpec(shape, tf.float32),
    )
