"""Labels across splits: shares that shift, words that one split lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gluebench.analysis.compare.words import p_words
from gluebench.analysis.lint.findings import Finding, Severity, percent
from gluebench.analysis.lint.priors import shift
from gluebench.analysis.lint.split import LintSplit
from gluebench.benchmark import Task

LEVEL = 0.01
"""A shift is told from chance below this p-value."""
LARGE = 0.02
"""A difference of shares that is worth a warning: two points."""
PARTS = 5
"""A range of scores is cut into so many equal parts, whose shares are compared."""


class _Table(NamedTuple):
    """Labels, or parts of a range, and how often each occurs in two splits."""

    names: tuple[str, ...]
    one: list[int]
    other: list[int]


def label_findings(task: Task, splits: Sequence[LintSplit]) -> Iterator[Finding]:
    """Prior shift from the training split to each labelled other, and labels that are missing."""
    labelled = [split for split in splits if split.labelled]
    trains = [split for split in labelled if split.role is None]
    for split in labelled:
        yield from _absent(task, split)
    for train in trains[:1]:
        for split in labelled:
            if split.role is not None:
                yield _shifted(task, train, split)


def _absent(task: Task, split: LintSplit) -> Iterator[Finding]:
    found = {example.label for example in split.examples}
    for word in task.words:
        if word not in found:
            severity: Severity = "warning" if split.role is None else "note"
            text = f'no row has the label "{word}"'
            yield Finding(severity, "missing label", split.name, 0, text, "Add such rows, or drop the label.")


def _shifted(task: Task, train: LintSplit, split: LintSplit) -> Finding:
    names, counts, others = _counts(task, train, split)
    found = shift(counts, others)
    shares = [
        f"{name} {percent(one / sum(counts))} and {percent(other / sum(others))}"
        for name, one, other in zip(names, counts, others, strict=True)
    ]
    listed = ", ".join(shares[:4]) + (", ..." if len(shares) > 4 else "")
    real = found.p < LEVEL and found.largest >= LARGE
    told = "differ beyond chance" if found.p < LEVEL else "do not differ beyond chance"
    text = f"the shares {told}: {listed} (chi-squared {found.statistic:.2f}, {p_words(found.p)})"
    advice = "Draw the splits anew from one pool, or say in the notes that they differ." if real else ""
    where = f"{train.name}, {split.name}"
    return Finding("warning" if real else "note", "prior shift", where, found.largest, text, advice)


def _counts(task: Task, one: LintSplit, other: LintSplit) -> _Table:
    if task.words:
        found = [Counter(example.label for example in split.examples) for split in (one, other)]
        return _Table(task.words, *([each[word] for word in task.words] for each in found))
    low, high = task.score_range or (0.0, 1.0)
    step = (high - low) / PARTS
    places = [
        Counter(
            min(PARTS - 1, max(0, int((float(example.label or 0) - low) / step)))
            for example in split.examples
        )
        for split in (one, other)
    ]
    names = tuple(f"{low + at * step:g} to {low + (at + 1) * step:g}" for at in range(PARTS))
    return _Table(names, *([each[at] for at in range(PARTS)] for each in places))
