"""Trains a small ViT under Keras on JAX, over each mesh it is told: `OUT.npz KIND DxM,DxM,...`.

`1x1` is one device without a distribution. As one of several processes it is told its number, how
many there are, and the first one's address, too.
"""

import sys
import zlib

import keras
import numpy as np

if len(sys.argv) > 4:
    # Before anything is computed.
    keras.distribution.initialize(sys.argv[6], int(sys.argv[5]), int(sys.argv[4]))

import jax
import tensorflow as tf
from jax.experimental.multihost_utils import process_allgather

from keras_vit.models import ViT, ViTConfig
from keras_vit.step import exact
from keras_vit.training import layout_map
from keras_vit.training.optimizers import adamw

SIZES = {"image_size": 10, "patch_size": 5, "channels": 1, "width": 20}
KINDS = {
    "mlp": {"depth": 2, "num_heads": 4, "mlp_dim": 28, "num_classes": 3},
    "swiglu": {
        "depth": 1, "num_heads": 4, "mlp_dim": 12, "num_classes": 3, "mlp": "swiglu",
        "pooling": "map", "layer_scale": 0.5,
    },
}  # fmt: skip
BATCH, STEPS = 8, 5


def data():
    rng = np.random.default_rng(0)
    images = rng.normal(size=(BATCH * STEPS, 10, 10, 1)).astype("float32")
    labels = rng.integers(0, 3, BATCH * STEPS)
    # Several processes take nothing else.
    return tf.data.Dataset.from_tensor_slices((images, labels)).batch(BATCH, drop_remainder=True)


def distribution(config, copies, ways):
    if copies * ways == 1:
        return None
    mesh = keras.distribution.DeviceMesh((copies, ways), ("batch", "model"))
    if ways == 1:
        return keras.distribution.DataParallel(devices=keras.distribution.list_devices())
    return keras.distribution.ModelParallel(
        layout_map=layout_map(config, mesh), batch_dim_name="batch"
    )


def train(kind, copies, ways):
    """Returns name -> array: the weights, the losses, and how the weights are spread."""
    config = ViTConfig(**SIZES, **KINDS[kind])
    spread = distribution(config, copies, ways)
    keras.distribution.set_distribution(spread)
    model = ViT(config)
    for weight in model.trainable_weights:
        rng = np.random.default_rng(zlib.crc32(weight.path.encode()))
        weight.assign(rng.normal(scale=0.2, size=weight.shape).astype("float32"))
    exact(model, clip_norm=0.5)
    optimizer = adamw(model, learning_rate=0.01, weight_decay=0.1)
    # Attention's key bias has no gradient but rounding errors, which a small epsilon would enlarge.
    optimizer.epsilon = 1e-3
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(data(), epochs=2, verbose=0)
    found = {"losses": np.array(history.history["loss"])}
    moments = {id(v): optimizer._momentums[i] for i, v in enumerate(model.trainable_variables)}
    for weight in model.trainable_weights:
        found[f"weight:{weight.path}"] = whole(weight.value)
        for what, array in (("layout", weight), ("moment", moments[id(weight)])):
            shape = array.value.sharding.shard_shape(array.value.shape)
            found[f"{what}:{weight.path}"] = np.array(shape)
    if ways > 1:
        found["rules"] = np.array(list(layout_map(model, spread.device_mesh)))
    return found


def whole(value):
    return process_allgather(value, tiled=True) if jax.process_count() > 1 else np.asarray(value)


if __name__ == "__main__":
    out, kind, meshes = sys.argv[1:4]
    found = {}
    for mesh in meshes.split(","):
        results = train(kind, *map(int, mesh.split("x")))
        found.update({f"{mesh}:{name}": array for name, array in results.items()})
    if jax.process_index() == 0:
        np.savez(out, **found)
