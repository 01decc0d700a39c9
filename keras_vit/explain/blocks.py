"""What is inside the blocks of a ViT, taken by their names."""

import dataclasses

import keras
import numpy as np

from keras_vit.layers import Attention, PerformerAttention, RelativeAttention, TransformerBlock
from keras_vit.layers.sizes import patch_grid
from keras_vit.models import DeiT


@dataclasses.dataclass(frozen=True)
class Block:
    """A block and what came into it.

    Args:
        layer: the model's `TransformerBlock`.
        tokens: its input, `[b, n, width]`.
    """

    layer: TransformerBlock
    tokens: object


def block_names(model):
    """Returns the names of a ViT's blocks from first to last.

    Args:
        model: a `ViT`, `DeiT`, `DINOv2` or `Hybrid`: every block passes on all tokens, and
            attends to all of them by a softmax.

    Raises:
        ValueError: for a model that has other blocks, or none.
    """
    names = [layer.name for layer in model.layers if isinstance(layer, TransformerBlock)]
    for name in names:
        if isinstance(model.get_layer(name).attention, PerformerAttention):
            raise ValueError(
                f"{model.name!r} is a Performer: it never forms its attention, so there is none to "
                "look at. Its features can be looked at (PCA, neighbours)."
            )
    plain = all(_is_plain(model.get_layer(name)) for name in names)
    # Of a plain block the input is one tensor.
    plain = plain and len({model.get_layer(name).input.shape[1] for name in names}) == 1
    if not names or not plain or not hasattr(model, "config"):
        raise ValueError(
            "Attention is followed through models whose blocks all attend to all tokens: ViT, "
            "DeiT, DINOv2 and hybrids of this package. In windows, or where tokens are pooled, "
            "merged or left behind between blocks, a token has no one place. Received: "
            f"{type(model).__name__} {model.name!r}."
        )
    return names


def blocks(model, images):
    """Runs a ViT and returns its `Block`s, by name, from first to last."""
    layers = [model.get_layer(name) for name in block_names(model)]
    taps = keras.Model(model.input, [layer.input for layer in layers])
    # A list of one output stays a list only by asking: Keras unwraps it.
    inputs = keras.tree.flatten(taps(images, training=False))
    return {layer.name: Block(layer, tokens) for layer, tokens in zip(layers, inputs, strict=True)}


def seen_by_head(model, flow):
    """Returns what the head reads, from what each output token got of each input token.

    Args:
        model: the ViT.
        flow: numpy array `[..., n, n]`: row `i` is about output token `i`.

    Returns:
        `[..., rows, columns]` over the grid of patches: the row of the class token where the head
        reads it (in a distilled DeiT, the mean with that of the distillation token), otherwise
        the mean over the rows of the patch tokens. The columns of class token and registers are
        left out.
    """
    config = model.config
    patches = flow[..., read_by_head(model), :].mean(axis=-2)[..., config.num_prefix :]
    return patches.reshape(*patches.shape[:-1], *patch_grid(config.image_size, config.patch_size))


def read_by_head(model):
    """Returns which of a ViT's output tokens its head reads, as a slice."""
    if model.config.pooling != "token":
        return slice(model.config.num_prefix, None)
    return slice(2 if isinstance(model, DeiT) else 1)


def as_float64(tensor):
    """Returns a tensor as a numpy array in float64.

    Half precision has too few digits for a mean over heads, and numpy has no bfloat16.
    """
    return np.asarray(keras.ops.cast(tensor, _at_least_float32(tensor.dtype)), "float64")


def _at_least_float32(dtype):
    return keras.backend.result_type(keras.backend.standardize_dtype(dtype), "float32")


def _is_plain(block):
    kinds = (Attention, RelativeAttention)
    return type(block) is TransformerBlock and type(block.attention) in kinds
