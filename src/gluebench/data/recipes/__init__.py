"""Recipes: one file per task, each the paper's procedure from the original corpus to the examples."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

from gluebench.benchmark import UnknownNameError
from gluebench.data.recipes.recipe import Built, Columns, Option, Recipe

__all__ = ["GROUP", "RECIPES", "Built", "Columns", "Option", "Recipe", "recipe"]

RECIPES = ("ax", "cola", "mnli", "mrpc", "qnli", "qqp", "rte", "snli", "sst2", "stsb", "wnli")
"""The recipes that come with the package; each is a module of this folder."""
GROUP = "gluebench.recipes"
"""The entry-point group by which another package registers recipes."""


def recipe(name: str) -> Recipe:
    """The recipe of that name, its module imported now. Raises UnknownNameError."""
    if name in RECIPES:
        found: Recipe = import_module(f"gluebench.data.recipes.{name}").RECIPE
        return found
    others = {point.name: point for point in entry_points(group=GROUP)}
    if name in others:
        loaded = others[name].load()
        if not isinstance(loaded, Recipe):
            raise TypeError(f"the entry point {name!r} of {GROUP} is {loaded!r}; expected a Recipe")
        return loaded
    raise UnknownNameError(name, [*RECIPES, *sorted(others)], what="recipe")
