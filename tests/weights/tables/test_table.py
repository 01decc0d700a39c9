"""The parts that every naming is made of."""

import numpy as np
import pytest

from keras_vit.weights.archives import Archive
from keras_vit.weights.layouts import MATRIX, SAME
from keras_vit.weights.tables.table import (
    Entry,
    Table,
    entry,
    numbered,
    torch_linear,
    without_prefix,
)


def archive(*names):
    arrays = {name: np.full(2, index) for index, name in enumerate(names)}
    return Archive("file", {name: x.shape for name, x in arrays.items()}, arrays.__getitem__)


def test_the_first_option_that_is_whole_is_taken():
    options = ((("q", "k"), SAME), (("qk",), MATRIX), (("k",), SAME))
    line = Entry("block_0/attention", options)
    assert line.found_in(archive("q", "k", "qk")) == options[0]
    assert line.found_in(archive("k", "qk")) == options[1]
    assert line.found_in(archive("k")) == options[2]
    assert line.found_in(archive("q")) is None


def test_an_entry_with_one_option():
    assert entry("norm/gamma", SAME, "a", "b") == Entry("norm/gamma", ((("a", "b"), SAME),))


def test_a_torch_layer_has_a_weight_and_a_bias():
    kernel, bias = torch_linear("head", "classifier", MATRIX, SAME)
    assert kernel == entry("head/kernel", MATRIX, "classifier.weight")
    assert bias == entry("head/bias", SAME, "classifier.bias")


@pytest.mark.parametrize(
    "names, count",
    [(("block.0.a", "block.10.a", "block.2.b", "x.block.77.a"), 11), (("blocks",), 0), ((), 0)],
)
def test_blocks_are_counted_by_the_highest_number(names, count):
    assert numbered(archive(*names), r"block\.(\d+)\.") == count


def test_the_longest_prefix_that_is_there_comes_off():
    names = ("params/img/a", "params/txt/a", "opt/a")
    found = without_prefix(archive(*names), "params/", "params/img/", "target/")
    assert set(found.shapes) == {"a", "params/txt/a", "opt/a"}
    assert found.read("a")[0] == 0 and found.read("params/txt/a")[0] == 1
    found = without_prefix(archive("params/a", "opt/a"), "params/", "params/img/")
    assert set(found.shapes) == {"a", "opt/a"}
    same = archive("a")
    assert without_prefix(same, "params/") is same


def test_a_prefix_must_not_make_two_arrays_one():
    with pytest.raises(ValueError, match="holds 'a' twice"):
        without_prefix(archive("params/a", "a"), "params/")


def test_reasons_go_by_the_whole_name():
    table = Table(None, None, None, {r"opt/.*": "the optimizer", r"t": "the temperature"})
    assert table.reason_unused("opt/a/b") == "the optimizer"
    assert table.reason_unused("t") == "the temperature"
    assert table.reason_unused("text") is None
    assert table.reason_unused("my/opt/a") is None
    assert table.written(None, "name") == "name"
