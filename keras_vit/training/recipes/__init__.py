"""Recipes: all that a training run is, as short values."""

from keras_vit.training.recipes import (
    augreg,
    clips,
    coatnet,
    deit,
    detection,
    hybrid,
    mae,
    original,
    own_pictures,
    pairs,
    performer,
    plain_baseline,
    small,
    swin,
    transfer,
)
from keras_vit.training.recipes.changes import changed
from keras_vit.training.recipes.recipe import PRECISIONS, Recipe, check_choice

__all__ = ["PRECISIONS", "RECIPES", "Recipe", "recipe"]

RECIPES = {
    **small.RECIPES,
    **own_pictures.RECIPES,
    **transfer.RECIPES,
    **plain_baseline.RECIPES,
    **augreg.RECIPES,
    **deit.RECIPES,
    **original.RECIPES,
    **hybrid.RECIPES,
    **swin.RECIPES,
    **coatnet.RECIPES,
    **performer.RECIPES,
    **clips.RECIPES,
    **pairs.RECIPES,
    **mae.RECIPES,
    **detection.RECIPES,
}


def recipe(name, changes=None):
    """Returns the recipe called `name`, with fields changed.

    Args:
        name: one of `RECIPES`.
        changes: dict of field name to value; a value given as text is read as a Python
            literal. `config.FIELD` and `preprocessing.FIELD` reach into those.

    Raises:
        ValueError: for an unknown recipe or field (the error lists the valid ones), or a
            value of the wrong kind.

    Example:

    >>> recipe("digits", {"epochs": "30", "config.depth": "2"}).epochs
    30
    """
    check_choice("recipe", name, RECIPES)
    return changed(RECIPES[name], changes or {})
