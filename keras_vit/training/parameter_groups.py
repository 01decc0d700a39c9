"""Which weights a recipe trains, how fast, and which of them decay."""

import dataclasses
import math

from keras_vit.training.fine_tuning import layer_decay_factors
from keras_vit.training.optimizers import decays


@dataclasses.dataclass(frozen=True)
class ParameterGroup:
    """Weights that are trained alike.

    Args:
        factor: what their learning rate is multiplied by; 0 for frozen ones.
        weight_decay: their weight decay, before it is multiplied by the learning rate.
        paths: their paths.
        parameters: how many numbers they have.
    """

    factor: float
    weight_decay: float
    paths: tuple
    parameters: int


def parameter_groups(model, recipe):
    """Returns the groups that a recipe trains a model's weights in, the slowest first.

    Args:
        model: a model of this package, with what is frozen frozen.
        recipe: a `Recipe`.

    Returns:
        A list of `ParameterGroup`; every weight is in one.
    """
    if recipe.layer_decay is None:
        factors = {variable.path: 1.0 for variable in model.trainable_variables}
    else:
        factors = layer_decay_factors(model, recipe.layer_decay)
    groups = {}
    for variable in model.weights:
        factor = factors.get(variable.path, 0.0)
        decay = recipe.weight_decay if factor and decays(variable) else 0.0
        groups.setdefault((factor, decay), []).append(variable)
    return [
        ParameterGroup(
            factor,
            decay,
            tuple(variable.path for variable in variables),
            sum(math.prod(variable.shape) for variable in variables),
        )
        for (factor, decay), variables in sorted(groups.items(), key=lambda item: item[0])
    ]
