import dataclasses

import numpy as np
import pytest
from PIL import Image

from keras_vit.data import from_arrays
from keras_vit.data.clips import clip_batches, evaluation_clips, frame_numbers
from keras_vit.data.video import open_videos
from keras_vit.layers import Preprocessing
from tests.data.test_video import level, write_frames

VALUE = Preprocessing(image_size=8, frames=3, stride=2)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    for name, counts in (("run", (9, 12)), ("walk", (2,))):
        for count in counts:
            write_frames(folder / name / f"{count}", count)
    return open_videos(folder)


def numbers_of(pixels):
    """Which frames there are, told by their brightness."""
    return np.round((np.asarray(pixels).mean(axis=(-3, -2, -1)) - level(0)) / 10).astype(int)


def raw(clips):
    return (np.asarray(clips) * 0.5 + 0.5) * 255


def test_frames_lie_within_the_video():
    assert frame_numbers(30, 4, 5, 0.0).numpy().tolist() == [0, 5, 10, 15]
    assert frame_numbers(30, 4, 5, 1.0).numpy().tolist() == [14, 19, 24, 29]
    assert frame_numbers(3, 4, 5, 0.7).numpy().tolist() == [0, 2, 2, 2]


def test_evaluation_takes_the_middle_of_each_video_once(records):
    (first, labels), (last, _) = list(evaluation_clips(records, VALUE, 2))
    assert first.shape == (2, 1, 3, 8, 8, 3) and last.shape == (1, 1, 3, 8, 8, 3)
    # In the order of the names: 12 before 9.
    assert numbers_of(first[:, 0]).tolist() == [[4, 6, 8], [2, 4, 6]]
    assert numbers_of(last[:, 0]).tolist() == [[0, 1, 1]]
    assert labels.numpy().tolist() == [0, 0]


def test_evaluation_by_several_clips(records):
    ((clips, _),) = list(evaluation_clips(records, VALUE, 3, clips=2))
    assert numbers_of(clips[0]).tolist() == [[2, 4, 6], [6, 8, 10]]
    ((kept, labels),) = list(evaluation_clips(records, VALUE, 3, clips=2, rows=range(2, 3)))
    np.testing.assert_array_equal(kept, clips[2:])
    assert labels.numpy().tolist() == [1]
    with pytest.raises(ValueError, match="`clips` must be at least 1"):
        evaluation_clips(records, VALUE, 3, clips=0)


def test_training_is_a_function_of_the_step(records):
    value = dataclasses.replace(VALUE, frames=2, stride=3)

    def batches(start, count, **options):
        data = clip_batches(records, value, 3, seed=7, start_step=start, **options)
        return [clips.numpy() for clips, _ in data.take(count)]

    whole, later = batches(0, 4), batches(2, 2)
    np.testing.assert_array_equal(whole[2:], later)
    np.testing.assert_array_equal(batches(2, 2, rows=range(1, 3))[1], later[1][1:])
    found = [numbers_of(raw(clips)).tolist() for clips in whole]
    for clips in found:
        assert sorted(clip[1] - clip[0] for clip in clips) == [1, 3, 3]
    assert found[0] != found[1]


def test_all_frames_of_a_clip_are_changed_alike(tmp_path):
    """The same picture four times stays the same picture four times, whatever the part."""
    picture = np.random.default_rng(3).integers(0, 256, (12, 10, 3), "uint8")
    for name in ("run", "walk"):
        (tmp_path / name / "clip").mkdir(parents=True)
        for number in range(4):
            Image.fromarray(picture).save(tmp_path / name / "clip" / f"{number}.png")
    records = open_videos(tmp_path)
    augment = ("inception_crop", "flip", "shift", "rand_augment(2, 10)")
    data = clip_batches(records, VALUE, 4, 7, augment=augment, label_smoothing=0.2)
    clips, labels = next(iter(data))
    np.testing.assert_array_equal(clips, np.repeat(clips[:, :1], 3, axis=1))
    assert np.abs(clips[0] - clips[1]).max() > 0.1
    np.testing.assert_allclose(np.sort(labels), [[0.1, 0.9]] * 4, rtol=1e-6)


def test_what_cannot_be_is_named(records):
    with pytest.raises(ValueError, match="`batch_size` must be at least 1. Received: 0"):
        clip_batches(records, VALUE, 0, seed=7)
    with pytest.raises(ValueError, match="that change single images. Received: MixUp"):
        clip_batches(records, VALUE, 2, seed=7, augment=("flip", "mixup"))
    with pytest.raises(ValueError, match="must take clips with three channels. Received: frames=0"):
        clip_batches(records, Preprocessing(image_size=8), 2, seed=7)
    images = from_arrays(np.zeros((2, 4, 4, 3), "uint8"), [0, 1])
    with pytest.raises(ValueError, match="cut from videos. Received: records of"):
        evaluation_clips(images, VALUE, 2)
