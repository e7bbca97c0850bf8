"""Small categories of a private diagnostic set are not reported: scores on few examples give labels away."""

from __future__ import annotations

from collections.abc import Mapping

from gluebench.scoring.report import DiagnosticReport, Score


def withhold(report: DiagnosticReport, below: int) -> DiagnosticReport:
    """The report without the value and interval of every category of fewer than `below` examples; n stays."""
    return DiagnosticReport(
        _withheld(report.overall, below),
        _all(report.coarse, below),
        _all(report.fine, below),
        {column: _all(values, below) for column, values in report.metadata.items()},
    )


def _all(scores: Mapping[str, Score], below: int) -> dict[str, Score]:
    return {name: _withheld(score, below) for name, score in scores.items()}


def _withheld(score: Score, below: int) -> Score:
    if score.n >= below:
        return score
    return score._replace(value=None, low=None, high=None, withheld=f"fewer than {below} examples")
