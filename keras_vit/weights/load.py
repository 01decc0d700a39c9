"""`keras_vit.weights.load`: from a name or a path to a filled model."""

from pathlib import Path

from keras_vit.layers.sizes import patch_grid
from keras_vit.models.base import ImageModel
from keras_vit.weights.catalog import catalog, catalog_entry
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.conventions import require_same
from keras_vit.weights.download import download
from keras_vit.weights.loading import fill


def load(model, weights, format=None, *, new_head=False, resize=None, accept=(), image_size=None):
    """Fills a model with official or own weights of another code.

    The model's graph is never altered: where the weights need another (another GELU, another
    epsilon, a class token with a position, ...), nothing is loaded, and the error lists the
    differences and the `create_model` call that builds the model that fits. Position tables and
    patch kernels are resized to the model's image and patch size.

    Args:
        model: a model of this package.
        weights: name from `list_weights()`; a path to an `.npz`, `.safetensors`, `.pth` or an
            index of shards; or a folder that holds a safetensors model.
        format: what the file is, a key of `SOURCES`; by default what the file, or a
            `config.json` beside it, says of itself.
        new_head: whether the model's head stays as it is when the file's has another number of
            classes.
        resize: how positions are resized, one of `RESIZES`: `"jax"`, `"bilinear"`,
            `"bilinear_antialias"`, `"bicubic"`, `"bicubic_antialias"`, `"bicubic_offset"`. By
            default as the source of the weights does it.
        accept: conventions that may differ from the file's, such as `("pooling",)`.
        image_size: (height, width) of the images that the file's position table is for, where
            neither the file nor a square table tells.

    Returns:
        A `Report`: what became of each weight and each array; `print` shows it as a table.

    Raises:
        ConventionsDiffer: if the model's graph is not the one that the weights need.
        ValueError: if something is left over, missing, damaged, of another shape, not finite, or
            if the format is not told. The model is then as it was.
        FileNotFoundError: if there is no such file.
        ConnectionError: if published weights cannot be downloaded; the message says which file to
            put where.
    """
    if not isinstance(model, ImageModel):
        raise ValueError(f"`model` must be a model of this package. Received: {type(model)}.")
    positions = hasattr(model.config, "position")
    grid = patch_grid(model.config.image_size, model.config.patch_size) if positions else None
    checkpoint = find(weights, type(model), format, image_size, grid)
    asked = {"weights": str(weights)}
    if format is not None:
        asked["weights_format"] = format
    if new_head:
        asked["num_classes"] = model.config.num_classes
    require_same(model, checkpoint, accept, asked)
    return fill(model, checkpoint, new_head, resize, accept)


def find(weights, model_class, format=None, image_size=None, model_grid=None):
    """Opens weights by name or path: see `load`. Downloads what is published and not here yet."""
    if str(weights).startswith(("http://", "https://")):
        raise ValueError(
            f"`weights` must be a published name, a file or a folder. Received: {weights!r}. "
            "Download it first."
        )
    if str(weights) not in catalog() and _is_path(weights):
        return open_checkpoint(weights, model_class, format, image_size, model_grid)
    row = catalog_entry(str(weights))
    if format not in (None, row.source):
        raise ValueError(f"{row.name} is of the format {row.source!r}. Received: {format!r}.")
    path = download(row.url, row.file, row.sha256)
    told = {"image_size": row.image_size, "preprocessing": row.preprocessing}
    return open_checkpoint(path, model_class, row.source, image_size, model_grid, told)


def _is_path(weights):
    text = str(weights)
    return isinstance(weights, Path) or Path(text).exists() or "/" in text or "." in text
