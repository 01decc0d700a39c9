"""What is inside a `.tflite` file: operators, tensor types, and what must not be there."""

import dataclasses
from collections import Counter
from pathlib import Path

from keras_vit.layers.extras import require

# Left in a graph whose weights were not frozen: the runtime then computes with empty memory.
UNFROZEN = ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE")


@dataclasses.dataclass(frozen=True)
class Audit:
    """The contents of a `.tflite` file.

    Args:
        operators: `Counter` of operator names, such as `"CONV_2D"`.
        custom: names of operators that stock runtimes lack, such as `"FlexErf"`.
        dtypes: `Counter` of tensor types, such as `"INT8"`.
        floats: names of the float tensors that are no input or output of the model.
        dynamic: names of the tensors whose shape is not fixed.
    """

    operators: Counter
    custom: tuple
    dtypes: Counter
    floats: tuple
    dynamic: tuple


def audit(path):
    """Reads a `.tflite` file without running it.

    Args:
        path: the file.

    Returns:
        An `Audit` over all its subgraphs.

    Raises:
        ImportError: if `ai_edge_litert` is not installed.
    """
    schema = require("ai_edge_litert.schema_py_generated", extra="edge")
    model = schema.Model.GetRootAs(Path(path).read_bytes(), 0)
    graphs = [model.Subgraphs(index) for index in range(model.SubgraphsLength())]
    codes = [_operator(model.OperatorCodes(i), schema) for i in range(model.OperatorCodesLength())]
    used = [
        codes[graph.Operators(i).OpcodeIndex()]
        for graph in graphs
        for i in range(graph.OperatorsLength())
    ]
    types = {value: name for name, value in vars(schema.TensorType).items() if name.isupper()}
    tensors = [found for graph in graphs for found in _tensors(graph, types)]
    return Audit(
        operators=Counter(name for name, _ in used),
        custom=tuple(sorted({custom for _, custom in used if custom})),
        dtypes=Counter(dtype for _, dtype, _, _ in tensors),
        floats=tuple(n for n, dtype, outer, _ in tensors if "FLOAT" in dtype and not outer),
        dynamic=tuple(name for name, _, _, dynamic in tensors if dynamic),
    )


def complaints(found, profile):
    """Returns what forbids an artefact, a list of sentence parts.

    Args:
        found: an `Audit`.
        profile: the `Profile` whose rules it must keep.
    """
    wrong = []
    if found.custom:
        wrong.append(f"operators that stock runtimes lack ({', '.join(found.custom)})")
    unfrozen = [name for name in UNFROZEN if name in found.operators]
    if unfrozen:
        wrong.append(f"weights that are not in the file ({', '.join(unfrozen)})")
    if profile.static and found.dynamic:
        wrong.append(f"tensors without a fixed shape ({_first(found.dynamic)})")
    floats = [*found.floats] or [name for name in found.dtypes if "FLOAT" in name]
    if profile.integer and floats:
        wrong.append(f"float tensors in an integer file ({_first(floats)})")
    foreign = sorted(set(found.operators) - (profile.allowed or set(found.operators)))
    if foreign:
        wrong.append(f"operators that `{profile.name}` does not take ({', '.join(foreign)})")
    return wrong


def _operator(code, schema):
    """(name, name of a custom operator or None) of an operator code."""
    # Codes below 127 stand in the old, one-byte field as well; the larger of the two is right.
    number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if name.isupper()}
    custom = code.CustomCode()
    return names.get(number, str(number)), custom.decode() if custom else None


def _tensors(graph, types):
    """(name, type, whether it is an input or output, whether its shape is open) of each tensor."""
    outer = {graph.Inputs(i) for i in range(graph.InputsLength())}
    outer |= {graph.Outputs(i) for i in range(graph.OutputsLength())}
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        open_sides = [
            tensor.ShapeSignature(side)
            for side in range(tensor.ShapeSignatureLength())
            if tensor.ShapeSignature(side) < 0
        ]
        yield tensor.Name().decode(), types[tensor.Type()], index in outer, bool(open_sides)


def _first(names, count=3):
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more
