"""Blocks that are computed twice against blocks that keep their values, with dropout."""

import os
import re
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.layers import TransformerBlock
from keras_vit.models import ViT, ViTConfig
from tests.contract.cases import SMALL
from tests.layers.arrays import arrays, random_weights

DROPOUTS = {"dropout": 0.3, "attention_dropout": 0.2, "drop_path": 0.3}


def trained_twice(remat, program, dtype=None):
    """Outputs and gradients of two steps, and the states of the seeds after."""
    keras.utils.set_random_seed(1)
    block = TransformerBlock(2, 11, layer_scale=0.5, remat=remat, dtype=dtype, **DROPOUTS)
    (x,) = arrays((3, 5, 14))
    block.build(x.shape)
    random_weights(block)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = block(x, training=True)
            loss = tf.reduce_sum(tf.cast(y, "float32") ** 2)
        return [y, *tape.gradient(loss, [x, *(v.value for v in block.trainable_variables)])]

    step = program(step)
    values = [value for _ in range(2) for value in step(tf.constant(x, "float32"))]
    return values, [seed.numpy() for seed in block.non_trainable_variables]


PROGRAMS = {
    "eager": lambda step: step,
    "graph": tf.function,
    "compiled": lambda step: tf.function(step, jit_compile=True),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_gradients(program):
    values, seeds = trained_twice(False, PROGRAMS[program])
    again, seeds_again = trained_twice(True, PROGRAMS[program])
    assert len(seeds) == 4
    np.testing.assert_array_equal(seeds, seeds_again)
    same(values, again)


def same(values, again):
    """Up to the order of the sums."""
    for value, other in zip(values, again, strict=True):
        value, other = np.asarray(tf.cast(value, "float32")), np.asarray(tf.cast(other, "float32"))
        assert np.abs(value - other).max() <= 1e-5 * np.abs(value).max()


def test_half_precision():
    values, _ = trained_twice(False, tf.function, "mixed_bfloat16")
    again, _ = trained_twice(True, tf.function, "mixed_bfloat16")
    same(values, again)


def test_the_model_hands_it_to_its_blocks():
    model = ViT(ViTConfig(**SMALL, remat=True))
    assert model.get_layer("block_0").remat
    config = model.get_config()
    del config["config"]["remat"]  # a file from before there was such a field
    assert not ViT.from_config(config).get_layer("block_0").remat


MEMORY = """
import keras, tensorflow as tf
from keras_vit.layers import TransformerBlock
for remat in (False, True):
    inputs = keras.Input((61, 16))
    x = inputs
    for _ in range(12):
        x = TransformerBlock(2, 64, dropout=0.1, remat=remat)(x)
    model = keras.Model(inputs, x)

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x, training=True))
        return tape.gradient(loss, [v.value for v in model.trainable_variables])

    step(tf.ones((16, 61, 16)))
"""


@pytest.mark.prove
def test_a_quarter_of_the_memory_at_most(tmp_path):
    """XLA's own account of the temporary memory of a step."""
    flags = f"--xla_dump_to={tmp_path} --xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": flags}
    subprocess.run([sys.executable, "-c", MEMORY], env=environment, check=True)
    plain, remat = (
        max(int(size) for size in re.findall(r"size (\d+), preallocated-temp", path.read_text()))
        for path in sorted(tmp_path.glob("*step*buffer-assignment.txt"))
    )
    assert remat < plain / 4
