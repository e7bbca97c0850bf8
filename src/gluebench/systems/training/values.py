"""Settings as a user writes them: NAME=VALUE."""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from gluebench.systems.training.settings import Settings
from gluebench.systems.training.spec import BiLstmSpec


class Changes(NamedTuple):
    """Values to change, by name."""

    settings: dict[str, Any]
    body: dict[str, Any]


def parted(changes: Iterable[str]) -> Changes:
    """The values of "NAME=VALUE", each of its option's type. Raises ValueError for what is none."""
    settings, body = get_type_hints(Settings), get_type_hints(BiLstmSpec)
    found = Changes({}, {})
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or name not in {**settings, **body}:
            known = sorted(field.name for kind in (Settings, BiLstmSpec) for field in fields(kind))
            raise ValueError(f"{change!r} is no NAME=VALUE; NAME is one of {', '.join(known)}")
        kind = settings.get(name) or body[name]
        (found.settings if name in settings else found.body)[name] = _value(name, text, kind)
    return found


def _value(name: str, text: str, kind: Any) -> Any:
    kinds = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(None) in kinds and text == "none":
        return None
    chosen = next(each for each in kinds if each is not type(None))
    if get_origin(chosen) is Literal:
        if text not in get_args(chosen):
            raise ValueError(f"{name} is {text!r}; expected one of {', '.join(get_args(chosen))}")
        return text
    try:
        return {"yes": True, "no": False}[text] if chosen is bool else chosen(text)
    except (KeyError, ValueError):
        wanted = {bool: "yes or no", int: "a whole number", float: "a number"}[chosen]
        also = ", or none" if type(None) in kinds else ""
        raise ValueError(f"{name} is {text!r}; expected {wanted}{also}") from None
