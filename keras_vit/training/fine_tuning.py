"""What fine-tuning needs beside training: freezing, and an optimizer that outlives its model."""

import re


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
    for layer in model.layers:
        depth = depth_of(layer.name, model.config.depth)
        layer.trainable = blocks == 0 or depth > min(blocks, model.config.depth)


def depth_of(path, depth):
    """Returns how deep a weight or layer lies: 0 for what makes the tokens, then block by block.

    Args:
        path: a weight's path, or a layer's name.
        depth: number of blocks; norm, pooling and head lie at `depth + 1`.

    Example:

    >>> [depth_of(path, 12) for path in ("patch_encoder/position", "block_0/norm1", "head/bias")]
    [0, 1, 13]
    """
    if path.split("/")[0] in ("images", "patches", "patch_encoder", "dropout"):
        return 0
    block = re.match(r"block_(\d+)", path)
    return int(block[1]) + 1 if block else depth + 1


def layer_decay_factors(model, decay):
    """Returns weight path -> factor on the learning rate: `decay ** (depth + 1 - depth_of)`.

    Args:
        model: a model of this package.
        decay: factor from one block to the one before it, in (0, 1]: 0.65 to 0.9 are common.

    Reference:
        Clark et al., *ELECTRA*, 2020, arXiv 2003.10555, and Bao et al., *BEiT*, 2021, arXiv
        2106.08254, for images.
    """
    if not 0 < decay <= 1:
        raise ValueError(f"`decay` must be in (0, 1]. Received: {decay}.")
    depth = model.config.depth
    return {
        variable.path: decay ** (depth + 1 - depth_of(variable.path, depth))
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
