"""One set of pictures through every format."""

import numpy as np
import pytest

from keras_vit.data import open_data, write_digits
from keras_vit.export.parity import FORMATS, TFLITE, parity
from tests.small_vit import small_vit


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return open_data(str(write_digits(tmp_path_factory.mktemp("data") / "digits", per_class=4)))


@pytest.fixture(scope="module")
def rows(records, tmp_path_factory):
    names = ("saved_model", "saved_model_bytes", "float32", "cpu", "npu")
    found = parity(small_vit(depth=1), records, tmp_path_factory.mktemp("files"), names, limit=11)
    return {row.name: row for row in found}


def test_float_formats_say_the_same(rows):
    assert rows["keras"].top1 == 1 and rows["keras"].difference == 0
    for name in ("saved_model", "saved_model_bytes", "float32"):
        assert rows[name].reason is None and rows[name].top1 == 1
        assert rows[name].difference < 1e-3


def test_integers_differ_a_little(rows):
    for name in ("cpu", "npu"):
        assert rows["float32"].difference < rows[name].difference < 5
        assert rows[name].top1 >= 0.7 and rows[name].size_bytes < rows["float32"].size_bytes
        assert 0 <= rows[name].accuracy <= 1 and rows[name].milliseconds > 0


def test_what_is_refused_says_why(records, tmp_path):
    model = small_vit(depth=1)
    kernel, bias = model.get_layer("head").get_weights()
    model.get_layer("head").set_weights([kernel * np.nan, bias])
    _, refused = parity(model, records, tmp_path, ["cpu"], limit=2)
    assert "not finite" in refused.reason and refused.top1 is None


def test_an_unknown_format_lists_the_names(records, tmp_path):
    with pytest.raises(ValueError, match="`formats` must be one of.*'saved_model_bytes'"):
        parity(small_vit(depth=1), records, tmp_path, ["tflite"])


def test_every_profile_has_a_row():
    assert set(TFLITE) >= {"cpu", "mobile", "gpu", "web", "npu", "npu-16x8", "mcu", "float32"}
    assert {"onnx", "openvino", "browser", "saved_model_bytes", *TFLITE} <= set(FORMATS)


@pytest.mark.prove
def test_every_format_runs(records, tmp_path):
    names = [name for name in FORMATS if name != "mobile"]
    for row in parity(small_vit(depth=1), records, tmp_path, names, limit=8):
        assert row.reason is None, row
        assert row.top1 >= 0.7
