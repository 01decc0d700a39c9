"""How much memory loading takes."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.oracles import jax_vit_numpy as oracle

MEASURE = """
    import os, resource, sys
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    import numpy as np
    from keras_vit import create_model

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    # What the libraries need for themselves: everything once, small.
    small = create_model("vit_ti16", image_size=32)
    before = peak()
    model = create_model("vit_b16", weights=sys.argv[1], weights_format="jax")
    size = sum(int(np.prod(variable.shape)) * 4 for variable in model.weights)
    first = float(model.get_layer("block_11").mlp.fc2.kernel[0, 0])
    print(size, peak() - before, first)
"""


def test_loading_takes_one_copy_beside_the_model(tmp_path):
    """ViT-B/16, 346 MB: the model, its weights staged, and little more."""
    path, generator = tmp_path / "b16.npz", np.random.default_rng(1)
    arrays = {}
    for name, shape in base_shapes().items():
        arrays[name] = generator.standard_normal(shape, "float32")
    first = arrays["Transformer/encoderblock_11/MlpBlock_3/Dense_1/kernel"][0, 0]
    np.savez(path, **arrays)
    del arrays
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURE), path],
        check=True,
        capture_output=True,
        text=True,
    )
    size, growth, found = map(float, run.stdout.split()[-3:])
    assert size == 4 * 86_567_656
    assert found == pytest.approx(float(first), rel=1e-6)
    assert growth < 2.25 * size, f"{growth / size:.2f} times the model's size"


def base_shapes():
    """The published B/16 with 1000 classes."""
    small = {24: 768, 3: 12, 8: 64, 43: 3072, 7: 1000, 4: 16, 26: 197}

    def scaled(name, shape):
        channels = name == "embedding/kernel"
        return tuple(3 if channels and i == 2 else small.get(n, n) for i, n in enumerate(shape))

    return {name: scaled(name, shape) for name, shape in oracle.shapes(depth=12).items()}
