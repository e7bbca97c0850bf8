"""A report read back from its JSON, as a leaderboard sends it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.scoring.report import SCHEMA, DiagnosticReport, Report, Score, TaskReport

_PARTS = ("overall", "coarse", "fine")


def report_of(values: Mapping[str, Any]) -> Report:
    """The report whose `as_dict` gave these values. Raises ValueError for another schema."""
    if values.get("schema") != SCHEMA:
        raise ValueError(f"this is no report of the schema {SCHEMA}, but {values.get('schema')!r}")
    return Report(
        benchmark=values["benchmark"],
        split=values["split"],
        complete=values["complete"],
        missing=tuple(values["missing"]),
        score=_score(values["score"]),
        tasks={
            name: TaskReport(_score(task["score"]), _scores(task["metrics"]))
            for name, task in values["tasks"].items()
        },
        diagnostics={
            name: None if found is None else diagnostic_of(found)
            for name, found in values["diagnostics"].items()
        },
        warnings=tuple(values["warnings"]),
        provenance=values["provenance"],
    )


def diagnostic_of(values: Mapping[str, Any]) -> DiagnosticReport:
    """A report's part on one diagnostic set, from its JSON."""
    metadata = {column: _scores(found) for column, found in values.items() if column not in _PARTS}
    return DiagnosticReport(
        Score(**values["overall"]), _scores(values["coarse"]), _scores(values["fine"]), metadata
    )


def _scores(values: Mapping[str, Any]) -> dict[str, Score]:
    return {name: Score(**score) for name, score in values.items()}


def _score(values: Mapping[str, Any] | None) -> Score | None:
    return None if values is None else Score(**values)
