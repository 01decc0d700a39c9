"""The operators and tensors of a `.tflite` file, read without running it."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np

from keras_vit.layers.extras import require

BITS = {
    "BOOL": 8, "FLOAT16": 16, "FLOAT32": 32, "FLOAT64": 64, "INT2": 2, "INT4": 4, "INT8": 8,
    "INT16": 16, "INT32": 32, "INT64": 64, "UINT8": 8, "UINT16": 16, "UINT32": 32, "UINT64": 64,
}  # fmt: skip
# The option flags that rules ask for.
FLAGS = {
    "BatchMatMulOptions": ("AdjX", "AdjY"),
    "StridedSliceOptions": ("EllipsisMask", "NewAxisMask", "ShrinkAxisMask"),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor.

    Args:
        name: its name in the file.
        shape: tuple of sizes; -1 for one that is not fixed.
        dtype: such as `"INT8"`.
        data: bytes of a constant as a uint8 array; None for what is computed.
        zero_point: the number that stands for 0, one a channel, or empty.
    """

    name: str
    shape: tuple
    dtype: str
    data: np.ndarray | None
    zero_point: tuple

    @property
    def constant(self):
        """Whether its values are in the file."""
        return self.data is not None

    @property
    def size_bytes(self):
        """Bytes that it takes in memory, at the smallest size of what is not fixed."""
        return math.prod(abs(side) for side in self.shape) * BITS.get(self.dtype, 0) // 8

    def integers(self):
        """Returns the values of an int32 constant, such as axes, as a list."""
        return np.frombuffer(self.data.tobytes(), "int32").tolist()


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
    """An operator.

    Args:
        position: where it stands in the order of execution, from 0.
        name: such as `"CONV_2D"`; of a custom operator its own name.
        version: of the operator's definition.
        custom: whether stock runtimes lack it.
        inputs: tuple of `Tensor`s.
        outputs: tuple of `Tensor`s.
        flags: names of the options that are set, of those in `FLAGS`.
    """

    position: int
    name: str
    version: int
    custom: bool
    inputs: tuple
    outputs: tuple
    flags: tuple = ()

    @property
    def computed(self):
        """Its inputs that are no constants."""
        return [tensor for tensor in self.inputs if not tensor.constant]

    @property
    def block(self):
        """The layer that it belongs to, such as `"block_3/attention"`."""
        return block_of(self.outputs[0].name) if self.outputs else ""


@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """A file's first subgraph.

    Args:
        operators: list of `Operator`s in the order of execution.
        inputs: list of `Tensor`s.
        outputs: list of `Tensor`s.
    """

    operators: list
    inputs: list
    outputs: list


def block_of(name):
    """Returns the layer that a tensor's name tells of, two levels deep.

    The converter joins the names of what it fuses with `;`, and TensorFlow adds `_1` to every
    part when a model is called anew.

    Example:

    >>> block_of("vit_1/block_0_1/mlp_1/fc1_1/MatMul;vit_1/block_0_1/mlp_1/fc1_1/BiasAdd")
    'block_0/mlp'
    """
    first = next((part for part in name.split(";") if part), "")
    root, *layers = first.split("/")[:-1] or [""]
    again = re.search(r"_([1-9]\d*)$", root)
    if again:
        layers = [layer.removesuffix(again[0]) for layer in layers]
        root = root.removesuffix(again[0])
    if layers[:1] == [root]:  # a model inside its rewritten form
        layers = layers[1:]
    return "/".join(layers[:2])


def read_graph(path):
    """Reads a file.

    Args:
        path: a `.tflite` file.

    Returns:
        The `Graph` of its first subgraph, which is all there is in an exported model.

    Raises:
        ValueError: if the file is no TFLite file.
        ImportError: if `ai_edge_litert` is not installed.
    """
    schema = require("ai_edge_litert.schema_py_generated", extra="edge")
    content = Path(path).read_bytes()
    if content[4:8] != b"TFL3":
        raise ValueError(f"{path} is no TFLite file.")
    model = schema.Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    types = _names(schema.TensorType)
    tensors = [_tensor(model, graph.Tensors(i), types) for i in range(graph.TensorsLength())]
    names = _names(schema.BuiltinOperator)
    codes = [_code(model.OperatorCodes(i), names) for i in range(model.OperatorCodesLength())]
    operators = []
    for position in range(graph.OperatorsLength()):
        found = graph.Operators(position)
        # -1 stands for an input that was left out.
        inputs = tuple(tensors[i] for i in _indices(found, "Inputs") if i >= 0)
        outputs = tuple(tensors[i] for i in _indices(found, "Outputs"))
        code = codes[found.OpcodeIndex()]
        operators.append(Operator(position, *code, inputs, outputs, _flags(found, schema)))
    return Graph(
        operators,
        [tensors[i] for i in _indices(graph, "Inputs")],
        [tensors[i] for i in _indices(graph, "Outputs")],
    )


def _names(kind):
    return {value: name for name, value in vars(kind).items() if name.isupper()}


def _indices(owner, field):
    return [getattr(owner, field)(i) for i in range(getattr(owner, f"{field}Length")())]


def _tensor(model, found, types):
    quantised = found.Quantization()
    zero_point = () if quantised is None else tuple(_indices(quantised, "ZeroPoint"))
    open_sides = _indices(found, "ShapeSignature")
    buffer = model.Buffers(found.Buffer())
    return Tensor(
        found.Name().decode(),
        tuple(open_sides or _indices(found, "Shape")),
        types[found.Type()],
        buffer.DataAsNumpy() if buffer.DataLength() else None,
        zero_point,
    )


def _code(code, names):
    """(name, version, whether it is custom)."""
    # Codes below 127 stand in the old, one-byte field as well; the larger of the two is right.
    number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    custom = code.CustomCode()
    return (
        custom.decode() if custom else names.get(number, str(number)),
        code.Version(),
        bool(custom),
    )


def _flags(found, schema):
    for kind, flags in FLAGS.items():
        if found.BuiltinOptionsType() == getattr(schema.BuiltinOptions, kind):
            options = getattr(schema, kind)()
            table = found.BuiltinOptions()
            options.Init(table.Bytes, table.Pos)
            return tuple(flag for flag in flags if getattr(options, flag)())
    return ()
