"""An organizer's options, and which column is the label, which the index, and which are texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from gluebench.benchmark import UnknownNameError
from gluebench.data.errors import DataError
from gluebench.data.organise.read import RawTable

Values = tuple[str, ...]
"""Values as given: "VALUE" for every task, "TASK=VALUE" for one."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The options; what is left empty is detected."""

    label: Values = ()
    inputs: Values = ()
    index: Values = ()
    ignore: Values = ()
    kind: Values = ()
    words: Values = ()
    score_range: Values = ()
    metrics: Values = ()
    positive: Values = ()
    licence: Values = ()
    title: str = ""
    encoding: str = "utf-8"
    replace_whitespace: bool = False
    """Whether tabs and line ends within a text become a space; otherwise they are errors."""


def value_for(values: Values, task: str) -> str | None:
    """The value for a task: one that names it, else the last that names none, else None."""
    general: str | None = None
    for value in values:
        name, equals, rest = value.partition("=")
        if equals and name == task:
            return rest
        if not equals:
            general = value
    return general


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


def list_for(values: Values, task: str) -> tuple[str, ...] | None:
    """The value for a task, split at commas."""
    value = value_for(values, task)
    return None if value is None else tuple(part.strip() for part in value.split(",") if part.strip())


LABEL_NAMES = ("label", "labels", "gold", "gold_label", "score", "target", "class", "rating", "similarity")
INDEX_NAMES = ("", "index", "id", "idx", "uid", "guid", "unnamed: 0")


class ColumnPlan(NamedTuple):
    """What each column of a task is for."""

    label: str
    row_index: str | None
    inputs: tuple[str, ...]
    ignored: tuple[str, ...]
    """Columns that are left out of the benchmark."""
    given: frozenset[str]
    """Which of these fields the organizer gave; the others were detected."""


def plan_columns(task: str, tables: Mapping[str, RawTable], choices: Choices) -> ColumnPlan:
    """What each column is. Raises DataError where the files leave it open, or a column given is not there."""
    names = tuple(dict.fromkeys(name for table in tables.values() for name in table.header))
    given = {
        "label": value_for(choices.label, task),
        "index": value_for(choices.index, task),
        "inputs": list_for(choices.inputs, task),
        "ignored": list_for(choices.ignore, task),
    }
    for value in given.values():
        for name in (value,) if isinstance(value, str) else value or ():
            if name not in names:
                raise DataError(f"{task}: {UnknownNameError(name, names, what='column')}")
    label = value_for(choices.label, task) or _only(task, "label", names, LABEL_NAMES)
    free = [name for name in names if name != label and name not in (given["ignored"] or ())]
    index = value_for(choices.index, task) or next((n for n in free if n.casefold() in INDEX_NAMES), None)
    rest = [name for name in free if name != index]
    known = next((table.declared.inputs for table in tables.values() if table.declared), None)
    inputs = list_for(choices.inputs, task) or known or tuple(n for n in rest if _is_text(n, tables))
    _check_inputs(task, inputs, tables, label=label)
    ignored = tuple(name for name in names if name not in (label, index, *inputs))
    return ColumnPlan(label, index, inputs, ignored, frozenset(k for k, v in given.items() if v is not None))


def _only(task: str, what: str, names: Sequence[str], known: Sequence[str]) -> str:
    candidates = [name for name in names if name.casefold() in known]
    if len(candidates) == 1:
        return candidates[0]
    seen = (
        f"{' and '.join(candidates)} could be it"
        if candidates
        else f"none of {', '.join(names)} is known as one"
    )
    raise DataError(
        f"{task}: which column is the {what}? {seen}; say so: --{what} {task}={(candidates or names)[-1]}"
    )


def _is_text(name: str, tables: Mapping[str, RawTable]) -> bool:
    """Whether any cell of the column is neither empty nor a number."""
    return any(
        cell and number(cell) is None
        for table in tables.values()
        if name in table.header
        for cell in table.column(name)
    )


def number(cell: str) -> float | None:
    """The cell as a finite number, or None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in cell else None


def _check_inputs(task: str, inputs: Sequence[str], tables: Mapping[str, RawTable], *, label: str) -> None:
    problems = []
    if not inputs:
        problems.append(f"{task}: no column holds text; say which are the inputs: --inputs {task}=NAME,NAME")
    for name in inputs:
        for table in tables.values():
            if name not in table.header:
                problems.append(f'{table.path}:1: has no column "{name}", which other splits have')
        if (
            name.casefold() in ("index", "label")
            or name == label
            or any(c in name for c in "\t\r\n")
            or not name
        ):
            problems.append(f'{task}: "{name}" cannot be the name of an input column; rename it in the files')
    for split, table in tables.items():
        if split != "test" and label not in table.header:
            problems.append(f'{table.path}:1: has no column "{label}"; expected the labels there')
    if problems:
        raise DataError(problems)
