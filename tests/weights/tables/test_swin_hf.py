"""transformers' own Swin files, as it saves them and as version 5 has them in memory."""

from pathlib import Path

import numpy as np
import pytest

from keras_vit import create_model
from tests.references.weights_cases import NATIVE, SWIN, SWINS

FIXTURES = Path(__file__).parents[2] / "fixtures" / "weights"
SIZES = {
    "patch_size": 2,
    "width": SWIN["embed_dim"],
    "depths": tuple(SWIN["depths"]),
    "num_heads": tuple(SWIN["num_heads"]),
    "mlp_ratio": SWIN["mlp_ratio"],
}
WHERE = [(name, size) for name, case in SWINS.items() for size in (NATIVE, *case["sizes"])]


@pytest.mark.parametrize(("name", "size"), WHERE)
def test_outputs_are_those_of_transformers(name, size):
    folder, format = FIXTURES / name, SWINS[name]["format"]
    path = folder / "model.safetensors" if format else folder
    expected = np.load(folder / "expected.npz")
    model = create_model(
        "swin_t", weights=path, weights_format=format, dtype="float64", image_size=size, **SIZES
    )
    assert model.config.window_size == (5, 5) and model.config.num_classes == 7
    key = f"{size[0]}x{size[1]}"
    theirs = expected[f"outputs_{key}"]
    ours = np.asarray(model(expected[f"images_{key}"]))
    # The file holds the weights in float32, exactly.
    assert np.abs(ours - theirs).max() <= 1e-7 * np.abs(theirs).max()
