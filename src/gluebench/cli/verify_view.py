"""What `gluebench data verify` found, as one table with the differing rows explained under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.cli.formats import Records
from gluebench.cli.output import Output
from gluebench.cli.plain import plain
from gluebench.cli.tables import Section, Table
from gluebench.data.verify.differences import summary

if TYPE_CHECKING:
    from gluebench.analysis.lint import Finding, TaskLint
    from gluebench.data.verify.check import SplitCheck
    from gluebench.data.verify.differences import Difference

COLUMNS = ("task", "split", "rows", "published", "content", "why")
FIELDS = ("task", "split", "rows", "published", "state", "fingerprint", "reason", "kind", "row", "detail")
ROWS_SHOWN = 5


def verify_output(checks: Sequence[SplitCheck], lints: Sequence[TaskLint], folder: Path) -> Output:
    """The checks in every form, and what was found of the rows themselves."""
    tasks = dict.fromkeys(check.task for check in checks)
    sections = tuple(Section(tuple(_row(check) for check in checks if check.task == task)) for task in tasks)
    table = Table(COLUMNS, sections, title=f"Data in {folder}", right=frozenset({2, 3}))
    words = [line for check in checks for line in _explained(check)]
    words += [f"{lint.task}, {_found(finding)}" for lint in lints for finding in lint.findings]
    records = Records(FIELDS, tuple(row for check in checks for row in _records(check)))
    data = {
        "schema": "gluebench.verify/1",
        "splits": [_data(check) for check in checks],
        "findings": {lint.task: plain(lint.findings) for lint in lints},
    }
    return Output(data, (table,), records, words=("", *words) if words else ())


def _found(finding: Finding) -> str:
    rows = f": {'; '.join(finding.rows)}" if finding.rows else ""
    return f"{finding.where}: {finding.text}{rows}"


def _row(check: SplitCheck) -> tuple[str, ...]:
    rows = "-" if check.rows is None else f"{check.rows:,}"
    return (check.task, check.split, rows, f"{check.size:,}", check.state, check.reason)


def _explained(check: SplitCheck) -> Iterator[str]:
    """A sentence for each kind of difference, with the first rows."""
    for kind, count in summary(check.differences).items():
        rows = [each for each in check.differences if each.kind == kind]
        shown = ", ".join(_place(each) for each in rows[:ROWS_SHOWN])
        more = f" and {count - ROWS_SHOWN:,} more" if count > ROWS_SHOWN else ""
        plural = "row" if count == 1 else "rows"
        yield f"{check.task}, {check.split}: {count:,} {plural}: {kind}: {shown}{more}"


def _place(difference: Difference) -> str:
    return f"{difference.row} ({difference.detail})" if difference.detail else f"{difference.row}"


def _records(check: SplitCheck) -> Iterator[tuple[object, ...]]:
    start = (check.task, check.split, check.rows, check.size, check.state, check.fingerprint, check.reason)
    if not check.differences:
        yield (*start, None, None, None)
    for each in check.differences:
        yield (*start, each.kind, each.row, each.detail or None)


def _data(check: SplitCheck) -> dict[str, Any]:
    return {
        "task": check.task,
        "split": check.split,
        "state": check.state,
        "rows": check.rows,
        "published": check.size,
        "fingerprint": check.fingerprint or None,
        "reason": check.reason,
        "kinds": summary(check.differences),
        "differences": [each._asdict() for each in check.differences],
    }
