"""Each engine gives the logits that this package's own runtime gives."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    from keras_vit.export import export
    from tests.small_vit import small_vit

    return export(small_vit(depth=1), "float32", tmp_path_factory.mktemp("file") / "m.tflite")


def reference(file):
    from keras_vit import runtime
    from keras_vit.cli.rivals.with_file import drawn

    return runtime.open(file).logits(drawn((1, 16, 16, 1), "float32"))


def test_litert(file):
    from keras_vit.cli.rivals.with_file import CALLS

    answer = CALLS["LiteRT"]({"path": str(file), "threads": 1})()
    np.testing.assert_array_equal(answer["logits"], reference(file))


@pytest.mark.prove
def test_openvino(file):
    from keras_vit.cli.rivals.with_file import CALLS

    answer = CALLS["OpenVINO"]({"path": str(file), "threads": 1})()
    np.testing.assert_allclose(answer[0], reference(file), rtol=1e-4, atol=1e-4)
