"""Asking for TensorRT tells the road."""

import pytest

from keras_vit import runtime
from keras_vit.export import export
from tests.small_vit import small_vit


@pytest.mark.parametrize("name", ["model.plan", "model.engine", "model.trt"])
def test_an_engine_is_not_opened(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(
        ValueError, match=f"{name} is no model.*--profile onnx.*trtexec.*TENSORRT.md"
    ):
        runtime.open(tmp_path / name)


def test_an_engine_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="trtexec"):
        export(small_vit(depth=1), "tensorrt", tmp_path / "model.plan")
    assert not list(tmp_path.iterdir())
