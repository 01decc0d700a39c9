"""A recipe with fields changed, as a command line states them."""

import ast
import dataclasses

from keras_vit.training.recipes.recipe import Recipe, check_choice


def changed(recipe, changes):
    """Returns a recipe with fields changed.

    Args:
        recipe: a `Recipe`.
        changes: dict of field name to value, as `keras_vit.training.recipe` takes it.

    Raises:
        ValueError: for an unknown field, or a value of the wrong kind.
    """
    # Together: the rules hold between fields, whatever the order in which they are given.
    fields = {}
    for key, value in changes.items():
        _change(fields, recipe, key, value)
    return dataclasses.replace(recipe, **fields)


def _change(fields, recipe, key, value):
    """Puts a changed field into `fields`."""
    field, _, inner = key.partition(".")
    check_choice("field", field, [f.name for f in dataclasses.fields(Recipe)])
    value = _literal(value)
    if inner:
        if field not in ("config", "preprocessing", "distillation"):
            raise ValueError(f"`{field}` has no parts. Received: {key!r}.")
        value = {**fields.get(field, getattr(recipe, field)), inner: value}
    _check_kind(field, value, getattr(recipe, field))
    if field == "augment":
        value = (value,) if isinstance(value, str) else tuple(value)
    fields[field] = value


def _literal(value):
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def _check_kind(field, value, current):
    stated = {field.name: field.type for field in dataclasses.fields(Recipe)}[field]
    wider = {float: int | float, float | None: int | float | None, tuple: tuple | list | str}
    wanted = wider.get(stated, stated)
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise ValueError(f"`{field}` must be like {current!r}. Received: {value!r}.")
