"""What is read from a file, and the layer that a tensor's name tells of."""

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter

from keras_vit.export.audit import audit
from keras_vit.export.lint.graph import block_of, read_graph


def test_the_runtime_tells_the_same(artefacts):
    graph, interpreter = read_graph(artefacts["npu"]), Interpreter(str(artefacts["npu"]))
    for ours, theirs in (
        (graph.inputs, interpreter.get_input_details()),
        (graph.outputs, interpreter.get_output_details()),
    ):
        assert [tensor.shape for tensor in ours] == [tuple(one["shape"]) for one in theirs]
        assert [tensor.dtype for tensor in ours] == [
            one["dtype"].__name__.upper() for one in theirs
        ]
    counted = audit(artefacts["npu"]).operators
    assert sum(counted.values()) == len(graph.operators)
    assert {operator.name for operator in graph.operators} == set(counted)


def test_constants_and_flags(artefacts):
    operators = {}
    for operator in read_graph(artefacts["npu"]).operators:
        operators.setdefault(operator.name, []).append(operator)
    mean = operators["MEAN"][0]
    assert mean.inputs[1].integers() == [1] and len(mean.computed) == 1
    dense = operators["FULLY_CONNECTED"][0]
    # Queries, keys and values have a product each.
    assert dense.inputs[1].constant and dense.inputs[1].size_bytes == 24 * 24
    assert {flag for one in operators["BATCH_MATMUL"] for flag in one.flags} <= {"AdjX", "AdjY"}


def test_every_operator_of_a_block_knows_it(artefacts):
    blocks = {operator.block for operator in read_graph(artefacts["npu"]).operators}
    for block in (0, 1):
        for part in ("norm1", "attention", "norm2", "mlp"):
            assert f"block_{block}/{part}" in blocks
    assert {"patches/projection", "norm"} <= blocks


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("vit/block_1/norm1/mul", "block_1/norm1"),
        ("vit_1/block_1_1/norm1_1/mul", "block_1/norm1"),
        ("coatnet_0/stage_1/block_0/add", "stage_1/block_0"),
        (";vit/head/BiasAdd;", "head"),
        ("coatnet_1/coatnet_1/block_1_1/norm1_1/Mean", "block_1/norm1"),
        ("StatefulPartitionedCall:0", ""),
        ("", ""),
    ],
)
def test_the_block_of_a_name(name, block):
    assert block_of(name) == block


def test_another_file_is_refused(tmp_path):
    (tmp_path / "m.tflite").write_bytes(np.arange(99, dtype="uint8").tobytes())
    with pytest.raises(ValueError, match="is no TFLite file"):
        read_graph(tmp_path / "m.tflite")
