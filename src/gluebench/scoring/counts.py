"""Metrics that depend on the examples only through how often each (gold, predicted) pair occurs.

A confusion table is indexed `table[gold][predicted]`. Its cells are exact ints for a score, and float
arrays of one shape for resamples: each formula below is written once and serves both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gluebench.submission.column import bits

Table = Any
"""Sequence of sequences of counts: ints, or float arrays of one shape; an array with these two axes first."""

SIXTEEN = 16
"""Most classes whose pairs of codes still fit one byte."""


def confusion(gold: bytes, predicted: bytes, *, classes: int) -> list[list[int]]:
    """The confusion table of two columns of label codes below `classes`, of one length.

    The columns are taken as large integers, so that counting runs at the speed of memory.
    """
    if classes == 2:
        return _two_by_two(gold, predicted)
    if classes > SIXTEEN:
        pairs = Counter(zip(gold, predicted, strict=True))
        return [[pairs[g, p] for p in range(classes)] for g in range(classes)]
    return table_of_cells(joined(gold, predicted, classes=classes), classes=classes)


def joined(gold: bytes, predicted: bytes, *, classes: int) -> bytes:
    """The cell of each example, gold * classes + predicted, for up to SIXTEEN classes."""
    cells = int.from_bytes(gold, "little") * classes + int.from_bytes(predicted, "little")
    return cells.to_bytes(len(gold), "little")  # no carries: every cell is below 256


def table_of_cells(cells: bytes, *, classes: int) -> list[list[int]]:
    """The confusion table of examples of which each is given by its cell."""
    return [[cells.count(g * classes + p) for p in range(classes)] for g in range(classes)]


def _two_by_two(gold: bytes, predicted: bytes) -> list[list[int]]:
    first, second = bits(gold), bits(predicted)
    both = (first.number & second.number).bit_count()
    only_gold, only_predicted = first.ones - both, second.ones - both
    return [[len(gold) - both - only_gold - only_predicted, only_predicted], [only_gold, both]]


def ratio(above: Any, below: Any) -> Any:
    """`above / below`, and 0.0 where that is not defined."""
    if isinstance(below, int | float):
        return above / below if below else 0.0
    import numpy as np

    below = np.asarray(below, np.float64)
    return np.divide(above, below, out=np.zeros(below.shape), where=below != 0)


def total(table: Table) -> Any:
    """The number of examples."""
    return sum(map(sum, table))


def gold_counts(table: Table) -> list[Any]:
    """Examples of each gold label."""
    return [sum(row) for row in table]


def predicted_counts(table: Table) -> list[Any]:
    """Examples of each predicted label."""
    return [sum(column) for column in zip(*table, strict=True)]


def hits(table: Table) -> Any:
    """Examples whose prediction is the gold label."""
    return sum(row[code] for code, row in enumerate(table))


def accuracy_of(table: Table, _positive: int) -> Any:
    """Share of the examples whose prediction is the gold label."""
    return ratio(hits(table), total(table))


def f1_of(table: Table, positive: int) -> Any:
    """Harmonic mean of precision and recall of the positive label."""
    both = table[positive][positive]
    return ratio(2 * both, gold_counts(table)[positive] + predicted_counts(table)[positive])


def r_k_of(table: Table, _positive: int) -> Any:
    """R_K (Gorodkin 2004, equation 8); for two labels it is the Matthews correlation."""
    number, gold, predicted = total(table), gold_counts(table), predicted_counts(table)
    cross = hits(table) * number - sum(g * p for g, p in zip(gold, predicted, strict=True))
    spread_gold = number * number - sum(g * g for g in gold)
    spread_predicted = number * number - sum(p * p for p in predicted)
    return ratio(cross, (spread_gold * spread_predicted) ** 0.5)


def _never(_table: Table, _positive: int) -> str | None:
    return None


def _no_positive(table: Table, positive: int) -> str | None:
    if gold_counts(table)[positive] + predicted_counts(table)[positive]:
        return None
    return "neither gold nor predictions have the positive label"


def _one_label(table: Table, _positive: int) -> str | None:
    for name, counts in (
        ("the predictions", predicted_counts(table)),
        ("the gold labels", gold_counts(table)),
    ):
        if sum(count > 0 for count in counts) < 2:
            return f"{name} are all the same"
    return None


class CountMetric(NamedTuple):
    """A metric as a formula over the cells of the confusion table."""

    of: Callable[[Table, int], Any]
    """The value, from the table and the code of the positive label (which all but F1 ignore)."""
    undefined: Callable[[Table, int], str | None]
    """Why the value is 0.0 by convention, for a table of ints; None where it is defined."""
    proportion: bool = False
    """Whether it is a share of independent examples, so that Wilson's interval holds."""


COUNT_METRICS: Mapping[str, CountMetric] = {
    "accuracy": CountMetric(accuracy_of, _never, proportion=True),
    "f1": CountMetric(f1_of, _no_positive),
    "matthews_correlation": CountMetric(r_k_of, _one_label),
    "r_k": CountMetric(r_k_of, _one_label),
}
