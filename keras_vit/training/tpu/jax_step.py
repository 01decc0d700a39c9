"""Keras's own training step under JAX, lowered for a slice without a single weight in memory."""

import dataclasses
import math

import keras
import numpy as np

from keras_vit.layers.extras import require
from keras_vit.training.layout import MODEL_AXIS, layout_map, require_jax
from keras_vit.training.tpu.objective import batch_of, compiled

BATCH_AXIS = "batch"


@dataclasses.dataclass(frozen=True)
class Step:
    """A training step before its compile.

    Args:
        lowered: a `jax.stages.Lowered`: `.as_text()` is its StableHLO, `.compile()` compiles it.
        sharded_sizes: numbers of elements of the weights that are spread over devices.
    """

    lowered: object
    sharded_sizes: set


def training_step(
    model_class, config, devices, batch_size, tensor_parallel=1, dtype="mixed_bfloat16"
):
    """Returns the training step of a model, spread over devices: AdamW and cross-entropy.

    It is the step that `model.fit` compiles, with its arguments' layouts and donated state. The
    model is built while JAX traces, so that its weights are shapes only.

    Args:
        model_class: `ViT` or another model of `keras_vit.models`.
        config: its config.
        devices: JAX devices, real ones or those of a `Topology`.
        batch_size: images a step, on all devices together.
        tensor_parallel: number of devices that share one copy of the weights; divides them.
        dtype: the model's policy.

    Returns:
        A `Step`.

    Raises:
        RuntimeError: with another backend than JAX.
        ValueError: if `tensor_parallel` does not divide the heads and the MLP width.
    """
    require_jax()
    jax = require("jax", extra="jax")
    distribution = _distribution(config, devices, tensor_parallel)
    with distribution.scope():
        model = _weightless(jax, model_class, config, dtype)
        state = tuple(
            [_shape(jax, v.shape, v.dtype, distribution.get_variable_layout(v)) for v in variables]
            for variables in (
                model.trainable_variables,
                model.non_trainable_variables,
                model.optimizer.variables,
                model.metrics_variables,
            )
        )
        data = keras.tree.map_structure(
            lambda t: _shape(jax, t.shape, t.dtype, distribution.get_data_layout(t.shape)),
            batch_of(model, batch_size),
        )
        layouts = jax.tree.map(lambda leaf: leaf.sharding, state)
        # As JAXTrainer.make_train_function does, which reads the layouts from the weights.
        step = jax.jit(model.train_step, donate_argnums=0, out_shardings=(None, layouts))
        platforms = (devices[0].platform,)
        lowered = step.trace(state, data).lower(lowering_platforms=platforms)
    weights = state[0]
    sharded = {math.prod(w.shape) for w in weights if not w.sharding.is_fully_replicated}
    return Step(lowered, sharded)


def _distribution(config, devices, tensor_parallel):
    shape = len(devices) // tensor_parallel, tensor_parallel
    # Not numpy's own conversion, which would look into the devices.
    grid = np.empty(len(devices), dtype=object)
    grid[:] = devices
    mesh = keras.distribution.DeviceMesh(shape, (BATCH_AXIS, MODEL_AXIS), grid)
    return keras.distribution.ModelParallel(
        layout_map=layout_map(config, mesh), batch_dim_name=BATCH_AXIS
    )


def _weightless(jax, model_class, config, dtype):
    """The compiled model and its optimizer; each weight is a shape that JAX traced."""
    built = []

    def build():
        built.append(compiled(model_class(config, dtype=dtype)))

    jax.eval_shape(build)
    return built[0]


def _shape(jax, shape, dtype, layout):
    return jax.ShapeDtypeStruct(tuple(shape), dtype, sharding=layout.backend_layout)
