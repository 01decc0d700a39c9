"""TFLite's own metadata: what other programs read about a `.tflite` before they run it.

The flatbuffer schema is metadata_schema.fbs of tflite-support (version 1.5). Its package is no
longer kept, and MediaPipe's writer comes with all of MediaPipe, so the few tables that an image
classifier needs are written here.
"""

from pathlib import Path

import numpy as np

from keras_vit.export.flatbuffer_entry import with_metadata
from keras_vit.export.serving.card import takes
from keras_vit.layers.extras import require
from keras_vit.runtime.embedded import LABELS
from keras_vit.version import __version__

NAME, IDENTIFIER = "TFLITE_METADATA", b"M001"
# Numbers of the schema.
RGB, GREY = 1, 2
IMAGE_PROPERTIES, FEATURE_PROPERTIES = 2, 1
NORMALIZATION = 1
VALUE_LABELS, AXIS_LABELS = 3, 2


def describe(path, model, licence=None):
    """Adds the standard metadata to a `.tflite` file, in place.

    It names the model, its version (that of keras_vit), the licence, the image that goes in
    (raw pixels: their normalisation is mean 0 and deviation 1), and `labels.txt`, which `embed`
    appends.

    Args:
        path: the file as the converter wrote it.
        model: the Keras model, with a `preprocessing`.
        licence: of the weights, such as `"Apache-2.0"`; by default the model's `licence`, where
            it has one.
    """
    path = Path(path)
    licence = licence or getattr(model, "licence", None)
    outputs = _output_names(path)
    metadata = image_classifier(model.name, model.preprocessing, outputs, licence)
    path.write_bytes(with_metadata(path.read_bytes(), NAME, metadata))


def image_classifier(name, preprocessing, outputs=("logits",), licence=None):
    """Returns the metadata as bytes.

    Args:
        name: the model's name.
        preprocessing: its `Preprocessing`.
        outputs: names of the outputs, in the file's order.
        licence: text or None.
    """
    builder = require("flatbuffers", extra="edge").Builder(1024)
    tables = _Tables(builder)
    height, width = preprocessing.image_size
    size = tables.table({0: ("uint32", width), 1: ("uint32", height)})
    colours = RGB if preprocessing.channels == 3 else GREY
    image = tables.table({0: ("int8", colours), 1: ("offset", size)})
    content = tables.table({0: ("uint8", IMAGE_PROPERTIES), 1: ("offset", image)})
    zeros, ones = (tables.floats([value] * preprocessing.channels) for value in (0, 1))
    options = tables.table({0: ("offset", zeros), 1: ("offset", ones)})
    unit = tables.table({0: ("uint8", NORMALIZATION), 1: ("offset", options)})
    low, high = (tables.floats([value] * preprocessing.channels) for value in (0, 255))
    given = tables.table(
        {
            0: ("offset", tables.text("images")),
            1: ("offset", tables.text("Raw pixels, 0 to 255, rows first.")),
            3: ("offset", content),
            4: ("offset", tables.vector([unit])),
            5: ("offset", tables.table({0: ("offset", high), 1: ("offset", low)})),
        }
    )
    results = [_output(tables, one, preprocessing) for one in outputs]
    given, results = tables.vector([given]), tables.vector(results)
    graph = tables.table({2: ("offset", given), 3: ("offset", results)})
    texts = {
        0: name,
        1: f"A classifier of {takes(preprocessing)}: "
        f"{len(preprocessing.class_names) or 'some'} classes.",
        2: __version__,
        4: "keras_vit",
        5: licence,
        7: "1.0.0",  # the oldest reader that knows all of these tables
    }
    fields = {key: ("offset", tables.text(text)) for key, text in texts.items() if text}
    root = tables.table({**fields, 3: ("offset", tables.vector([graph]))})
    builder.Finish(root, file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def _output(tables, name, preprocessing):
    """TensorMetadata of an output; the logits have the names of the classes."""
    content = tables.table({0: ("uint8", FEATURE_PROPERTIES), 1: ("offset", tables.table({}))})
    fields = {0: ("offset", tables.text(name)), 3: ("offset", content)}
    if name == "logits" and preprocessing.class_names:
        file = tables.table({0: ("offset", tables.text(LABELS)), 2: ("int8", AXIS_LABELS)})
        fields[6] = ("offset", tables.vector([file]))
    return tables.table(fields)


def _output_names(path):
    """The outputs' names in the order of the file's own list of them."""
    schema = require("ai_edge_litert.schema_py_generated", extra="edge")
    model = schema.Model.GetRootAs(path.read_bytes(), 0)
    graph, signature = model.Subgraphs(0), model.SignatureDefs(0)
    names = {}
    for index in range(signature.OutputsLength()):
        output = signature.Outputs(index)
        names[output.TensorIndex()] = output.Name().decode()
    return [names[graph.Outputs(index)] for index in range(graph.OutputsLength())]


class _Tables:
    """Writes the parts of a flatbuffer; what a part points to must be written before it."""

    def __init__(self, builder):
        self.builder = builder

    def text(self, value):
        return self.builder.CreateString(value)

    def floats(self, values):
        return self.builder.CreateNumpyVector(np.array(values, "float32"))

    def vector(self, offsets):
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def table(self, fields):
        """Args: fields: dict of the field's number to (kind, value)."""
        slots = {
            "offset": self.builder.PrependUOffsetTRelativeSlot,
            "uint8": self.builder.PrependUint8Slot,
            "int8": self.builder.PrependInt8Slot,
            "uint32": self.builder.PrependUint32Slot,
        }
        self.builder.StartObject(max(fields, default=-1) + 1)
        for number, (kind, value) in fields.items():
            slots[kind](number, value, 0)
        return self.builder.EndObject()
