import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_vit.layers import STRIDES, MBConv, SqueezeExcite
from tests.layers.arrays import arrays, close, random_weights
from tests.layers.test_pooled_shortcut import pooled
from tests.oracles import vit_numpy

GELU = vit_numpy.ACTIVATIONS["gelu"]


def set_weights(layer, seed=3):
    """Random weights; variances are positive."""
    weights = random_weights(layer)
    for weight in layer.weights:
        if weight.name == "moving_variance":
            value = np.random.default_rng(seed).uniform(0.5, 1.5, weight.shape)
            weight.assign(value)
            path = weight.path.removeprefix(f"{layer.path}/")
            weights[path] = ops.convert_to_numpy(weight).astype("float64")
    return weights


def batch_norm(x, weights, name, epsilon):
    mean, variance, gamma, beta = (
        weights[f"{name}/{part}"] for part in ("moving_mean", "moving_variance", "gamma", "beta")
    )
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def depthwise(x, kernel, stride):
    """One pixel of padding on each side."""
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = (-(-(side - 2) // stride) for side in x.shape[1:3])
    return sum(
        x[:, i : i + stride * rows : stride, j : j + stride * columns : stride] * kernel[i, j, :, 0]
        for i in range(3)
        for j in range(3)
    )


def squeeze_excite(x, weights, path=""):
    hidden = vit_numpy.dense(x.mean(axis=(1, 2)), weights, f"{path}fc1")
    scales = vit_numpy.dense(hidden / (1 + np.exp(-hidden)), weights, f"{path}fc2")
    return x / (1 + np.exp(-scales))[:, None, None]


def mbconv(x, weights, halve, pool, strides, epsilon):
    y = batch_norm(x, weights, "pre_norm", epsilon)[:, :: strides[0], :: strides[0]]
    y = GELU(batch_norm(y @ weights["expand/kernel"][0, 0], weights, "norm1", epsilon))
    y = depthwise(y, weights["depthwise/kernel"], strides[1])
    y = GELU(batch_norm(y, weights, "norm2", epsilon))
    y = squeeze_excite(y, weights, "squeeze/")
    y = y @ weights["project/kernel"][0, 0] + weights["project/bias"]
    shortcut = pooled(x, pool) if halve else x
    if "shortcut/project/kernel" in weights:
        kernel = weights["shortcut/project/kernel"][0, 0]
        shortcut = shortcut @ kernel + weights["shortcut/project/bias"]
    return shortcut + y


def test_squeeze_excite_against_numpy():
    layer = SqueezeExcite(3)
    (x,) = arrays((2, 4, 5, 7))
    layer.build(x.shape)
    weights = random_weights(layer)
    assert close(layer(x), squeeze_excite(x, weights))


@pytest.mark.parametrize("stride_in", STRIDES)
@pytest.mark.parametrize(("width", "halve", "pool"), [(7, True, "max"), (5, True, "average")])
def test_a_block_that_halves_its_map(width, halve, pool, stride_in):
    layer = MBConv(width, halve, pool, stride_in, norm_epsilon=1e-3)
    (x,) = arrays((2, 4, 6, 5))
    layer.build(x.shape)
    weights = set_weights(layer)
    assert ("shortcut/project/kernel" in weights) == (width != 5)
    strides = {"depthwise": (1, 2), "expansion": (2, 1)}[stride_in]
    assert close(layer(x), mbconv(x, weights, True, pool, strides, 1e-3))


def test_a_block_that_keeps_its_map():
    layer = MBConv(5, squeeze=0.6)
    (x,) = arrays((2, 3, 5, 5))
    layer.build(x.shape)
    weights = set_weights(layer)
    assert weights["squeeze/fc1/kernel"].shape == (20, 3)
    assert close(layer(x), mbconv(x, weights, False, "average", (1, 1), 1e-5))


def step(layer, x):
    with tf.GradientTape() as tape:
        y = layer(x, training=True)
        loss = tf.reduce_sum(y**2)
    return y, tape.gradient(loss, [v.value for v in layer.trainable_variables])


@pytest.mark.parametrize("program", [lambda f: f, tf.function], ids=["eager", "graph"])
def test_computed_twice_it_is_the_same_and_the_statistics_move_once(program):
    (x,) = arrays((2, 4, 6, 5))
    layers = [MBConv(7, True, drop_path=0.3, remat=remat, name="block") for remat in (False, True)]
    results = []
    for layer in layers:
        layer.build(x.shape)
        before = set_weights(layer)
        layer.drop_path.seed_generator.state.assign([1, 2])
        results.append(program(lambda x, layer=layer: step(layer, x))(tf.constant(x)))
    (y, gradients), (again, gradients_again) = results
    assert close(again, y)
    for one, other in zip(gradients, gradients_again, strict=True):
        assert close(other, one)
    for one, other in zip(layers[0].variables, layers[1].variables, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, err_msg=one.path)
    assert not np.allclose(layers[1].norm1.moving_mean, before["norm1/moving_mean"])


def test_an_unknown_stride():
    with pytest.raises(ValueError, match=r"\['depthwise', 'expansion'\]. Received: 'pool'"):
        MBConv(5, True, stride_in="pool")
