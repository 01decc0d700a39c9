import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.export import PROFILES, export
from keras_vit.export.audit import audit


def test_the_file_says_what_the_model_says(tuned, tmp_path):
    """As far as rounding goes: kernels round a few values in a hundred to the other side.

    What was measured: 2.5 steps of the output on average, the same best class on 96.8 %.
    """
    from ai_edge_litert.interpreter import Interpreter

    path = export(tuned.copy, "npu", tmp_path / "model.tflite")
    assert not [dtype for dtype in audit(path).dtypes if "FLOAT" in dtype]
    (output,) = Interpreter(str(path)).get_output_details()
    step, zero = output["quantization"]
    low, high = (float(end) for end in tuned.copy.integers.get_layer("head").result.range())
    assert step == pytest.approx((high - low) / 255, rel=1e-5)
    assert zero == round(-low / step) - 128
    logits = runtime.open(path).logits(tuned.pixels)
    assert np.abs(logits - tuned.after).mean() < 4 * step
    assert (logits.argmax(-1) == tuned.after.argmax(-1)).mean() >= 0.95


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "npu"])
def test_other_artefacts_of_it_are_refused(tuned, tmp_path, profile):
    path = tmp_path / f"model{PROFILES[profile].ending}"
    with pytest.raises(ValueError, match="the profile `npu`"):
        export(tuned.copy, profile, path)
