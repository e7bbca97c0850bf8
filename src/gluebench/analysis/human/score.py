"""Scoring what people answered: each of them as a system is scored, their mean, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gluebench.analysis.human.sheets import Draw, Sheet
from gluebench.benchmark import Metric, Task
from gluebench.data import DataError
from gluebench.scoring import Gold, Score
from gluebench.scoring.inference import file_bars, jackknife_bar
from gluebench.scoring.intervals import FEWEST_UNITS, TOO_FEW
from gluebench.scoring.metrics import CountMetric, metric_function, point
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import fields_of
from gluebench.submission import Column

SCHEMA = "gluebench.agreement/1"
PAPER_KAPPA = {("glue", "AX"): 0.73}
"""Fleiss' kappa of section 4; its mean score of the annotators stands in the manifest."""
Floats = NDArray[np.float64]


class Blank(NamedTuple):
    """An item that an annotator left without a label."""

    annotator: str
    item: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """What `score_sheets` returns; values are fractions."""

    task: str
    metric: str
    annotators: dict[str, Score]
    """Of each annotator, on the items that they labelled."""
    mean: Score
    """The mean over annotators; its `n` counts items."""
    kappa: Score
    """Fleiss' kappa; its `n` counts the items that all of them labelled."""
    blanks: tuple[Blank, ...]
    human: float | None
    """The published human score of the task."""
    published_kappa: float | None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        values = {"schema": SCHEMA, **fields_of(self)}
        return values | {"published": {"human": values.pop("human"), "kappa": values.pop("published_kappa")}}


def score_sheets(drawn: Draw, sheets: Sequence[Sheet], gold: Gold) -> Agreement:
    """Score the annotators against gold, by the task's first metric, and their agreement with each other.

    Intervals are for other pairs of sentences, not for other people: the jackknife leaves out whole pairs
    for all annotators together. An item left blank is left out of that annotator's score, and of kappa for
    all. Raises DataError where there is no gold for an item, or the metric is none of label counts.
    """
    task = gold.benchmark.task(drawn.task)
    metric = task.metrics[0]
    if not isinstance(metric_function(metric.function), CountMetric):
        raise DataError([f"{task.name} is scored by {metric.function}; expected a metric of labels"])
    truth = _gold_codes(drawn, task, gold)
    of_item = {item: number for number, pair in enumerate(drawn.pairs) for item in pair}
    units = [of_item[item] for item in range(1, len(drawn.items) + 1)]  # the pair that each belongs to
    answered = [_pairs(task, truth, units, sheet) for sheet in sheets]
    scores = {}
    for sheet, pairs in zip(sheets, answered, strict=True):
        value = point(metric, pairs)
        scores[sheet.name] = Score.of(value.value, file_bars([metric], pairs, [value])[0], len(pairs))
    published = next((row.scores.get(metric.name) for row in task.references if row.name == "Human"), None)
    return Agreement(
        task=task.name,
        metric=metric.name,
        annotators=scores,
        mean=_mean(metric, answered, scores, units=len(drawn.pairs), items=len(drawn.items)),
        kappa=_kappa(sheets, units, classes=len(task.labels)),
        blanks=tuple(
            Blank(sheet.name, item)
            for sheet in sheets
            for item, label in enumerate(sheet.labels, 1)
            if label is None
        ),
        human=published,
        published_kappa=PAPER_KAPPA.get((gold.benchmark.name, task.name)),
    )


def _gold_codes(drawn: Draw, task: Task, gold: Gold) -> list[int]:
    """The gold label of each item."""
    file = task.metrics[0].file
    if file not in gold.columns:
        raise DataError([f"there are no gold labels for {file}; the annotators cannot be scored"])
    column = gold.columns[file]
    codes = dict(zip(column.row_indices, column.codes, strict=True))
    lacking = [index for index in drawn.items if index not in codes]
    if lacking:
        raise DataError([f"{file}: no gold label for index {index}, which was drawn" for index in lacking])
    return [codes[index] for index in drawn.items]


def _pairs(task: Task, truth: Sequence[int], units: Sequence[int], sheet: Sheet) -> Pairs:
    """Gold and answers of the items that an annotator labelled, grouped by pair."""
    given = [(g, p, unit) for g, p, unit in zip(truth, sheet.labels, units, strict=True) if p is not None]
    if not given:
        raise DataError([f"{sheet.name}: every label is blank; take the annotator out by drawing with fewer"])
    gold, predicted, groups = zip(*given, strict=True)
    return Pairs(Column(task.words, bytes(gold)), Column(task.words, bytes(predicted)), groups)


