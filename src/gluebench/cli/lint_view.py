"""A lint as an answer of the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gluebench.cli.formats import Records
from gluebench.cli.output import Output
from gluebench.cli.plain import plain
from gluebench.cli.tables import Section, Table

if TYPE_CHECKING:
    from gluebench.analysis.lint import Finding, TaskLint

SCHEMA = "gluebench.lint/1"
PRIVATE = "Keep this report as private as the gold labels: it tells of them."


def lint_output(name: str, lints: Sequence[TaskLint]) -> Output:
    """The findings task by task."""
    totals: Counter[str] = Counter(finding.severity for lint in lints for finding in lint.findings)
    sections = tuple(Section(tuple(map(_cells, lint.findings)), lint.task) for lint in lints)
    table = Table(
        ("", "check", "where", "finding", "what to do"),
        sections,
        title=f"Lint of {name}",
        notes=(PRIVATE,) if any(lint.private for lint in lints) else (),
    )
    fields = ("task", "severity", "check", "where", "number", "text", "advice", "rows")
    records = tuple(
        (lint.task, *finding[:-1], "; ".join(finding.rows)) for lint in lints for finding in lint.findings
    )
    data = {
        "schema": SCHEMA,
        "benchmark": name,
        "errors": totals["error"],
        "warnings": totals["warning"],
        "tasks": {lint.task: plain(lint.findings) for lint in lints},
    }
    return Output(data, (table,), Records(fields, records), (_verdict(totals),))


def _verdict(totals: Counter[str]) -> str:
    """The sentence that a lint ends in."""
    counts = [f"{totals[each]} {each}{'s' * (totals[each] != 1)}" for each in ("error", "warning", "note")]
    return f"{', '.join(counts[:2])} and {counts[2]}."


def _cells(finding: Finding) -> tuple[str, ...]:
    rows = f" Rows: {'; '.join(finding.rows)}." if finding.rows else ""
    text = f"{finding.text[:1].upper()}{finding.text[1:]}.{rows}"
    return finding.severity, finding.check, finding.where, text, finding.advice
