"""The report: every score of a submission with its error bar, as one frozen record and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

SCHEMA = "gluebench.report/1"


class Score(NamedTuple):
    """One number as a fraction, with its 95 % interval."""

    value: float | None
    """None when the score is withheld."""
    low: float | None
    high: float | None
    """Ends of the interval; None without intervals, or where `withheld` says why."""
    n: int
    """Examples it rests on; tasks, for the macro-average."""
    withheld: str | None = None
    """Why the interval (or, by a policy, the value) is not given: "too few to say"."""
    covered: float | None = None
    """Share of the split's examples that had gold, when not all had."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values: 12 significant digits; `withheld` and `covered` only where they apply."""
        fields: dict[str, Any] = {
            "value": rounded(self.value),
            "low": rounded(self.low),
            "high": rounded(self.high),
            "n": self.n,
        }
        if self.withheld is not None:
            fields["withheld"] = self.withheld
        if self.covered is not None:
            fields["covered"] = rounded(self.covered)
        return fields


class TaskReport(NamedTuple):
    """The score of a task and of each of its metrics."""

    score: Score | None
    """Unweighted mean of the metrics (section 3.4); None while one of them is missing."""
    metrics: Mapping[str, Score]


class DiagnosticReport(NamedTuple):
    """A diagnostic set, whole and by each way of dividing it."""

    overall: Score
    coarse: Mapping[str, Score]
    fine: Mapping[str, Score]
    metadata: Mapping[str, Mapping[str, Score]]
    """Column of the metadata file ("direction", "domain") to value to score."""


class Report(NamedTuple):
    """What `grade` returns; its JSON is what the command prints, the site stores and the API serves."""

    benchmark: str
    split: str
    complete: bool
    """Whether every scored task has its score."""
    missing: tuple[str, ...]
    """Test files of scored tasks that were not there to score."""
    score: Score | None
    """The macro-average; None when incomplete."""
    tasks: Mapping[str, TaskReport]
    diagnostics: Mapping[str, DiagnosticReport | None]
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON-ready values, in a fixed order of keys."""
        return {
            "schema": SCHEMA,
            "benchmark": self.benchmark,
            "split": self.split,
            "complete": self.complete,
            "missing": list(self.missing),
            "score": self.score.as_dict() if self.score else None,
            "tasks": {
                name: {
                    "score": task.score.as_dict() if task.score else None,
                    "metrics": _scores(task.metrics),
                }
                for name, task in self.tasks.items()
            },
            "diagnostics": {
                name: None
                if diagnostic is None
                else {
                    "overall": diagnostic.overall.as_dict(),
                    "coarse": _scores(diagnostic.coarse),
                    "fine": _scores(diagnostic.fine),
                    **{column: _scores(values) for column, values in diagnostic.metadata.items()},
                }
                for name, diagnostic in self.diagnostics.items()
            },
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }

    def to_json(self) -> str:
        """The report as one JSON document, the same bytes for the same input."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _scores(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {name: score.as_dict() for name, score in scores.items()}


def rounded(value: float | None) -> float | None:
    """12 significant digits: the same bytes wherever the last bit of a sum may differ."""
    return None if value is None else float(f"{value:.12g}")
