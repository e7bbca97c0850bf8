"""A plan as lines to be looked at before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gluebench.data.organise.plan import NOT_STATED, TaskPlan


class Line(NamedTuple):
    """One decision."""

    what: str
    found: str
    told: bool
    """Whether the organiser gave it; it was detected otherwise."""


def summary(task: TaskPlan) -> Iterator[Line]:
    """Every decision on one task."""
    columns, labels = task.columns, task.labels
    for split, examples in task.splits.items():
        hidden = "" if split != "test" or task.labelled else ", no labels"
        yield Line(split, f"{len(examples):,} rows ({task.formats[split]}){hidden}", False)
    yield Line("input columns", ", ".join(columns.inputs), "inputs" in columns.told)
    yield Line("label column", columns.label, "label" in columns.told)
    yield Line("index column", columns.row_index or "none: rows are numbered from 0", "index" in columns.told)
    yield Line("left out", ", ".join(columns.ignored) or "nothing", "ignored" in columns.told)
    yield from _scale(task)
    names = [name + (f" of {labels.positive}" if name == "f1" else "") for name in labels.metrics]
    yield Line("metrics", ", ".join(names), "metrics" in labels.told)
    yield Line("licence", task.licence, task.licence != NOT_STATED)


def _scale(task: TaskPlan) -> Iterator[Line]:
    labels = task.labels
    yield Line("kind", labels.kind, "kind" in labels.told)
    if labels.score_range:
        yield Line("range", "{:g} to {:g}".format(*labels.score_range), "score_range" in labels.told)
    else:
        shares = [f"{word} {100 * labels.shares[word]:.1f} %" for word in labels.words]
        yield Line("labels", ", ".join(shares), "words" in labels.told)
