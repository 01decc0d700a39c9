import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_vit.data import decode, from_arrays, open_data, require_whole, scan, skip_broken
from tests.data.pictures import claiming, encode, noise, smooth, write_folder
from tests.data.test_wire import serialised

WHOLE = {
    "a.jpg": encode(smooth(40, 30), "JPEG"),
    "b.png": encode(noise(7, 5, 4), "PNG"),
    "c.gif": encode(noise(7, 5), "GIF"),
    "d.bmp": encode(noise(7, 5, 3), "BMP"),
    "e.webp": encode(smooth(7, 5), "WEBP"),
    "f.png": encode(noise(1, 1, 3), "PNG"),
    "g.png": encode(noise(7, 5, dtype="uint16"), "PNG"),
    "h.png": encode(smooth(9, 9), "JPEG"),  # the bytes count, not the name
}
BROKEN = {
    "empty.jpg": (b"", "the file is empty"),
    "text.jpg": (b"Hello, I am not an image.", "not an image"),
    "cut.jpg": (WHOLE["a.jpg"][:-200], "damaged or cut short"),
    "end.jpg": (WHOLE["a.jpg"][:-2], "damaged or cut short"),
    "cut.png": (encode(noise(40, 30, 3), "PNG")[:-900], "damaged or cut short"),
    "cut.gif": (encode(noise(40, 30), "GIF")[:-90], "damaged or cut short"),
    "cut.bmp": (WHOLE["d.bmp"][:-9], "damaged or cut short"),
    "cut.webp": (WHOLE["e.webp"][:-9], "damaged or cut short"),
    "bomb.png": (claiming("PNG", 30_000, 20_000), "more than 89,478,485 pixels"),
    "bomb.jpg": (claiming("JPEG", 30_000, 20_000), "more than 89,478,485 pixels"),
    "tiff.png": (encode(noise(7, 5, 3), "TIFF"), "a TIFF file"),
    "palette.bmp": (encode(Image.fromarray(noise(7, 5, 3)).quantize(9), "BMP"), "with a palette"),
    "animated.webp": (
        encode(
            smooth(7, 5), "WEBP", save_all=True, append_images=[Image.fromarray(noise(7, 5, 3))]
        ),
        "an animated WebP",
    ),
}


def folder_of(path, files):
    (path / "one").mkdir(parents=True)
    for name, encoded in files.items():
        (path / "one" / name).write_bytes(encoded)
    return open_data(path)


def test_whole_images(tmp_path):
    records = folder_of(tmp_path, WHOLE)
    found = scan(records)
    assert not found.broken and found.summary() == "All 8 images can be read."
    for index, size in enumerate(found.sizes):
        assert decode(records.read(index)).shape[:2] == tuple(size)
    assert require_whole(records) is records


def test_every_broken_image_is_found_with_its_reason(tmp_path):
    records = folder_of(tmp_path, WHOLE | {name: encoded for name, (encoded, _) in BROKEN.items()})
    found = scan(records)
    reasons = {name.rsplit("/", 1)[1]: reason for _, name, reason in found.broken}
    assert set(reasons) == set(BROKEN)
    for name, (_, reason) in BROKEN.items():
        assert reason in reasons[name], name
    for index, name, _ in found.broken:
        assert records.name(index) == name and found.sizes[index].tolist() == [0, 0]
    with pytest.raises(ValueError, match="13 of 21 images cannot be read: .*; and 3 more"):
        require_whole(records)


def test_a_file_that_went_away(tmp_path):
    records = folder_of(tmp_path, WHOLE)
    (tmp_path / "one" / "b.png").unlink()
    assert scan(records).broken[0][2] == "cannot be opened (No such file or directory)"


def test_skipping_lists_what_it_skips(tmp_path):
    records = folder_of(tmp_path / "images", {**WHOLE, "text.jpg": b"text"})
    listed = tmp_path / "out" / "skipped.txt"
    usable, found = skip_broken(records, listed)
    assert len(usable) == 8 and scan(usable).broken == ()
    path = tmp_path / "images/one/text.jpg"
    assert listed.read_text("utf-8") == f"{path}\tnot an image\n"
    assert found.summary() == f"1 of 9 images cannot be read: {path}: not an image."
    again, _ = skip_broken(usable, listed)  # the list of an earlier run would mislead
    assert len(again) == 8 and not listed.exists()


def test_a_class_with_no_readable_image(tmp_path):
    write_folder(tmp_path, {"cat": 2, "dog": 1})
    (tmp_path / "dog" / "000.png").write_bytes(b"text")
    with pytest.raises(ValueError, match=r"No image can be read of the classes \['dog'\].*000.png"):
        skip_broken(open_data(tmp_path), tmp_path / "skipped.txt")
    assert not (tmp_path / "skipped.txt").exists()


def test_sizes(tmp_path):
    records = folder_of(tmp_path, {"a.png": WHOLE["a.jpg"], "b.png": WHOLE["b.png"]})
    np.testing.assert_array_equal(scan(records).sizes, [[40, 30], [7, 5]])


def test_a_picture_larger_than_pillows_warning(tmp_path):
    """30,000 by 3,000 is above the warning and below Pillow's error."""
    wide = claiming("PNG", 30_000, 3_000)
    records = folder_of(tmp_path, {"a.jpg": WHOLE["a.jpg"], "wide.png": wide})
    ((_, name, reason),) = scan(records).broken
    assert name.endswith("wide.png") and reason == "more than 89,478,485 pixels"


def test_every_source_is_scanned(tmp_path):
    broken, whole = BROKEN["cut.jpg"][0], WHOLE["a.jpg"]
    shard = tmp_path / "x.tfrecord"
    with tf.io.TFRecordWriter(str(shard)) as writer:
        for encoded, label in ((whole, 0), (broken, 0), (whole, 1)):
            writer.write(serialised(image=[encoded], label=[label]))
    table = tmp_path / "data.csv"
    (tmp_path / "a.jpg").write_bytes(whole)
    table.write_text("path,labels\na.jpg,cat\nmissing.jpg,dog|cat\na.jpg,dog\n")
    names = {shard: f"{shard}#1", table: str(tmp_path / "missing.jpg")}
    for spec, name in names.items():
        usable, found = skip_broken(open_data(spec), tmp_path / "skipped.txt")
        assert usable.positions.tolist() == [0, 2] and usable.class_sizes.tolist() == [1, 1]
        assert [broken for _, broken, _ in found.broken] == [name]
        assert (tmp_path / "skipped.txt").read_text().startswith(name)
    assert not scan(from_arrays(noise(3, 5, 5, 4))).broken
