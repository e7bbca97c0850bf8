"""What is wrong with a benchmark's data, or should be known of it (docs/how-to/organize.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gluebench.analysis.lint.findings import ORDER, Finding, LintSplit, Severity, TaskLint
from gluebench.analysis.lint.labels import label_findings, power_finding
from gluebench.analysis.lint.repeats import duplicate_findings, leakage_findings, text_findings, twin_findings
from gluebench.analysis.lint.shortcuts import shortcut_findings
from gluebench.benchmark import Benchmark, Role, Task
from gluebench.benchmark.figures import counted
from gluebench.data import DataError, Example, load_split
from gluebench.data.errors import refuse
from gluebench.data.home import split_file, task_folder
from gluebench.scoring import read_gold
from gluebench.submission import Column
from gluebench.submission.forms import values_of

__all__ = ["Finding", "Severity", "TaskLint", "lint_rows", "lint_task", "read_splits"]

Splits = dict[str, list[Example]]


def lint_task(task: Task, splits: Mapping[str, Sequence[Example]]) -> TaskLint:
    """Every check on one task; `splits` are those at hand, test labels None where they are hidden."""
    lint_splits = _lint_splits(task, splits)
    findings: list[Finding] = []
    for split in lint_splits:
        findings += text_findings(split)
    findings += _row_findings(task, lint_splits)
    if task.form in ("labels", "numbers"):
        findings += label_findings(task, lint_splits)
        findings += shortcut_findings(task, lint_splits)
    else:
        text = f"shares and shortcuts are for labels and numbers, and the answers are {task.form}"
        findings.append(Finding("note", "not checked", "all", 0, text))
    for split in lint_splits:
        if split.role == "test":
            findings.append(power_finding(task, split))
    findings += _checks_not_made(task, lint_splits)
    return _in_order(task, lint_splits, findings)


def lint_rows(task: Task, splits: Mapping[str, Sequence[Example]]) -> TaskLint:
    """The checks of rows alone: repeated, contradicting, shared between splits, once under each label."""
    lint_splits = _lint_splits(task, splits)
    return _in_order(task, lint_splits, _row_findings(task, lint_splits))


def _lint_splits(task: Task, splits: Mapping[str, Sequence[Example]]) -> list[LintSplit]:
    roles: dict[str, Role] = {}
    for file in task.files:
        for role, split in file.splits.items():
            roles[split.name] = role
    return [LintSplit(name, examples, role=roles.get(name)) for name, examples in splits.items()]


def _row_findings(task: Task, splits: Sequence[LintSplit]) -> list[Finding]:
    findings: list[Finding] = []
    for split in splits:
        findings += duplicate_findings(split, score_range=task.score_range)
        findings += twin_findings(task, split)
    findings += leakage_findings(splits, score_range=task.score_range)
    return findings


def _in_order(task: Task, splits: Sequence[LintSplit], findings: Sequence[Finding]) -> TaskLint:
    """The findings, errors first."""
    in_order = sorted(findings, key=lambda finding: ORDER.index(finding.severity))
    private = any(split.role == "test" and split.labeled for split in splits)
    return TaskLint(task.name, tuple(in_order), private)


def _checks_not_made(task: Task, splits: Sequence[LintSplit]) -> Iterator[Finding]:
    """Yield a note of each check that could not be made, so that silence is not taken for success."""
    present = {split.name for split in splits}
    for name in task.splits:
        if name not in present:
            text = "the split is not there, so nothing was compared with it"
            yield Finding("note", "not checked", name, 0, text)
    for split in splits:
        if split.role == "test" and not split.labeled:
            text = "no gold labels are given, so shares and shortcuts were not looked at here"
            yield Finding("note", "not checked", split.name, 0, text)


def read_splits(
    folder: str | os.PathLike[str], benchmark: Benchmark, gold: str | os.PathLike[str] | None
) -> dict[str, Splits]:
    """The splits of every task that a folder holds; a split without a file is left out.

    Raises DataError for wrong rows and for a folder without any split, GoldError for wrong gold.
    """
    splits_of: dict[str, Splits] = {}
    problems: list[str] = []
    for task in benchmark.tasks:
        splits_of[task.name] = {}
        try:
            home = task_folder(Path(folder), benchmark, task)
        except DataError:
            continue  # no folder: no split is at hand
        present = [name for name, split in task.splits.items() if split_file(home, split)]
        try:
            splits_of[task.name] = {name: load_split(folder, benchmark, task.name, name) for name in present}
        except DataError as error:
            problems += error.problems
    refuse(problems)
    if not any(splits_of.values()):
        first = Path(folder, benchmark.tasks[0].name, next(iter(benchmark.tasks[0].splits.values())).file)
        raise DataError(f"{folder}: holds no split of {benchmark.name}; expected files such as {first}")
    if gold is None:
        return splits_of
    columns = read_gold(gold, benchmark).columns
    for file in benchmark.files("test"):
        splits = splits_of[file.task]
        name = file.splits["test"].name
        if file.name in columns and name in splits:
            where = f"{file.task}, {name}"
            task = benchmark.task(file.task)
            splits[name] = with_labels(splits[name], columns[file.name], task=task, where=where)
    return splits_of


def with_labels(examples: Sequence[Example], column: Column, *, task: Task, where: str) -> list[Example]:
    """The examples with the gold's labels. Raises DataError for those that it has no label for."""
    labels = dict(zip(column.row_indices, values_of(column, task, gold=True), strict=True))
    absent = [example.index for example in examples if example.index not in labels]
    if absent:
        listed = f"{counted(len(absent), 'example')}, the first of index {absent[0]}"
        raise DataError(f"{where}: the gold has no label for {listed}")
    return [replace(example, label=labels[example.index]) for example in examples]
