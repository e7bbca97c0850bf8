"""What stands at `module:attribute` in a user's own code."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from gluebench.benchmark import closest


class NotThereError(LookupError):
    """A module or attribute that is not there."""


def module_called(name: str) -> ModuleType:
    """The module of that name; those of the current folder are found too.

    Raises NotThereError if there is none, and whatever the module itself raises when it is imported.
    """
    sys.path.insert(0, "")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise NotThereError(
            f"no module is called {error.name!r}; it has to be installed, "
            "stand in this folder or on PYTHONPATH"
        ) from None
    finally:
        sys.path.remove("")


def attribute_of(module: ModuleType, name: str) -> object:
    """What has that name in a module; dots lead further in. Raises NotThereError with the closest name."""
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            close = closest(part, [known for known in vars(value) if not known.startswith("_")])
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise NotThereError(f"{module.__name__} has no {name!r}{hint}")
        value = getattr(value, part)
    return value
