"""The standard metadata; its bytes were held to MediaPipe's own reader when they were written."""

import struct
import zipfile

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from keras_vit.export.metadata import IDENTIFIER, NAME, image_classifier
from keras_vit.layers import Preprocessing


class Table:
    """A table of a flatbuffer, read field by field as the format's description says."""

    def __init__(self, data, place):
        self.data, self.place = data, place
        self.vtable = place - struct.unpack_from("<i", data, place)[0]

    @classmethod
    def root(cls, data):
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def at(self, field):
        if 4 + 2 * field >= struct.unpack_from("<H", self.data, self.vtable)[0]:
            return 0
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * field)[0]
        return offset and self.place + offset

    def follow(self, place):
        return place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, field):
        return Table(self.data, self.follow(self.at(field)))

    def tables(self, field):
        start = self.follow(self.at(field))
        count = struct.unpack_from("<I", self.data, start)[0]
        return [Table(self.data, self.follow(start + 4 + 4 * i)) for i in range(count)]

    def text(self, field):
        if not self.at(field):
            return None
        start = self.follow(self.at(field))
        size = struct.unpack_from("<I", self.data, start)[0]
        return self.data[start + 4 : start + 4 + size].decode()

    def number(self, field, form):
        return struct.unpack_from(f"<{form}", self.data, self.at(field))[0]

    def floats(self, field):
        start = self.follow(self.at(field))
        count = struct.unpack_from("<I", self.data, start)[0]
        return np.frombuffer(self.data, "float32", count, start + 4).tolist()


def written(**fields):
    preprocessing = Preprocessing(image_size=(32, 48), **fields)
    data = image_classifier("žvit", preprocessing, ("attention", "logits"), "Apache-2.0")
    assert data[4:8] == IDENTIFIER
    return Table.root(data)


def test_what_goes_in():
    root = written(class_names=["a", "b"])
    assert [root.text(field) for field in (0, 4, 5)] == ["žvit", "keras_vit", "Apache-2.0"]
    [graph] = root.tables(3)
    [image] = graph.tables(2)
    properties = image.table(3)
    assert properties.number(0, "B") == 2  # ImageProperties
    picture = properties.table(1)
    assert picture.number(0, "b") == 1  # RGB
    size = picture.table(1)
    assert (size.number(0, "I"), size.number(1, "I")) == (48, 32)
    [unit] = image.tables(4)
    assert unit.number(0, "B") == 1  # NormalizationOptions
    assert (unit.table(1).floats(0), unit.table(1).floats(1)) == ([0.0] * 3, [1.0] * 3)


def test_the_labels_belong_to_the_logits():
    [graph] = written(class_names=["a", "b"]).tables(3)
    attention, logits = graph.tables(3)
    assert (attention.text(0), logits.text(0)) == ("attention", "logits")
    assert not attention.at(6)
    [file] = logits.tables(6)
    assert file.text(0) == "labels.txt" and file.number(2, "b") == 2  # TENSOR_AXIS_LABELS


def test_grey_pictures_without_names():
    [graph] = written(mean=(0.5,), std=(0.5,)).tables(3)
    assert graph.tables(2)[0].table(3).table(1).number(0, "b") == 2  # GRAYSCALE
    assert not graph.tables(3)[1].at(6)


def test_every_exported_file_has_it(artefacts):
    model = schema.ModelT.InitFromPackedBuf(artefacts["npu"].read_bytes(), 0)
    data = {one.name.decode(): model.buffers[one.buffer].data for one in model.metadata}
    root = Table.root(data[NAME].tobytes())
    assert root.text(0) == artefacts.model.name
    [logits] = root.tables(3)[0].tables(3)
    with zipfile.ZipFile(artefacts["npu"]) as archive:
        assert logits.tables(6)[0].text(0) in archive.namelist()
