"""What an organiser decides, instead of leaving it to what the files look like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Told = tuple[str, ...]
"""Values as given: "VALUE" for every task, "TASK=VALUE" for one."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that can be told; what is left empty is detected."""

    label: Told = ()
    inputs: Told = ()
    index: Told = ()
    ignore: Told = ()
    kind: Told = ()
    words: Told = ()
    score_range: Told = ()
    metrics: Told = ()
    positive: Told = ()
    licence: Told = ()
    title: str = ""
    encoding: str = "utf-8"
    replace_whitespace: bool = False
    """Whether tabs and line ends within a text become a space; otherwise they are errors."""


def told(values: Told, task: str, tasks: Sequence[str]) -> str | None:
    """What is told for a task: the value that names it, else the last that names none, else None."""
    found: str | None = None
    for value in values:
        name, equals, rest = value.partition("=")
        if equals and name == task:
            return rest
        if not (equals and name in tasks):
            found = value
    return found


def told_list(values: Told, task: str, tasks: Sequence[str]) -> tuple[str, ...] | None:
    """What is told for a task, parted by commas."""
    value = told(values, task, tasks)
    return None if value is None else tuple(part.strip() for part in value.split(",") if part.strip())
