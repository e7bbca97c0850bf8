"""What an organiser decides, instead of leaving it to what the files look like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from gluebench.benchmark import UnknownNameError

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


def told(values: Told, task: str) -> str | None:
    """What is told for a task: the value that names it, else the last that names none, else None."""
    found: str | None = None
    for value in values:
        name, equals, rest = value.partition("=")
        if equals and name == task:
            return rest
        if not equals:
            found = value
    return found


def unknown_tasks(choices: Choices, tasks: Sequence[str]) -> list[str]:
    """A line for each value that names a task there is not; a value with "=" in it has to name one."""
    given = [getattr(choices, field.name) for field in fields(choices)]
    names = [
        value.partition("=")[0]
        for values in given
        if isinstance(values, tuple)
        for value in values
        if "=" in value
    ]
    return [
        f"{UnknownNameError(name, tasks, what='task')} (TASK=VALUE was read)"
        for name in names
        if name not in tasks
    ]


def told_list(values: Told, task: str) -> tuple[str, ...] | None:
    """What is told for a task, parted by commas."""
    value = told(values, task)
    return None if value is None else tuple(part.strip() for part in value.split(",") if part.strip())
