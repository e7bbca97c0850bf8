"""Records as JSON-ready values."""

from __future__ import annotations

from collections.abc import Mapping


def plain(value: object) -> object:
    """The value with every record as a mapping of its fields, and every sequence as a list."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
