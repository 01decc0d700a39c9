"""Batches of clips: some frames of each video, cut and turned alike."""

import dataclasses

import tensorflow as tf

from keras_vit.data.augment.flip import Flip
from keras_vit.data.augment.inception_crop import inception_box
from keras_vit.data.decode import fit
from keras_vit.data.order import example, fold, uniform

AREA = (0.4, 1.0)  # share of the picture that a training clip shows


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


def clip_batches(
    records, preprocessing, batch_size, frames, stride, seed=None, start_step=0, flip=0.5
):
    """Batches of clips for training or, without a seed, for evaluation.

    In training the batches are endless and a function of the step: a clip from anywhere in its
    video, one part of the picture for all its frames, mirrored or not. In evaluation every video
    comes once, in order, with the clip in its middle, by the model's own `resize` and `crop`.

    Args:
        records: what `open_videos` returned.
        preprocessing: `Preprocessing` of the model.
        batch_size: clips a batch.
        frames: frames of a clip.
        stride: frames of the video from one to the next; 32 for TimeSformer's base model.
        seed: integer for training, or None.
        start_step: number of the first batch, in training.
        flip: share of the clips that are mirrored, in training. 0 where left and right matter.

    Returns:
        A `tf.data.Dataset` of (clips, targets): normalised float32 `[b, frames, h, w, 3]`, and
        one-hot float32 `[b, num_classes]`.

    Raises:
        ValueError: for numbers below 1.
    """
    for name, value in (("batch_size", batch_size), ("frames", frames), ("stride", stride)):
        if value < 1:
            raise ValueError(f"`{name}` must be at least 1. Received: {value}.")
    source, mirror = records.source, Flip(flip)

    def read(index, place):
        position = tf.gather(records.positions, index)
        numbers = frame_numbers(source.length(position), frames, stride, place)
        return source.clip(position, numbers)

    def train(number):
        index, key = example(number, seed, len(records))
        clip = read(index, uniform(key, 1)[0])
        box = inception_box(tf.shape(clip)[1:3], fold(key, 1), AREA)
        clip = tf.slice(clip, [0, box[0], box[1], 0], [frames, box[2], box[3], 3])
        clip = _fitted(clip, dataclasses.replace(preprocessing, resize="squash"))
        keys = tf.repeat(fold(key, 2)[None], frames, axis=0)
        return mirror(clip, keys), index

    def middle(index):
        return _fitted(read(index, 0.5), preprocessing), index

    def finish(clips, index):
        clips = tf.ensure_shape(clips, [None, frames, *preprocessing.image_size, 3])
        mean, std = tf.constant(preprocessing.mean), tf.constant(preprocessing.std)
        return ((clips / 255 - mean) / std, *records.targets.for_training(index))

    if seed is None:
        clips = tf.data.Dataset.range(len(records)).map(middle, tf.data.AUTOTUNE)
        batches = clips.batch(batch_size)
    else:
        clips = tf.data.Dataset.counter(start_step * batch_size).map(train, tf.data.AUTOTUNE)
        batches = clips.batch(batch_size, drop_remainder=True)
    return batches.map(finish, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def _fitted(clip, preprocessing):
    shape = (*preprocessing.image_size, 3)
    return tf.map_fn(
        lambda frame: fit(frame, preprocessing),
        clip,
        fn_output_signature=tf.TensorSpec(shape, tf.float32),
    )
