"""The whole lint of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gluebench.analysis.lint.duplicates import duplicate_findings
from gluebench.analysis.lint.findings import ORDER, Finding, TaskLint, counted
from gluebench.analysis.lint.labels import label_findings
from gluebench.analysis.lint.leakage import leakage_findings
from gluebench.analysis.lint.shortcuts import shortcut_findings
from gluebench.analysis.lint.split import LintSplit
from gluebench.analysis.lint.texts import text_findings
from gluebench.analysis.lint.twins import twin_findings
from gluebench.analysis.power import DISAGREEMENTS, examples_needed, smallest_difference
from gluebench.benchmark import Role, Task
from gluebench.data import Example

POINT = 0.01
COARSE = 0.05
"""A test set that shows nothing below five points of difference is warned of."""


def lint_task(task: Task, splits: Mapping[str, Sequence[Example]]) -> TaskLint:
    """Every check on one task; `splits` are those at hand, test labels None where they are hidden."""
    parts = _parts(task, splits)
    found = [finding for part in parts for finding in text_findings(part)]
    found += _row_findings(task, parts)
    found += label_findings(task, parts)
    found += shortcut_findings(task, parts)
    found += (power_finding(task, part) for part in parts if part.role == "test")
    found += _not_at_hand(task, parts)
    return _in_order(task, parts, found)


def lint_rows(task: Task, splits: Mapping[str, Sequence[Example]]) -> TaskLint:
    """The checks of rows alone: repeated, contradicting, shared between splits, once under each label."""
    parts = _parts(task, splits)
    return _in_order(task, parts, _row_findings(task, parts))


def _parts(task: Task, splits: Mapping[str, Sequence[Example]]) -> list[LintSplit]:
    roles: dict[str, Role] = {split.name: role for file in task.files for role, split in file.splits.items()}
    return [LintSplit(name, examples, role=roles.get(name)) for name, examples in splits.items()]


def _row_findings(task: Task, parts: Sequence[LintSplit]) -> list[Finding]:
    found: list[Finding] = []
    for part in parts:
        found += duplicate_findings(part, score_range=task.score_range)
        found += twin_findings(task, part)
    return [*found, *leakage_findings(parts, score_range=task.score_range)]


def _in_order(task: Task, parts: Sequence[LintSplit], found: Sequence[Finding]) -> TaskLint:
    """The findings, errors first."""
    in_order = sorted(found, key=lambda finding: ORDER.index(finding.severity))
    private = any(part.role == "test" and part.labelled for part in parts)
    return TaskLint(task.name, tuple(in_order), private)


def power_finding(task: Task, split: LintSplit) -> Finding:
    """What differences the test split can show."""
    count = len(split.examples)
    where, check = split.name, "test size"
    if not task.words:
        text = f"{counted(count, 'row')}; for scores no figure is given, since it depends on the correlations"
        return Finding("note", check, where, count, text)
    smallest = [smallest_difference(count, share) for share in DISAGREEMENTS]
    needed = [examples_needed(POINT, share) for share in DISAGREEMENTS]
    text = (
        f"{counted(count, 'row')} can show {_listed(_points(each) for each in smallest)} points of accuracy "
        f"where two systems disagree on {_listed(f'{100 * share:g}' for share in DISAGREEMENTS)} % of them; "
        f"one point needs {_listed(f'{each:,}' for each in needed)} rows (80 % power, 5 % level)"
    )
    middle = smallest[1]
    coarse = middle is None or middle > COARSE
    advice = "Add test rows, or publish no ranking finer than this." if coarse else ""
    return Finding("warning" if coarse else "note", check, where, count, text, advice)


def _points(difference: float | None) -> str:
    return "none" if difference is None else f"{100 * difference:.1f}"


def _listed(parts: Iterator[str]) -> str:
    return " / ".join(parts)


def _not_at_hand(task: Task, parts: Sequence[LintSplit]) -> Iterator[Finding]:
    """Which checks could not be made, so that silence is not taken for a clean bill."""
    present = {part.name for part in parts}
    for name in task.splits:
        if name not in present:
            yield Finding(
                "note", "not checked", name, 0, "the split is not there, so nothing was compared with it"
            )
    for part in parts:
        if part.role == "test" and not part.labelled:
            text = "no gold labels are given, so shares and shortcuts were not looked at here"
            yield Finding("note", "not checked", part.name, 0, text)
