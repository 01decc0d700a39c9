"""Videos as files, written by PyAV itself, and as folders of frames."""

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.data import find_data, find_videos
from keras_vit.data.video import count_frames, open_videos, read_frames


def level(number):
    """The brightness of a frame, by which it is known again."""
    return 30 + 10 * number


def write_frames(folder, count, size=(20, 16)):
    folder.mkdir(parents=True)
    for number in range(count):
        Image.new("RGB", size, (level(number),) * 3).save(folder / f"{number:03}.png")
    return folder


def write_video(path, count, size=(64, 48)):
    import av

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for number in range(count):
            pixels = np.full((size[1], size[0], 3), level(number), "uint8")
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def test_folders_of_frames(tmp_path):
    for split, counts in (("train", {"run": 5, "walk": 3}), ("test", {"walk": 4})):
        for name, count in counts.items():
            write_frames(tmp_path / split / name / "clip", count)
    (tmp_path / "train" / "run" / ".hidden").mkdir()
    train, test = open_videos(tmp_path, "train"), open_videos(tmp_path, "test")
    assert train.class_names == test.class_names == ("run", "walk")
    assert train.labels.tolist() == [0, 1] and test.labels.tolist() == [1]
    assert train.source.lengths.tolist() == [5, 3]
    assert train.name(1) == str(tmp_path / "train" / "walk" / "clip")
    clip = train.source.clip(tf.constant(0), tf.constant([1, 1, 4], tf.int64)).numpy()
    assert clip.shape == (3, 16, 20, 3)
    assert clip[:, 0, 0, 0].tolist() == [level(1), level(1), level(4)]
    assert len(train.part(0.5, 0)) == 2


def test_images_in_place_of_videos_and_videos_in_place_of_images(tmp_path):
    write_frames(tmp_path / "images" / "run", 2)
    with pytest.raises(ValueError, match="holds images, and clips are needed here"):
        find_videos(tmp_path / "images").open()
    (tmp_path / "videos" / "run").mkdir(parents=True)
    (tmp_path / "videos" / "run" / "a.MP4").touch()
    with pytest.raises(ValueError, match="holds videos, .* such as timesformer_clips"):
        find_data(tmp_path / "videos").open()
    (tmp_path / "list.csv").touch()
    for wrong in (tmp_path / "list.csv", "tfds:mnist"):
        with pytest.raises(ValueError, match="from a folder of videos, FOLDER/CLASS/VIDEO"):
            find_videos(wrong)


def test_splits_of_videos(tmp_path):
    for split in ("train", "val"):
        write_frames(tmp_path / split / "run" / "clip", 2)
    data = find_videos(tmp_path)
    assert find_videos(data) is data and data.splits == ("train", "val")
    assert len(data.open("test")) == 1


def test_what_is_wrong_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder of videos"):
        open_videos(tmp_path / "none")
    with pytest.raises(ValueError, match="has no subfolders"):
        open_videos(tmp_path)
    (tmp_path / "run" / "empty").mkdir(parents=True)
    with pytest.raises(ValueError, match="Every class needs a video.* none for 'run'"):
        open_videos(tmp_path)
    frames = write_frames(tmp_path / "run" / "clip", 3)
    with pytest.raises(ValueError, match="clip has no frame 7"):
        read_frames(frames, [0, 7])
    Image.new("RGB", (9, 9)).save(frames / "003.png")
    with pytest.raises(ValueError, match="must be of one size"):
        read_frames(frames, [0, 3])


@pytest.mark.prove
@pytest.mark.parametrize("ending", ["mp4", "mkv", "avi"])
def test_files(tmp_path, ending):
    path = write_video(tmp_path / "run" / f"a.{ending}", 15)
    write_frames(tmp_path / "walk" / "clip", 3)
    records = open_videos(tmp_path)
    assert records.source.lengths.tolist() == [15, 3] == [count_frames(path), 3]
    for numbers in ([0, 1, 2], [3, 3, 14], [14]):
        clip = records.source.clip(tf.constant(0), tf.constant(numbers, tf.int64)).numpy()
        assert clip.shape == (len(numbers), 48, 64, 3)
        np.testing.assert_allclose(clip.mean(axis=(1, 2, 3)), [level(n) for n in numbers], atol=3)
    with pytest.raises(ValueError, match="has no frame 15"):
        read_frames(path, [15])
    path.write_bytes(b"text")
    with pytest.raises(ValueError, match="cannot be read as a video"):
        count_frames(path)
