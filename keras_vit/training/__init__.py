"""Training: recipes, the optimizer and its schedule, the state of a run, evaluation.

What is named here is imported when it is first used: a part that needs TensorFlow, as `train`
does, then stands in nobody's way under JAX.
"""

from importlib import import_module

# Name -> the module that defines it.
_HOMES = {
    "Backup": "backup",
    "RECIPES": "recipes",
    "RedrawFeatures": "redraw",
    "Evaluation": "evaluation",
    "Recipe": "recipes",
    "TagEvaluation": "multi_label",
    "TrainResult": "run",
    "TrainState": "state",
    "adamw": "optimizers",
    "carry_optimizer": "fine_tuning",
    "evaluate": "evaluation",
    "evaluate_features": "feature_evaluation",
    "fit": "fitting",
    "freeze": "fine_tuning",
    "layer_decay_factors": "fine_tuning",
    "layout_map": "layout",
    "recipe": "recipes",
    "strategy": "strategies",
    "train": "run",
}

__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__():
    return sorted({*globals(), *__all__})
