"""The doctor names the tensor whose range is bad, and what it says of a good file holds."""

import dataclasses
import json

import numpy as np
import pytest

from keras_vit.export.doctor import BEST, Tensor, block, blocks, compare, overlay, worst
from keras_vit.export.profiles import PROFILES
from keras_vit.export.tflite import write_tflite
from tests.small_vit import digit_images, small_vit

FAR = 300.0


def planted(model):
    """The same function with a unit of one MLP that is always `FAR`, which the next bias undoes."""
    mlp = model.get_layer("block_1").mlp
    kernel, bias = (np.array(weight) for weight in mlp.fc1.get_weights())
    mlp.fc1.set_weights([kernel * (np.arange(kernel.shape[1]) != 5), bias + FAR * np.eye(48)[5]])
    rows, bias = (np.array(weight) for weight in mlp.fc2.get_weights())
    mlp.fc2.set_weights([rows, bias - FAR * rows[5]])
    return model


def files(model, folder):
    """(bytes in float32, bytes in int8) of the graph as it is, and images."""
    pixels = digit_images()[0].astype("float32")
    found = []
    for precision in ("float32", "full_int8"):
        plain = dataclasses.replace(PROFILES["npu"], precision=precision)
        write_tflite(model, folder / f"{precision}.tflite", plain, pixels[:100])
        found.append((folder / f"{precision}.tflite").read_bytes())
    return *found, pixels[1000:1008]


def test_a_bad_range_is_named(tmp_path):
    tensors = compare(*files(planted(small_vit()), tmp_path))
    named = worst(tensors, 2)
    assert all(one.block == "block_1" and "/mlp" in one.name for one in named), named
    assert named[0].own < 20
    others = [one.own for one in tensors if "block_1" not in one.name]
    assert np.median(others) > named[0].own + 10
    assert set(blocks(tensors)) >= {"block_0", "block_1"}


def test_files_of_different_graphs_are_refused(artefacts):
    pixels = artefacts.pixels[:1].astype("float32")
    content = artefacts["float32"].read_bytes()
    with pytest.raises(ValueError, match="`quantised` must be made of the same graph"):
        compare(content, content, pixels)


def test_blocks_keep_their_lowest_and_the_overlay_is_model_explorers():
    tensors = [Tensor("m/block_0_1/a", "block_0", 30.0, BEST), Tensor("b", "", 12.0, 9.0)]
    tensors.append(Tensor("m/block_0_1/c", "block_0", 25.0, 40.0))
    assert blocks(tensors) == {"block_0": 25.0, "": 12.0}
    assert worst(tensors, 1)[0].name == "b"
    found = json.loads(overlay(tensors))
    assert found["results"]["b"] == {"value": 12.0}
    assert all({"value", "bgColor"} == set(step) for step in found["thresholds"])
    assert block("logits") == ""
