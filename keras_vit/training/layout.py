"""How a model's weights are spread over the chips of a tensor-parallel mesh (Keras on JAX).

Each chip holds some of the heads and a part of each MLP's hidden width, as in Megatron-LM: a block
then needs one sum over the chips after attention and one after the MLP, and no weight moves.

Reference:
    Shoeybi et al., *Megatron-LM: Training Multi-Billion Parameter Language Models Using Model
    Parallelism*, 2019, arXiv 1909.08053.
"""

import keras

from keras_vit.models import ViTConfig

MODEL_AXIS = "model"

# The end of a weight's path -> the mesh axis that each of its axes is spread over.
ATTENTION = {
    "attention/qkv/kernel": (None, None, MODEL_AXIS, None),
    "attention/qkv/bias": (None, MODEL_AXIS, None),
    "attention/out/kernel": (MODEL_AXIS, None),
}
# TimeSformer's attention over time.
TEMPORAL_ATTENTION = {f"temporal_{end}": axes for end, axes in ATTENTION.items()}
POOLING = {
    "attention/query/kernel": (None, MODEL_AXIS, None),
    "attention/query/bias": (MODEL_AXIS, None),
    "attention/key_value/kernel": (None, None, MODEL_AXIS, None),
    "attention/key_value/bias": (None, MODEL_AXIS, None),
    "attention/out/kernel": (MODEL_AXIS, None),
}
# SwiGLU's fc1 holds gate and value side by side. Its chips exchange activations, not weights.
MLP = {
    "mlp/fc1/kernel": (None, MODEL_AXIS),
    "mlp/fc1/bias": (MODEL_AXIS,),
    "mlp/fc2/kernel": (MODEL_AXIS, None),
}


def layout_map(model, mesh):
    """Returns the layout of a model's weights over a mesh, for `keras.distribution`.

    Heads and MLP width are spread over the mesh's axis `"model"`; every other weight is on all
    chips. The distribution is set before the model is built, so that no chip ever holds the whole:

    ```python
    config = ViTConfig(num_classes=10)
    mesh = keras.distribution.DeviceMesh((2, 4), ("batch", "model"))
    layout = layout_map(config, mesh)
    keras.distribution.set_distribution(
        keras.distribution.ModelParallel(layout_map=layout, batch_dim_name="batch")
    )
    model = ViT(config)
    ```

    Args:
        model: a `ViT` or what derives from it, or its config.
        mesh: a `keras.distribution.DeviceMesh` with an axis `"model"`.

    Returns:
        A `keras.distribution.LayoutMap`.

    Raises:
        RuntimeError: with another backend than JAX, where Keras trains on one device and says
            nothing.
        ValueError: if the mesh has no axis `"model"`, or if the chips along it do not divide the
            heads and the MLP width.
    """
    require_jax()
    config = getattr(model, "config", model)
    _check(config, mesh)
    layout = keras.distribution.LayoutMap(mesh)
    for pattern, axes in _rules(config):
        layout[pattern] = axes
    return layout


def require_jax():
    """Checks that `keras.distribution` does something with the backend.

    Raises:
        RuntimeError: if it does not; the message names the alternative.
    """
    backend = keras.backend.backend()
    if backend != "jax":
        raise RuntimeError(
            "`keras.distribution` works with the JAX backend only. Received: "
            f"backend={backend!r}, with which it trains on one device. Set KERAS_BACKEND=jax, "
            "or call `model.fit` under a tf.distribute strategy."
        )


def _rules(config):
    """Yields (pattern of weight paths, axes); none for models that are not split."""
    if not isinstance(config, ViTConfig):
        return
    parts = [(r"block_\d+", {**ATTENTION, **MLP})] if config.depth else []
    if getattr(config, "space_time", None) == "divided":
        parts.append((r"block_\d+", TEMPORAL_ATTENTION))
    if config.pooling == "map":
        parts.append(("pool", {**POOLING, **MLP}))
    for part, rules in parts:
        for end, axes in rules.items():
            yield f"{part}/{end}", axes


def _check(config, mesh):
    if MODEL_AXIS not in mesh.axis_names:
        raise ValueError(
            f"`mesh` must have an axis {MODEL_AXIS!r}. Received: axis_names={mesh.axis_names}."
        )
    chips = mesh.shape[mesh.axis_names.index(MODEL_AXIS)]
    if chips > 1 and not isinstance(config, ViTConfig):
        raise ValueError(
            f"The chips along {MODEL_AXIS!r} must be 1 for other models than ViTs. "
            f"Received: {type(config).__name__}, {chips} chips."
        )
    for field in ("num_heads", "mlp_dim") if chips > 1 else ():
        if getattr(config, field) % chips:
            raise ValueError(
                f"The chips along {MODEL_AXIS!r} must divide `{field}`. "
                f"Received: {field}={getattr(config, field)}, {chips} chips."
            )
