import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vit.layers import Patches
from keras_vit.models import MAE, MAEConfig
from keras_vit.objectives import MaskedPixelLoss, painted_images
from keras_vit.step.kinds import kind_of

HERE = Path(__file__).parent
SMALL = {"image_size": (4, 6), "patch_size": 2, "channels": 3, "width": 8, "depth": 1}
SMALL |= {"num_heads": 2, "mlp_dim": 12, "decoder_width": 4, "decoder_depth": 1}
SMALL |= {"decoder_num_heads": 1, "decoder_mlp_dim": 8, "mask_ratio": 0.5}


def outputs(**more):
    random = np.random.default_rng(3)
    shapes = {"painted": (5, 6, 12), "patches": (5, 6, 12)}
    found = {name: random.normal(size=shape) for name, shape in shapes.items()}
    return {**found, "mask": random.integers(0, 2, (5, 6)).astype("float64"), **more}


def test_golden_values():
    image = np.arange(48, dtype="float32").reshape(1, 4, 4, 3)
    patches = np.array(Patches(2)(image))
    assert patches[0, 0].tolist() == [0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17]
    given = {"painted": np.zeros_like(patches), "patches": patches}
    mask = np.array([[0, 1, 1, 0]], "float32")
    assert float(MaskedPixelLoss()(None, {**given, "mask": mask})) == pytest.approx(0.916667)
    given["painted"][..., 0] = -1.304538  # the first value of a normalised patch
    left = 11 / 12 - 1.304538**2 / 12
    loss = MaskedPixelLoss()(None, {**given, "mask": mask})
    assert float(loss) == pytest.approx(left, abs=1e-6)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("weights", [None, np.array([0.5, 0, 2, 1, 1])])
def test_against_numpy(normalise, weights):
    given = outputs()
    target = given["patches"]
    if normalise:
        variance = target.var(axis=-1, ddof=1, keepdims=True)
        target = (target - target.mean(axis=-1, keepdims=True)) / np.sqrt(variance + 1e-6)
    errors = np.square(given["painted"] - target).mean(axis=-1)
    mask = given["mask"] * (1 if weights is None else weights[:, None])
    loss = MaskedPixelLoss(normalise)(None, given, weights)
    assert float(loss) == pytest.approx((errors * mask).sum() / mask.sum(), rel=1e-6)


def test_kind_and_config():
    loss = MaskedPixelLoss(normalise=False)
    assert kind_of(loss) == "ratio"
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(loss))
    assert not again.normalise


def test_painted_images_are_the_picture_where_the_painting_is_right():
    config = MAEConfig(**SMALL)
    images = np.random.default_rng(1).normal(size=(2, 4, 6, 3)).astype("float32")
    given = dict(MAE(config)(images))
    for normalised in (True, False):
        target = np.array(given["patches"], "float64")
        if normalised:
            deviation = np.sqrt(target.var(axis=-1, ddof=1, keepdims=True) + 1e-6)
            target = (target - target.mean(axis=-1, keepdims=True)) / deviation
        right = {**given, "painted": target.astype("float32")}
        seen, painted = painted_images(right, config, normalised)
        np.testing.assert_allclose(painted, images, atol=1e-4)
        blank = np.array(Patches(2)(np.array(seen))) == 0
        np.testing.assert_array_equal(blank.all(axis=-1), np.array(given["mask"]) == 1)


@pytest.mark.parametrize("program", ["plain", pytest.param("jit", marks=pytest.mark.prove)])
def test_two_replicas_train_as_one_device(program):
    """The masking is drawn on each replica for itself, so a chosen one is trained with here."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_backend_optimization_level=0"}
    environment["PYTHONPATH"] = str(HERE.parents[1])
    command = [sys.executable, HERE / "masked_replicas.py", program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    assert json.loads(run.stdout.splitlines()[-1]) < 1e-12
