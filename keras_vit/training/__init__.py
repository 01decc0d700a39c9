"""Training: recipes, the optimizer and its schedule, the state of a run, evaluation."""

from keras_vit.training.evaluation import Evaluation, evaluate
from keras_vit.training.fine_tuning import carry_optimizer, freeze, layer_decay_factors
from keras_vit.training.fit import TrainResult, train
from keras_vit.training.recipes import RECIPES, Recipe, recipe
from keras_vit.training.state import TrainState

__all__ = [
    "RECIPES",
    "Evaluation",
    "Recipe",
    "TrainResult",
    "TrainState",
    "carry_optimizer",
    "evaluate",
    "freeze",
    "layer_decay_factors",
    "recipe",
    "train",
]
