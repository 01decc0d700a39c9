import numpy as np
import pytest

from keras_vit.data.clips import clip_batches, frame_numbers
from keras_vit.data.video import open_videos
from keras_vit.layers import Preprocessing
from tests.data.test_video import level, write_frames

VALUE = Preprocessing(image_size=8)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    for name, counts in (("run", (9, 12)), ("walk", (2,))):
        for count in counts:
            write_frames(folder / name / f"{count}", count)
    return open_videos(folder)


def numbers_of(clips):
    """Which frames there are, told by their brightness."""
    pixels = (np.asarray(clips) * 0.5 + 0.5) * 255
    return np.round((pixels.mean(axis=(2, 3, 4)) - level(0)) / 10).astype(int)


def test_frames_lie_within_the_video():
    assert frame_numbers(30, 4, 5, 0.0).numpy().tolist() == [0, 5, 10, 15]
    assert frame_numbers(30, 4, 5, 1.0).numpy().tolist() == [14, 19, 24, 29]
    assert frame_numbers(3, 4, 5, 0.7).numpy().tolist() == [0, 2, 2, 2]


def test_evaluation_takes_the_middle_of_each_video_once(records):
    (first, labels), (last, _) = list(clip_batches(records, VALUE, 2, frames=3, stride=2))
    assert first.shape == (2, 3, 8, 8, 3) and last.shape == (1, 3, 8, 8, 3)
    # In the order of the names: 12 before 9.
    assert numbers_of(first).tolist() == [[4, 6, 8], [2, 4, 6]]
    assert numbers_of(last).tolist() == [[0, 1, 1]]
    assert labels.numpy().tolist() == [[1, 0], [1, 0]]


def test_training_is_a_function_of_the_step(records):
    def batches(start, count):
        data = clip_batches(records, VALUE, 3, 2, 3, seed=7, start_step=start)
        return [clips.numpy() for clips, _ in data.take(count)]

    whole, later = batches(0, 4), batches(2, 2)
    np.testing.assert_array_equal(whole[2:], later)
    found = [numbers_of(clips).tolist() for clips in whole]
    for clips in found:
        assert sorted(clip[1] - clip[0] for clip in clips) == [1, 3, 3]
    assert found[0] != found[1]


def test_numbers_below_one(records):
    with pytest.raises(ValueError, match="`stride` must be at least 1. Received: 0"):
        clip_batches(records, VALUE, 2, 3, 0)
