"""Token merging for any ViT of the package: fewer tokens from block to block, without training.

Bolya et al., *Token Merging: Your ViT But Faster*, 2022, arXiv 2210.09461.
"""

import dataclasses

from keras_vit.layers.merging_block import MergingBlock
from keras_vit.layers.sizes import patch_grid
from keras_vit.layers.token_groups import TokenGroups, Unmerge
from keras_vit.layers.token_merging import sides
from keras_vit.models.blocks import block_layers


def merge_counts(config):
    """Returns how many patch tokens each block of a config merges, a tuple; empty for none.

    A number for all blocks is cut down where fewer can be merged, as in the original code.

    Raises:
        ValueError: for other numbers than one or `depth`, a number that is negative or more than
            the sources that there are, or a model that merging is not defined for.
    """
    given = config.merged
    numbers = tuple(given) if isinstance(given, list | tuple) else (given,) * config.depth
    if numbers in ((), (0,) * config.depth):
        return ()
    if len(numbers) != config.depth or not all(isinstance(n, int) and n >= 0 for n in numbers):
        raise ValueError(
            "`merged` must be a number of tokens of at least 0, or one for each of the blocks. "
            f"Received: merged={given!r}, depth={config.depth}."
        )
    if config.attention != "softmax" or config.position == "relative" or config.remat:
        raise ValueError(
            "`merged` needs the softmax without a bias by offsets, and no `remat`. Received: "
            f"attention={config.attention!r}, position={config.position!r}, remat={config.remat}."
        )
    counts = []
    for number, (_, sources) in zip(numbers, _patches(config, numbers), strict=True):
        if number > sources and not isinstance(given, int):
            raise ValueError(
                "`merged` must be at most the number of patch tokens that can be merged in each "
                f"block. Received: merged={given}; block {len(counts)} can merge {sources}."
            )
        counts.append(min(number, sources))
    return tuple(counts)


def _patches(config, numbers):
    """Yields (patch tokens, how many of them can be merged) before each block."""
    rows, columns = patch_grid(config.image_size, config.patch_size)
    count = rows * columns
    for number in numbers:
        sources = sides(count, config.num_prefix)[2] if count > 1 else 0
        yield count, sources
        count -= min(number, sources)


def token_counts(config):
    """Returns (tokens in the attention, tokens in the MLP) of each block of a ViT."""
    merged = config.merged or (0,) * config.depth
    return [
        (config.num_prefix + count, config.num_prefix + count - number)
        for number, (count, _) in zip(merged, _patches(config, merged), strict=True)
    ]


def merging_blocks(tokens, config, policy):
    """Returns what the blocks make of the tokens, with those that were merged in all their places.

    Args:
        tokens: `[b, n, width]`, of the patch encoder.
        config: a `ViTConfig` with `merged`.
        policy: the model's dtype policy.

    Returns:
        `[b, n, width]`.
    """
    prefix = config.num_prefix
    groups = TokenGroups(prefix, name="groups", dtype=policy)(tokens)
    each = [{"merged": number} for number in config.merged]
    options = {"prefix": prefix, "mlp": config.mlp}
    for block in block_layers(config, policy, MergingBlock, each, **options):
        tokens, groups = block(tokens, groups)
    return Unmerge(prefix, name="unmerge", dtype=policy)(tokens, groups)


def merge_tokens(model, merged):
    """Returns a model with the weights of a ViT, in which alike patch tokens are merged.

    In each block, between attention and MLP, tokens whose keys are most alike become their mean,
    and attention counts a token as often as the patches that it stands for. The last block's
    tokens are then put back in the places of their patches, so that every pooling and `features`
    are what they were. Nothing is trained; training on is possible.

    Args:
        model: a `ViT`, `DeiT`, `DINOv2` or `Hybrid`.
        merged: how many tokens each block merges, or a list of numbers, one a block; 0 gives the
            same model. The paper takes 13 to 16 for ViT-B/16 at 224 pixels, 8 for L/16.

    Returns:
        A model of the same class. `config.merged` says what it does.

    Raises:
        ValueError: for numbers that cannot be, or a model that merging is not defined for.

    Example:

    >>> from keras_vit import create_model
    >>> vit = create_model("vit_ti16", image_size=64, depth=2, num_classes=10)
    >>> merge_tokens(vit, 3).get_layer("block_1").output[0].shape
    (None, 11, 192)
    """
    if not hasattr(getattr(model, "config", None), "merged"):
        raise ValueError(
            "`model` must be a ViT, DeiT, DINOv2 or hybrid of this package. "
            f"Received: {type(model).__name__}."
        )
    config = dataclasses.replace(model.config, merged=merged, remat=False)
    twin = type(model)(config, name=model.name, dtype=model.policy)
    twin.set_weights(model.get_weights())
    return twin
