"""Each rule on an operator that breaks it and on one that does not."""

import numpy as np
import pytest

from keras_vit.export.lint import checks
from keras_vit.export.lint.graph import Operator, Tensor


def tensor(shape, dtype="INT8", data=None, zero_point=()):
    return Tensor("a/b/c", tuple(shape), dtype, data, zero_point)


def axes(*values):
    return tensor([len(values)], "INT32", np.array(values, "int32").view("uint8"))


def constant(values, zero_point):
    return tensor([1, 1, 2], "INT8", np.array(values, "int8").view("uint8"), (zero_point,))


def operator(name, inputs, outputs=None, flags=(), custom=False):
    return Operator(
        0, name, 1, custom, tuple(inputs), tuple(outputs or [tensor([1, 2])]), tuple(flags)
    )


GOOD = operator("MUL", [tensor([1, 3, 5]), tensor([1, 3, 5])])
BROKEN = {
    checks.open_shape: operator("ADD", [tensor([-1, 4])]),
    checks.custom: operator("FlexErf", [tensor([4])], custom=True),
    checks.no_8_bits: operator("ADD", [tensor([4], "INT16")]),
    checks.floats: operator("ADD", [tensor([4], "FLOAT32")]),
    checks.four_sides: operator("ADD", [tensor([2, 2, 2, 2])]),
    checks.five_sides: operator("ADD", [tensor([1, 2, 2, 2, 2])]),
    checks.product_of_rows: operator("FULLY_CONNECTED", [tensor([1, 5, 3])], [tensor([1, 5, 7])]),
    checks.mean_over_batch: operator("MEAN", [tensor([2, 4, 4, 8]), axes(0)]),
    checks.joined_constant: operator("CONCATENATION", [tensor([1, 4, 2]), constant([3, 4], 3)]),
    checks.long_softmax: operator("SOFTMAX", [tensor([1])], [tensor([1, 3, 197, 197])]),
    checks.slice_of_rank: operator("SLICE", [tensor([3, 5])]),
    checks.outer_product: operator("MUL", [tensor([1, 3, 1]), tensor([1, 1, 5])]),
    checks.padding_rank: operator("PAD", [tensor([1, 3, 5, 2, 2]), tensor([5, 2], "INT32")]),
    checks.cast_of_integers: operator("CAST", [tensor([1], "INT64")]),
    checks.transposed_product: operator("BATCH_MATMUL", [tensor([1, 3, 5, 7])], flags=["AdjY"]),
    checks.product_of_rank_3: operator("BATCH_MATMUL", [tensor([3, 5, 7])]),
}


@pytest.mark.parametrize("check", BROKEN, ids=lambda check: check.__name__)
def test_a_rule(check):
    assert check(GOOD) is None
    assert check(BROKEN[check])


def test_every_rule_is_tested():
    written = {
        value for name, value in vars(checks).items()
        if callable(value) and not name.startswith("_") and value.__module__ == checks.__name__
    }  # fmt: skip
    assert written == set(BROKEN)


@pytest.mark.parametrize(
    ("check", "found"),
    [
        (
            checks.product_of_rows,
            operator("FULLY_CONNECTED", [GOOD.inputs[0]], [tensor([1, 1, 7])]),
        ),
        (checks.mean_over_batch, operator("MEAN", [tensor([2, 4, 4, 8]), axes(1, 3)])),
        (checks.joined_constant, operator("CONCATENATION", [tensor([1]), constant([3, 3], 3)])),
        (checks.joined_constant, operator("CONCATENATION", [tensor([1])] * 3)),
        (checks.slice_of_rank, operator("STRIDED_SLICE", [tensor([1, 3, 5])])),
        (checks.outer_product, operator("MUL", [tensor([1, 3, 5]), tensor([1, 1, 5])])),
        (checks.outer_product, operator("MUL", [tensor([1, 3, 5]), tensor([5])])),
        (checks.transposed_product, operator("BATCH_MATMUL", [tensor([1, 3, 5, 7])])),
    ],
)
def test_what_is_just_allowed(check, found):
    assert check(found) is None


def test_reasons_say_what_was_found():
    assert "9 channels" in checks.mean_over_batch(operator("MEAN", [tensor([1, 4, 9]), axes(-1)]))
    shrunk = operator("STRIDED_SLICE", [tensor([1, 3, 5])], flags=["ShrinkAxisMask"])
    assert checks.slice_of_rank(shrunk) == "sets ShrinkAxisMask"
    many = operator("CONCATENATION", [tensor([1]), tensor([1]), constant([3, 3], 3)])
    assert "more than one" in checks.joined_constant(many)
