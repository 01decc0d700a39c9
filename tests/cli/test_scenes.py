import gzip
import struct

import numpy as np
import pytest

from keras_vit.cli import scenes
from keras_vit.cli.scenes import HIDDEN, SIDE, SIZES, scene, write_scenes
from keras_vit.data import open_data


@pytest.fixture
def photographs(monkeypatch):
    """Grey noise for scikit-image's photographs."""
    noise = np.random.default_rng(0).integers(0, 90, (160, 200, 3), "uint8")
    monkeypatch.setattr(scenes, "photographs", lambda split: [noise])
    return noise


def squares(count=20):
    """Bright squares of other sizes than the pictures that they are in."""
    pictures = np.zeros((count, 28, 28), "uint8")
    pictures[:, 4:24, 7:21] = 255
    return pictures, np.arange(count) % 10


def test_a_box_holds_its_garment_exactly(photographs):
    garments, labels = squares()
    random, seen = np.random.default_rng(3), 0
    for _ in range(20):
        canvas, boxes, classes = scene(garments, labels, photographs, random)
        assert canvas.shape == (SIDE, SIDE, 3) and len(boxes) == len(classes)
        for place, (left, top, right, bottom) in enumerate(boxes):
            assert 0 <= left < right <= SIDE and 0 <= top < bottom <= SIDE
            assert 0.45 * SIZES[0] <= right - left <= SIZES[1]
            others = [scenes._common(boxes[place], other) for other in boxes[place + 1 :]]
            assert all(one <= HIDDEN * scenes._area(boxes[place]) for one in others)
            if not any(others):
                # Brighter than all of the background: half of 255 at least.
                middle = canvas[top + 2 : bottom - 2, left + 2 : right - 2]
                assert middle.max(axis=-1).min() > 100
                seen += 1
    assert seen > 10


def fashion(folder, monkeypatch, count=20):
    images, labels = squares(count)
    for part in ("train", "t10k"):
        header = struct.pack(">4i", 2051, count, 28, 28)
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(
            gzip.compress(header + images.tobytes())
        )
        header = struct.pack(">2i", 2049, count)
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(
            gzip.compress(header + labels.astype("uint8").tobytes())
        )
    monkeypatch.setattr(scenes, "PARTS", {"train": ("train", count), "test": ("t10k", count)})


def test_written_as_a_coco_data_set(photographs, tmp_path, monkeypatch):
    fashion(tmp_path, monkeypatch)
    path = write_scenes(tmp_path, tmp_path / "scenes", 6, "test", seed=1)
    records = open_data(path)
    assert len(records) == 6 and len(records.class_names) == 10
    assert (records.targets.labels >= 0).sum() >= 6
    written = path.stat().st_mtime_ns
    assert write_scenes(tmp_path, tmp_path / "scenes", 6, "test", seed=1) == path
    assert path.stat().st_mtime_ns == written


def test_no_photograph_is_in_both_splits():
    assert not set(scenes.BACKGROUNDS["train"]) & set(scenes.BACKGROUNDS["test"])


@pytest.mark.prove
def test_the_photographs_are_there():
    for split, names in scenes.BACKGROUNDS.items():
        pictures = scenes.photographs(split)
        assert len(pictures) == len(names)
        assert all(p.ndim == 3 and min(p.shape[:2]) >= SIDE for p in pictures)
