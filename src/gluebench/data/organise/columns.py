"""Which column is the label, which the index, and which are texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluebench.benchmark import UnknownNameError
from gluebench.data.errors import DataError
from gluebench.data.organise.choices import Choices, told, told_list
from gluebench.data.organise.read import RawTable

LABEL_NAMES = ("label", "labels", "gold", "gold_label", "score", "target", "class", "rating", "similarity")
INDEX_NAMES = ("", "index", "id", "idx", "uid", "guid", "unnamed: 0")


class ColumnPlan(NamedTuple):
    """What each column of a task is for."""

    label: str
    row_index: str | None
    inputs: tuple[str, ...]
    ignored: tuple[str, ...]
    """Columns that are left out of the benchmark."""
    told: frozenset[str]
    """Which of these fields the organiser gave; the others were detected."""


def plan_columns(task: str, tables: Mapping[str, RawTable], choices: Choices) -> ColumnPlan:
    """What each column is. Raises DataError where the files leave it open, or a column told is not there."""
    names = tuple(dict.fromkeys(name for table in tables.values() for name in table.header))
    wanted = {
        "label": told(choices.label, task),
        "index": told(choices.index, task),
        "inputs": told_list(choices.inputs, task),
        "ignored": told_list(choices.ignore, task),
    }
    for value in wanted.values():
        for name in (value,) if isinstance(value, str) else value or ():
            if name not in names:
                raise DataError([f"{task}: {UnknownNameError(name, names, what='column')}"])
    label = told(choices.label, task) or _only(task, "label", names, LABEL_NAMES)
    free = [name for name in names if name != label and name not in (wanted["ignored"] or ())]
    index = told(choices.index, task) or next((n for n in free if n.casefold() in INDEX_NAMES), None)
    rest = [name for name in free if name != index]
    known = next((table.declared.inputs for table in tables.values() if table.declared), None)
    inputs = told_list(choices.inputs, task) or known or tuple(n for n in rest if _is_text(n, tables))
    _check_inputs(task, inputs, tables, label=label)
    ignored = tuple(name for name in names if name not in (label, index, *inputs))
    return ColumnPlan(label, index, inputs, ignored, frozenset(k for k, v in wanted.items() if v is not None))


def _only(task: str, what: str, names: Sequence[str], known: Sequence[str]) -> str:
    found = [name for name in names if name.casefold() in known]
    if len(found) == 1:
        return found[0]
    seen = f"{' and '.join(found)} could be it" if found else f"none of {', '.join(names)} is known as one"
    raise DataError(
        [f"{task}: which column is the {what}? {seen}; say so: --{what} {task}={(found or names)[-1]}"]
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
