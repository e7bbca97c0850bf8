"""Recipes: one file per task, each the paper's procedure from the original corpus to the examples.

recipes.toml describes the procedure, files and options of each, which `data build --explain` prints.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Task, UnknownNameError
from gluebench.benchmark.lookup import did_you_mean

__all__ = [
    "GROUP",
    "RECIPES",
    "Columns",
    "Option",
    "OptionError",
    "Recipe",
    "RecipeResult",
    "recipe",
    "recipe_of",
]

_DESCRIBED = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))
_SHARED = _DESCRIBED.pop("shared")["options"]
RECIPES = tuple(_DESCRIBED)
"""The recipes of the package: the code of each is in this folder, the rest in recipes.toml."""
GROUP = "gluebench.recipes"
"""The entry-point group by which another package registers recipes."""


Columns = dict[str, list[Any]]
"""Column name to values, all of one length, in row order.

The task's input columns hold strings; `label` holds label words (floats for a regression task) and is absent
where labels are hidden. Whatever else the source gives is kept under a name of its own: strings, integers,
floats or lists of strings. Examples are numbered in row order.
"""


class OptionError(ValueError):
    """An option of a recipe that it does not have, or whose value it cannot take."""


class Option(NamedTuple):
    """A choice that the paper or the corpus leaves open."""

    name: str
    """Its name on the command line: "min-overlap"."""
    type: type[str] | type[int] | type[float] | type[Path]
    default: str | int | float | None
    """None where it must be given, or may be absent; `help` says which."""
    help: str
    choices: tuple[str, ...] = ()
    """The texts that it may be; empty for any."""


def values_of(
    owner: str, options: Sequence[Option], texts: Mapping[str, str], *, dashes: str = ""
) -> dict[str, Any]:
    """The value of every option, converted to its type; the default where no text is given.

    Raises OptionError for an unknown option and for a value of another type, or that is none of the choices;
    `dashes` precede names in it.
    """
    known = {f"{dashes}{option.name}": option for option in options}
    values: dict[str, Any] = {option.name: option.default for option in options}
    for name, text in texts.items():
        option = known.get(f"{dashes}{name}")
        if option is None:
            hint = did_you_mean(f"{dashes}{name}", known)
            listing = ", ".join(known) or "none"
            raise OptionError(f"{owner} has no option {dashes}{name}.{hint} Its options: {listing}.")
        try:
            values[name] = option.type(text)
        except ValueError:
            kind = "a whole number" if option.type is int else "a number"
            raise OptionError(f"{dashes}{name} is {text!r}; expected {kind}: {option.help}") from None
        if option.choices and text not in option.choices:
            expected = " or ".join(option.choices)
            raise OptionError(f"{dashes}{name} is {text!r}; expected {expected}: {option.help}")
    return values


class RecipeResult(NamedTuple):
    """The result of a recipe, with all that is needed to repeat it."""

    splits: Mapping[str, Columns]
    """Split name to its examples; a split whose source is absent is left out, and a note says so."""
    options: Mapping[str, str | int | float | None]
    """Value of every option."""
    files: tuple[Path, ...]
    """The files that were read."""
    notes: tuple[str, ...] = ()
    """Notes for users: what was filtered out, merged, or not available."""


Built = RecipeResult
"""The earlier name, kept for one release."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one task is built from its original corpus."""

    name: str
    """As a manifest's `recipe` and the command line write it: "qnli"."""
    corpus: str
    """The required files of the folder, and where to get them."""
    build: Callable[[Path, Task, Mapping[str, Any]], RecipeResult]
    """From the corpus folder, the task to build and the options, defaults filled in; raises DataError."""
    options: tuple[Option, ...] = ()
    procedure: str = ""
    """What it does; by default the docstring of the module of `build`."""


def recipe(name: str) -> Recipe:
    """The recipe of that name, its module imported now. Raises UnknownNameError."""
    if name in RECIPES:
        described = _DESCRIBED[name]
        module, _, function = described.get("build", f"{name}:build").partition(":")
        build = getattr(import_module(f"gluebench.data.recipes.{module}"), function)
        options = dict(described.get("options", {}))
        for key in described.get("shared", ()):  # options that several recipes have
            options[key] = _SHARED[key]
        of_recipe = tuple(_option(key, option) for key, option in options.items())
        return Recipe(name, described["corpus"], build, of_recipe, described["procedure"])
    others = {point.name: point for point in entry_points(group=GROUP)}
    if name in others:
        loaded = others[name].load()
        if not isinstance(loaded, Recipe):
            raise TypeError(f"the entry point {name!r} of {GROUP} is {loaded!r}; expected a Recipe")
        return loaded
    raise UnknownNameError(name, list(RECIPES) + sorted(others), what="recipe")


def _option(name: str, described: Mapping[str, Any]) -> Option:
    kind = {"text": str, "integer": int, "number": float, "file": Path}[described["type"]]
    choices = tuple(described.get("choices", ()))
    return Option(name, kind, described.get("default"), described["help"], choices)


def recipe_of(task: Task, named: str | None = None) -> Recipe:
    """The recipe named, else the manifest's. Raises UnknownNameError, OptionError."""
    name = named or task.recipe
    if name is None:
        raise OptionError(
            f'the manifest names no recipe for {task.name}; choose one with --recipe, or add recipe = "NAME" '
            f"to the task in the manifest; recipes: {', '.join(RECIPES)}"
        )
    return recipe(name)
