"""Score human annotators: each one like a system, their mean, and their agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gluebench.analysis.human.sheets import Draw, Sheet
from gluebench.benchmark import Metric, Task
from gluebench.data import DataError
from gluebench.scoring import Gold, Score
from gluebench.scoring.inference import file_intervals, jackknife_interval
from gluebench.scoring.intervals import FEWEST_UNITS, TOO_FEW
from gluebench.scoring.metrics import CountMetric, function_of, point
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import fields_of
from gluebench.submission import Column

SCHEMA = "gluebench.agreement/1"
PAPER_KAPPA = {("glue", "AX"): 0.73}
"""Fleiss' kappa of section 4; its mean score of the annotators stands in the manifest."""
Floats = NDArray[np.float64]


class BlankItem(NamedTuple):
    """An item that an annotator left without a label."""

    annotator: str
    item: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """What `score_sheets` returns; values are fractions."""

    task: str
    metric: str
    annotators: dict[str, Score]
    """Each annotator's score on the items that they labeled."""
    mean: Score
    """The mean over annotators; its `n` counts items."""
    kappa: Score
    """Fleiss' kappa; its `n` counts the items that all of them labeled."""
    blanks: tuple[BlankItem, ...]
    human: float | None
    """The published human score of the task."""
    published_kappa: float | None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        values = {"schema": SCHEMA, **fields_of(self)}
        return values | {"published": {"human": values.pop("human"), "kappa": values.pop("published_kappa")}}


def score_sheets(drawn: Draw, sheets: Sequence[Sheet], gold: Gold) -> Agreement:
    """Score the annotators against gold, by the task's first metric, and their agreement with each other.

    Intervals cover the choice of sentence pairs, not of annotators: the jackknife leaves out one pair at a
    time, for all annotators. An item left blank is left out of that annotator's score, and of kappa for
    all. Raises DataError if an item has no gold label, or if the metric does not count labels.
    """
    task = gold.benchmark.task(drawn.task)
    metric = task.metrics[0]
    if not isinstance(function_of(metric), CountMetric):
        raise DataError(f"{task.name} is scored by {metric.function}; expected a metric of labels")
    gold_codes = _gold_codes(drawn, task, gold)
    units = [0] * len(drawn.items)  # the pair of each item
    for number, pair in enumerate(drawn.pairs):
        for item in pair:
            units[item - 1] = number
    answers = [_pairs(task, gold_codes, units, sheet) for sheet in sheets]
    scores = {}
    blanks = []
    for sheet, pairs in zip(sheets, answers, strict=True):
        value = point(metric, pairs)
        [interval] = file_intervals([metric], pairs, [value])
        scores[sheet.name] = Score.of(value.value, interval, len(pairs))
        for item, label in enumerate(sheet.labels, 1):
            if label is None:
                blanks.append(BlankItem(sheet.name, item))
    published = next((row.scores.get(metric.name) for row in task.references if row.name == "Human"), None)
    return Agreement(
        task=task.name,
        metric=metric.name,
        annotators=scores,
        mean=_mean_score(metric, answers, scores, units=len(drawn.pairs), items=len(drawn.items)),
        kappa=_kappa(sheets, units, classes=len(task.labels)),
        blanks=tuple(blanks),
        human=published,
        published_kappa=PAPER_KAPPA.get((gold.benchmark.lineage[-1], task.name)),
    )


def _gold_codes(drawn: Draw, task: Task, gold: Gold) -> list[int]:
    """The gold label of each item."""
    file = task.metrics[0].file
    if file not in gold.columns:
        raise DataError(f"there are no gold labels for {file}; the annotators cannot be scored")
    column = gold.columns[file]
    codes = dict(zip(column.row_indices, column.codes, strict=True))
    lacking = [index for index in drawn.items if index not in codes]
    if lacking:
        raise DataError([f"{file}: no gold label for index {index}, which was drawn" for index in lacking])
    return [codes[index] for index in drawn.items]


