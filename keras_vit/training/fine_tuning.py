"""What fine-tuning needs beside training: freezing, and an optimizer that outlives its model."""

import re

from keras_vit.models import CLIP


def freeze(model, blocks):
    """Freezes the patch encoder and the first blocks of a model; the rest is trained.

    Compile the model anew afterwards.

    Args:
        model: a model of this package.
        blocks: how many blocks, from the input on, are frozen with the patch encoder; 0 freezes
            nothing, all of them, or more, leave norm and head.

    Raises:
        ValueError: if `blocks` is negative.
    """
    if blocks < 0:
        raise ValueError(f"`blocks` must be at least 0. Received: {blocks}.")
    depths = layer_depths(model)
    for layer in model.layers:
        layer.trainable = blocks == 0 or depths[layer.name] > min(blocks, model.config.depth)


def layer_depths(model):
    """Returns layer name -> how deep it lies: 0 for what makes the tokens, then block by block.

    What stands between two blocks, such as the merging of patches, goes with the second; norm,
    pooling and head lie one deeper than the last block.

    Args:
        model: a model of this package, whose blocks are called `block_0`, `block_1`, …

    Raises:
        ValueError: for a CLIP, whose towers are models each.
    """
    if isinstance(model, CLIP):
        raise ValueError(
            "A CLIP has the blocks of two towers: give its `image_tower`, or set `trainable` of "
            "its `text_tower`."
        )
    found, depth = {}, 0
    for layer in model.layers:
        block = re.fullmatch(r"block_(\d+)", layer.name)
        if block:
            depth = int(block[1]) + 1
        found[layer.name] = depth + 1 if depth and not block else depth
    return found


def layer_decay_factors(model, decay):
    """Returns weight path -> factor on the learning rate: `decay ** (depth + 1 - layer_depths)`.

    Args:
        model: a model of this package.
        decay: factor from one block to the one before it, in (0, 1]: 0.65 to 0.9 are common.

    Reference:
        Clark et al., *ELECTRA*, 2020, arXiv 2003.10555, and Bao et al., *BEiT*, 2021, arXiv
        2106.08254, for images.
    """
    if not 0 < decay <= 1:
        raise ValueError(f"`decay` must be in (0, 1]. Received: {decay}.")
    depths, last = layer_depths(model), model.config.depth + 1
    return {
        variable.path: decay ** (last - depths[variable.path.split("/")[0]])
        for variable in model.trainable_variables
    }


def carry_optimizer(source, target):
    """Takes the state of one model's optimizer over to another's, as far as it fits.

    For the next stage of a training, after `keras_vit.weights.adapted`: the moments of every
    weight that kept its shape. The others start anew, and so does the step count, so that the
    next stage's learning rate begins where its schedule begins; Adam's correction for a young
    average then makes the first steps smaller (a third of the rate at the first).

    Args:
        source: a compiled model that was trained.
        target: a compiled model with an optimizer of the same class.

    Returns:
        A list of the paths of the optimizer variables that were left as they were made.

    Raises:
        ValueError: if a model is not compiled, or the optimizers are of different classes.
    """
    old, new = (getattr(model, "optimizer", None) for model in (source, target))
    if old is None or new is None:
        raise ValueError("Both models must be compiled.")
    if type(old) is not type(new):
        raise ValueError(
            "Both models must have an optimizer of the same class. "
            f"Received: {type(old).__name__} and {type(new).__name__}."
        )
    new.build(target.trainable_variables)
    # An optimizer's name is its own; what follows names the weight and the moment.
    kept = {variable.path.split("/", 1)[-1]: variable for variable in old.variables}
    left = []
    for variable in new.variables:
        name = variable.path.split("/", 1)[-1]
        if name in kept and kept[name].shape == variable.shape:
            if name not in ("iteration", "learning_rate"):
                variable.assign(kept[name])
        else:
            left.append(variable.path)
    return left
