"""Texts that stand in a split once under every label: both rows together say more than the task asks."""

from __future__ import annotations

from collections.abc import Iterator

from gluebench.analysis.lint.findings import Finding, percent, shown
from gluebench.analysis.lint.split import LintSplit
from gluebench.benchmark import Task

NEARLY_ALL = 0.8
"""Share of a split's rows from which on this is its structure and no chance."""


def twin_findings(task: Task, split: LintSplit) -> Iterator[Finding]:
    """Whether nearly every text of a column stands exactly once with each label.

    It is how the first release of QNLI was made: of the two sentences that stand beside a question one has
    the answer, and choosing between them is easier than the task as the paper describes it (footnote 3).
    """
    if not split.labelled or len(task.words) < 2 or len(task.columns) < 2:
        return
    for column, name in enumerate(task.columns):
        rows: dict[str, list[int]] = {}
        for position, key in enumerate(split.exact):
            rows.setdefault(key[column], []).append(position)
        twins = [
            positions
            for positions in rows.values()
            if sorted(str(split.examples[position].label) for position in positions) == sorted(task.words)
        ]
        share = sum(map(len, twins)) / len(split.examples)
        if share >= NEARLY_ALL:
            text = f"nearly every {name} stands exactly once with each label ({percent(share)} of the rows)"
            advice = (
                f"A model that compares the rows of one {name} answers an easier question; draw them apart."
            )
            examples = [
                " / ".join(str(split.examples[position].index) for position in positions)
                for positions in twins
            ]
            yield Finding(
                "warning",
                "twins",
                split.name,
                share,
                f"{text}{_release(task, split)}",
                advice,
                shown(examples),
            )


def _release(task: Task, split: LintSplit) -> str:
    """What other release the manifest knows of; structure tells them apart where sizes need not."""
    names = (
        f"{version.name}, {version.note}"
        for file in task.files
        if split.name in {each.name for each in file.splits.values()}
        for version in file.other_versions
    )
    return "".join(f", as in {name}" for name in names)
