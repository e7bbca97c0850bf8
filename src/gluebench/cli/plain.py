"""Records as JSON-ready values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass


def plain(value: object) -> object:
    """The value with every record as a mapping of its fields, and every sequence as a list."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
