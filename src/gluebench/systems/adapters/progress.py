"""How systems tell how far they are: a counter made for what is counted."""

from __future__ import annotations

from collections.abc import Callable

Advance = Callable[[int, int], None]
"""Called with the number done and the number of all."""
Counting = Callable[[str, str], Advance]
"""Makes one: what was done ("encoded"), of what ("sentences")."""


def silent(what: str, unit: str) -> Advance:
    """Nothing is told."""
    return lambda done, of: None
