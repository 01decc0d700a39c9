"""Lowers training steps under Keras on JAX and writes what is in them as JSON: `OUT.json`."""

import json
import math
import re
import sys

import jax

from keras_vit.models import NAMES, TimeSformer, TimeSformerConfig, ViT, ViTConfig
from keras_vit.models.flops import training_flops
from keras_vit.training.tpu.figures import collectives, gathers_of
from keras_vit.training.tpu.jax_step import training_step
from keras_vit.training.tpu.lint import lint
from tests.training.tpu.narrow import narrow

BATCH = 4
SMALL = {
    "image_size": 16, "patch_size": 8, "width": 32, "depth": 2, "num_heads": 4, "mlp_dim": 48,
    "num_classes": 7,
}  # fmt: skip
KINDS = {
    "mlp": (ViT, {}),
    "swiglu": (ViT, {"mlp": "swiglu"}),
    "map": (ViT, {"pooling": "map"}),
    "video": (TimeSformer, {"frames": 2}),
}
DOT = re.compile(
    r"dot_general .*?contracting_dims = \[([\d, ]*)\].*: \(tensor<([\dx]+)x\w+>, .*\)"
    r" -> tensor<([\dx]+)x\w+>"
)


def product_flops(text):
    """The operations of all products in StableHLO."""
    total = 0
    for axes, left, result in DOT.findall(text):
        sides = list(map(int, left.split("x")))
        contracted = math.prod(sides[int(axis)] for axis in axes.split(",") if axis)
        total += 2 * contracted * math.prod(map(int, result.split("x")))
    return total


def published(name):
    """A published variant at its resolution, with one of its blocks, which are all alike.

    The relatives are narrow, too, and their products are not counted: convolutions are none.
    """
    model_class, fields = NAMES[name]
    plain = model_class.config_class in (ViTConfig, TimeSformerConfig)
    noise = {"dropout": 0.1, "drop_path": 0.1}
    fields = {**fields, **noise, "depth": 1} if plain else narrow(model_class.config_class, fields)
    config = model_class.config_class(**fields)
    text = training_step(model_class, config, jax.devices()[:1], BATCH).lowered.as_text()
    flops = {
        "product_flops": product_flops(text),
        "analytic_flops": BATCH * training_flops(config),
    }
    return {"lint": lint(text), **(flops if plain else {})}


def spread(kind, ways):
    """A small model over four devices, compiled for CPUs."""
    model_class, fields = KINDS[kind]
    config = model_class.config_class(**{**SMALL, **fields})
    step = training_step(model_class, config, jax.devices(), BATCH, ways, dtype="float32")
    text = step.lowered.compile().as_text()
    return {
        "collectives": collectives(text),
        "sharded_sizes": sorted(step.sharded_sizes),
        "gathers": gathers_of(text, step.sharded_sizes),
    }


if __name__ == "__main__":
    found = {
        "published": {name: published(name) for name in NAMES},
        "spread": {f"{kind} {ways}": spread(kind, ways) for kind in KINDS for ways in (1, 2, 4)},
    }
    with open(sys.argv[1], "w") as file:
        json.dump(found, file)
