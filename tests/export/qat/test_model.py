import subprocess
import sys

import numpy as np

from keras_vit import runtime
from keras_vit.export.agreement import agreement


def test_rounding_changes_little_of_a_model(tuned):
    reference = runtime.open(tuned.model).logits(tuned.pixels)
    assert 0.98 < agreement(reference, tuned.before).cosine < 1 - 1e-6


def test_weights_and_ranges_learn(tuned):
    assert tuned.losses[-1] < tuned.losses[0]
    spreads = [w for w in tuned.copy.trainable_weights if w.name == "spread"]
    assert len(spreads) == len({spread.path for spread in spreads}) == 52
    assert sum(bool(np.any(spread.numpy())) for spread in spreads) > 20


LOADED = """
import sys, numpy as np
from keras_vit import runtime
import keras_vit.export.qat  # Keras must know the class
np.save(sys.argv[3], runtime.open(sys.argv[1]).logits(np.load(sys.argv[2])))
"""


def test_it_is_kept_in_a_file_that_another_process_opens(tuned, tmp_path):
    tuned.copy.save(tmp_path / "model.keras")
    np.save(tmp_path / "pixels.npy", tuned.pixels[:5])
    paths = [str(tmp_path / name) for name in ("model.keras", "pixels.npy", "logits.npy")]
    subprocess.run([sys.executable, "-c", LOADED, *paths], check=True)
    np.testing.assert_allclose(np.load(paths[-1]), tuned.after[:5], atol=1e-4)