def _pairs(task: Task, gold_codes: Sequence[int], units: Sequence[int], sheet: Sheet) -> Pairs:
    """Gold and answers of the items that an annotator labeled, grouped by pair."""
    gold = []
    predicted = []
    groups = []
    for code, label, unit in zip(gold_codes, sheet.labels, units, strict=True):
        if label is not None:
            gold.append(code)
            predicted.append(label)
            groups.append(unit)
    if not predicted:
        raise DataError(f"{sheet.name}: every label is blank; take the annotator out by drawing with fewer")
    return Pairs(Column(task.words, bytes(gold)), Column(task.words, bytes(predicted)), tuple(groups))


def _mean_score(
    metric: Metric, answers: Sequence[Pairs], scores: Mapping[str, Score], *, units: int, items: int
) -> Score:
    """The mean over annotators, with a jackknife interval that leaves each pair out for all annotators."""
    value = float(np.mean([score.value for score in scores.values()]))
    function = function_of(metric)
    assert isinstance(function, CountMetric)
    left_out = []  # for each annotator (units,): the metric without each pair of sentences
    for pairs in answers:
        classes = len(pairs.gold.labels)
        cells = np.asarray(pairs.groups) * classes**2 + np.frombuffer(pairs.cells, np.uint8)
        tables = np.bincount(cells, minlength=units * classes**2).reshape(units, classes, classes)
        tables = tables.transpose(1, 2, 0)  # (gold, predicted, units)
        without = tables.sum(axis=2, keepdims=True) - tables
        left_out.append(function.of(without, pairs.code(metric.positive)))
    return _with_interval(value, np.mean(left_out, axis=0), n=items, lowest=function.bounds[0])


def _with_interval(value: float, left_out: Floats, *, n: int, lowest: float) -> Score:
    """A score with the jackknife's interval, from its values (units,) without each unit."""
    if len(left_out) < FEWEST_UNITS:
        return Score(value, None, None, n, TOO_FEW)
    counts = np.ones_like(left_out, np.int64)
    return Score.of(value, jackknife_interval(value, left_out, counts, lowest=lowest), n)


def _kappa(sheets: Sequence[Sheet], units: Sequence[int], *, classes: int) -> Score:
    """Fleiss' kappa over the items that all annotators labeled."""
    complete = []
    labels_of_items = []
    for item in range(len(units)):
        labels = [label for sheet in sheets if (label := sheet.labels[item]) is not None]
        if len(labels) == len(sheets):
            complete.append(item)
            labels_of_items.append(labels)
    if not complete or len(sheets) < 2:
        raise DataError("no item was labeled by two annotators or more: there is no agreement to measure")
    counts = label_counts(np.transpose(labels_of_items), classes=classes)
    unit_of = np.asarray(units)[complete]
    with np.errstate(invalid="ignore"):  # with a single unit, nothing is left without it
        left_out = weighted_kappas(counts, unit_of != np.unique(unit_of)[:, np.newaxis])
    return _with_interval(fleiss_kappa(counts), left_out, n=len(complete), lowest=-1.0)


def fleiss_kappa(counts: ArrayLike) -> float:
    """Fleiss' kappa (Fleiss 1971): agreement beyond what the labels' shares alone would give.

    `counts` is (items, labels): how many annotators gave each label to each item; every item needs the
    same number of labels, at least two. Kappa is at most 1. If all labels are the same it is 0/0, and 1.0 is
    returned. Raises ValueError for any other table.
    """
    table = _table(counts)
    return float(weighted_kappas(table, np.ones((1, len(table))))[0])


def weighted_kappas(counts: ArrayLike, weights: ArrayLike) -> Floats:
    """Fleiss' kappa (rows,) with weighted items, once for each row of `weights` (rows, items)."""
    table = _table(counts)
    weighting = np.asarray(weights, np.float64)
    raters = table[0].sum()
    agreeing = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    items = weighting.sum(axis=1)
    observed = weighting @ agreeing / items
    shares = weighting @ table / (items * raters)[:, np.newaxis]
    chance = (shares * shares).sum(axis=1)
    not_chance = 1 - chance
    defined = not_chance > 1e-12
    kappas: Floats = np.where(defined, (observed - chance) / np.where(defined, not_chance, 1.0), 1.0)
    return kappas


def label_counts(labels: ArrayLike, *, classes: int) -> NDArray[np.int64]:
    """Counts (items, classes) from label codes (annotators, items), none of them missing."""
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
