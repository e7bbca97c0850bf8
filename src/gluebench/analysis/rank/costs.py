"""Score against cost: parameters and latency from a table, and the Pareto-optimal systems."""

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
    known = {os.path.basename(os.path.normpath(item)): item for item in systems} | {e: e for e in systems}
    costs: dict[str, Cost] = {}
    problems = []
    for line, row in enumerate(rows[1:], 2):
        try:
            system, parameters, latency = row
            if system not in known or known[system] in costs:
                again = "is there twice" if system in known else f"is none of {', '.join(systems)}"
                raise ValueError(f"{system!r} {again}")
            costs[known[system]] = Cost(_number(parameters), _number(latency))
        except ValueError as error:
            problems.append(
                f"{name}, line {line}: {error}; expected a system, its parameters and its latency"
            )
    if problems:
        raise DataError(problems)
    return costs


def _number(text: str) -> float | None:
    if not text.strip():
        return None
    value = float(text)
    if not isfinite(value) or value < 0:
        raise ValueError(f"{text} is not a number from 0")
    return value


def pareto_front(
    scores: Sequence[float | None], costs: Sequence[Sequence[float | None]]
) -> list[bool | None]:
    """Whether each system is Pareto-optimal: no other is better in score or a cost and no worse in any.

    `costs` has a row for each system, lower being better: parameters, latency. None for a system that lacks
    its score or one of its costs; it beats no other (Ethayarajh and Jurafsky 2020). Raises ValueError for
    lengths that differ.
    """
    points = [
        None if score is None or None in row else (-score, *(cost for cost in row if cost is not None))
        for score, row in zip(scores, costs, strict=True)
    ]
    known = [point for point in points if point is not None]
    return [None if point is None else not any(_beats(other, point) for other in known) for point in points]


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(mine <= yours for mine, yours in zip(one, other, strict=True))
