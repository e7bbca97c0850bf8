"""What systems cost, read from a table: parameters and latency, to stand beside their scores."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from gluebench.data import DataError

COLUMNS = ("system", "parameters", "latency")


class Cost(NamedTuple):
    """The cost of one system; lower is better."""

    parameters: float | None
    latency: float | None
    """In whatever unit the table has, the same for all."""


def read_costs(path: str | os.PathLike[str], systems: Sequence[str]) -> Mapping[str, Cost]:
    """The costs in a tab-separated file with the header system, parameters, latency; a cell may be empty.

    A system goes by its path or by the last part of it. Raises DataError with every problem.
    """
    name = os.fspath(path)
    with open(name, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or tuple(rows[0]) != COLUMNS:
        header = "<TAB>".join(COLUMNS)
        raise DataError([f"{name}, line 1: found {rows[0] if rows else []}; expected the header {header}"])
    known = {os.path.basename(os.path.normpath(each)): each for each in systems} | {e: e for e in systems}
    found: dict[str, Cost] = {}
    problems = []
    for line, row in enumerate(rows[1:], 2):
        try:
            system, parameters, latency = row
            if system not in known or known[system] in found:
                again = "is there twice" if system in known else f"is none of {', '.join(systems)}"
                raise ValueError(f"{system!r} {again}")
            found[known[system]] = Cost(_number(parameters), _number(latency))
        except ValueError as error:
            problems.append(
                f"{name}, line {line}: {error}; expected a system, its parameters and its latency"
            )
    if problems:
        raise DataError(problems)
    return found


def _number(text: str) -> float | None:
    if not text.strip():
        return None
    value = float(text)
    if not isfinite(value) or value < 0:
        raise ValueError(f"{text} is not a number from 0")
    return value
