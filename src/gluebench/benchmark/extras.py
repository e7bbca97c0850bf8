"""Packages that only some functions need, imported when one of these is called."""

from importlib import import_module
from typing import Any


def optional(module: str, what: str, install: str) -> Any:
    """A module that only `what` needs. Raises ImportError, saying what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        message = (
            f"{what} needs {name}, which cannot be imported ({error}); install it: pip install {install}"
        )
        raise type(error)(message, name=name) from None