def _mean(
    metric: Metric, answered: Sequence[Pairs], scores: Mapping[str, Score], *, units: int, items: int
) -> Score:
    """The mean over annotators; its interval is the jackknife's over pairs, each left out for everybody."""
    value = float(np.mean([score.value for score in scores.values()]))
    function = metric_function(metric.function)
    assert isinstance(function, CountMetric)
    left_out = []  # for each annotator (units,): the metric without each pair of sentences
    for pairs in answered:
        classes = len(pairs.gold.labels)
        at = np.asarray(pairs.groups) * classes**2 + np.frombuffer(pairs.cells, np.uint8)
        tables = np.bincount(at, minlength=units * classes**2).reshape(units, classes, classes)
        tables = tables.transpose(1, 2, 0)
        left_out.append(function.of(tables.sum(axis=2, keepdims=True) - tables, pairs.code(metric.positive)))
    return _with_interval(value, np.mean(left_out, axis=0), n=items, lowest=function.lowest)


def _with_interval(value: float, left_out: Floats, *, n: int, lowest: float) -> Score:
    """A score with the jackknife's interval, from its values (units,) without each unit."""
    if len(left_out) < FEWEST_UNITS:
        return Score(value, None, None, n, TOO_FEW)
    return Score.of(value, jackknife_bar(value, left_out, np.ones_like(left_out, np.int64), lowest=lowest), n)


def _kappa(sheets: Sequence[Sheet], units: Sequence[int], *, classes: int) -> Score:
    whole = [item for item in range(len(units)) if all(sheet.labels[item] is not None for sheet in sheets)]
    if not whole or len(sheets) < 2:
        raise DataError(["no item was labelled by two annotators or more: there is no agreement to measure"])
    labels = [[sheet.labels[item] or 0 for item in whole] for sheet in sheets]
    counts = label_counts(labels, classes=classes)
    of_item = np.asarray(units)[whole]
    with np.errstate(invalid="ignore"):  # without the only unit there is nothing left
        left_out = weighted_kappas(counts, of_item != np.unique(of_item)[:, np.newaxis])
    return _with_interval(fleiss_kappa(counts), left_out, n=len(whole), lowest=-1.0)


def fleiss_kappa(counts: ArrayLike) -> float:
    """Fleiss' kappa (Fleiss 1971): agreement beyond what the labels' shares alone would give.

    `counts` is (items, labels): how many annotators gave each label to each item, as many to every item
    and at least two. At most 1; 1.0 where everybody gave one label throughout, although nothing is known of
    chance there. Raises ValueError for a table of another kind.
    """
    table = _table(counts)
    return float(weighted_kappas(table, np.ones((1, len(table))))[0])


def weighted_kappas(counts: ArrayLike, weights: ArrayLike) -> Floats:
    """(rows,): kappa with each item taken as often as its weight; `weights` is (rows, items)."""
    table, times = _table(counts), np.asarray(weights, np.float64)
    raters = table[0].sum()
    agreeing = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    items = times.sum(axis=1)
    observed = times @ agreeing / items
    shares = times @ table / (items * raters)[:, np.newaxis]
    chance = (shares * shares).sum(axis=1)
    beyond = 1 - chance
    known = beyond > 1e-12
    kappas: Floats = np.where(known, (observed - chance) / np.where(known, beyond, 1.0), 1.0)
    return kappas


def label_counts(labels: Sequence[Sequence[int]], *, classes: int) -> NDArray[np.int64]:
    """(items, classes): from (annotators, items) label codes, all of them given."""
    codes = np.asarray(labels, np.int64)
    return np.stack([(codes == code).sum(axis=0) for code in range(classes)], axis=1)


def _table(counts: ArrayLike) -> Floats:
    table = np.asarray(counts, np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"expected a table of items by labels, not an array of shape {table.shape}")
    raters = table.sum(axis=1)
    if (table < 0).any() or (raters != raters[0]).any() or raters[0] < 2:
        raise ValueError(
            "every item needs as many labels, two or more; leave out the items that somebody left blank"
        )
    return table
