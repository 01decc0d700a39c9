"""A model's own weights in a model of another resolution, patch size or number of classes."""

import dataclasses

import numpy as np
from keras import ops

from keras_vit.layers.sizes import patch_grid
from keras_vit.weights.loading import IMAGE, KERNEL, POSITION, TIME
from keras_vit.weights.resample import resize_grid, resize_offsets, resize_patches

FIELDS = (
    "attention_dropout",
    "drop_path",
    "dropout",
    "frames",
    "head_bias",
    "image_size",
    "num_classes",
    "patch_size",
    "preprocessing",
    "remat",
    "window_size",
)


def adapted(model, resize="bicubic", patch_resize="bicubic_antialias", **fields):
    """Returns a new model with the weights of `model`, for the next stage of a training.

    Positions and tables of offsets are resized to another grid, patch kernels to another patch
    size (so that resized patches give what the patches gave); another number of classes gets a new
    head, whose kernel is zero. What was frozen stays frozen. The new model is not compiled;
    `keras_vit.training.carry_optimizer` takes the optimizer's state over.

    Args:
        model: a model of this package.
        resize, patch_resize: one of `RESIZES`, for positions and for patch kernels.
        **fields: fields of the config to change, of these: `attention_dropout`, `drop_path`,
            `dropout`, `frames`, `head_bias`, `image_size`, `num_classes`, `patch_size`,
            `preprocessing`, `remat`, `window_size`.

    Returns:
        A model of the same class.

    Raises:
        ValueError: for another field.

    Example:

    >>> from keras_vit import create_model
    >>> model = create_model("vit_ti16", image_size=32, depth=1, num_classes=10)
    >>> adapted(model, image_size=(48, 64), num_classes=3).output_shape
    (None, 3)
    """
    known = {field.name for field in dataclasses.fields(model.config)} & set(FIELDS)
    unknown = sorted(set(fields) - known)
    if unknown:
        raise ValueError(
            f"`adapted` changes {', '.join(sorted(known))}: other fields make another network. "
            f"Received: {unknown[0]!r}."
        )
    config = _config(model.config, fields)
    new = type(model)(config, name=model.name, dtype=model.policy)
    sources = {variable.path: variable for variable in model.weights}
    new_head = config.num_classes != model.config.num_classes
    for variable in new.weights:
        if not (new_head and variable.path.startswith("head")):
            value = np.asarray(ops.convert_to_numpy(sources[variable.path]))
            variable.assign(
                _fitted(variable.path, value, model.config, config, resize, patch_resize)
            )
    frozen = {layer.name for layer in model.layers if not layer.trainable}
    for layer in new.layers:
        layer.trainable = layer.name not in frozen
    return new


def _config(old, fields):
    if "num_classes" in fields and "preprocessing" not in fields:
        # The old classes' names say nothing of the new ones.
        nameless = dataclasses.replace(old.preprocessing, class_names=())
        fields = {**fields, "preprocessing": nameless}
    return dataclasses.replace(old, **fields)


def _fitted(path, value, old, new, resize, patch_resize):
    path = path.removeprefix(IMAGE)
    grids = getattr(new, "bias_grids", {})
    if path in grids:
        return resize_offsets(value, old.bias_grids[path], grids[path], resize)
    if path == POSITION:
        grid, new_grid = (patch_grid(c.image_size, c.patch_size) for c in (old, new))
        first = value.shape[1] - grid[0] * grid[1]
        patches = resize_grid(value[:, first:], grid, new_grid, resize)
        return np.concatenate([value[:, :first], patches], axis=1)
    if path == TIME:
        return resize_grid(value, (old.frames, 1), (new.frames, 1), resize)
    if path == KERNEL and old.patch_size != new.patch_size:
        kernel = value.reshape(*old.projection_size, -1, value.shape[-1])
        kernel = resize_patches(kernel, new.projection_size, patch_resize)
        return kernel.reshape(-1, value.shape[-1])
    return value
