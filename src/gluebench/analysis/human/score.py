"""Scoring what people answered: each of them as a system is scored, their mean, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gluebench.analysis.agreement import Floats, fleiss_kappa, label_counts, resampled_kappas
from gluebench.analysis.human.draw import Draw
from gluebench.analysis.human.sheets import Sheet
from gluebench.benchmark import Metric, Task
from gluebench.data import DataError
from gluebench.scoring import Gold, Score
from gluebench.scoring.bca import percentiles
from gluebench.scoring.counts import COUNT_METRICS
from gluebench.scoring.draws import Ints, cells_of, generator, unit_weights
from gluebench.scoring.intervals import FEWEST_UNITS, TOO_FEW
from gluebench.scoring.pairs import Pairs, point, positive_code
from gluebench.scoring.resample import task_bars
from gluebench.submission import Column

SCHEMA = "gluebench.agreement/1"
PAPER_KAPPA = {("glue", "AX"): 0.73}
"""Fleiss' kappa of section 4; its mean score of the annotators stands in the manifest."""


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
        return {
            "schema": SCHEMA,
            "task": self.task,
            "metric": self.metric,
            "annotators": {name: score.as_dict() for name, score in self.annotators.items()},
            "mean": self.mean.as_dict(),
            "kappa": self.kappa.as_dict(),
            "blanks": [each._asdict() for each in self.blanks],
            "published": {"human": self.human, "kappa": self.published_kappa},
        }


def score_sheets(
    drawn: Draw, sheets: Sequence[Sheet], gold: Gold, *, resamples: int = 1000, seed: int = 0
) -> Agreement:
    """Score the annotators against gold, by the task's first metric, and their agreement with each other.

    Intervals are for other pairs of sentences, not for other people: pairs are resampled whole, the same
    for everybody. An item left blank is left out of that annotator's score, and of kappa for all.
    Raises DataError where there is no gold for an item, or the metric is none of label counts.
    """
    task = gold.benchmark.task(drawn.task)
    metric = task.metrics[0]
    if metric.function not in COUNT_METRICS:
        raise DataError([f"{task.name} is scored by {metric.function}; expected a metric of labels"])
    truth = _gold_codes(drawn, task, gold)
    units = _units(drawn)
    weights = unit_weights(len(drawn.pairs), resamples=resamples, rng=generator(seed, metric.file))
    answered = [_pairs(task, truth, units, sheet) for sheet in sheets]
    scores = {
        sheet.name: _score(task, metric, pairs, resamples=resamples, seed=seed)
        for sheet, pairs in zip(sheets, answered, strict=True)
    }
    published = next((each.scores.get(metric.name) for each in task.references if each.name == "Human"), None)
    return Agreement(
        task=task.name,
        metric=metric.name,
        annotators=scores,
        mean=_mean(metric, answered, scores, weights, items=len(drawn.items)),
        kappa=_kappa(sheets, units, weights, classes=len(task.labels)),
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
    where = range(len(column)) if column.indices is None else column.indices
    codes = dict(zip(where, column.codes, strict=True))
    lacking = [index for index in drawn.items if index not in codes]
    if lacking:
        raise DataError([f"{file}: no gold label for index {index}, which was drawn" for index in lacking])
    return [codes[index] for index in drawn.items]


def _units(drawn: Draw) -> list[int]:
    """The pair that each item belongs to."""
    of_item = {item: number for number, pair in enumerate(drawn.pairs) for item in pair}
    return [of_item[item] for item in range(1, len(drawn.items) + 1)]


def _pairs(task: Task, truth: Sequence[int], units: Sequence[int], sheet: Sheet) -> Pairs:
    """Gold and answers of the items that an annotator labelled, grouped by pair."""
    given = [(g, p, unit) for g, p, unit in zip(truth, sheet.labels, units, strict=True) if p is not None]
    if not given:
        raise DataError([f"{sheet.name}: every label is blank; take the annotator out by drawing with fewer"])
    gold, predicted, groups = zip(*given, strict=True)
    return Pairs(Column(task.words, bytes(gold)), Column(task.words, bytes(predicted)), groups)


def _score(task: Task, metric: Metric, pairs: Pairs, *, resamples: int, seed: int) -> Score:
    found = point(metric, pairs)
    one = task._replace(metrics=(metric,))
    numbers = {group: number for number, group in enumerate(dict.fromkeys(pairs.groups or ()))}
    close = Pairs(pairs.gold, pairs.predicted, tuple(numbers[group] for group in pairs.groups or ()))
    bar = task_bars(one, {metric.file: close}, {metric.name: found}, resamples=resamples, seed=seed).metrics[
        metric.name
    ]
    return Score(found.value, bar.low, bar.high, len(pairs), bar.withheld)


def _mean(
    metric: Metric, answered: Sequence[Pairs], scores: dict[str, Score], weights: Ints, *, items: int
) -> Score:
    value = float(np.mean([score.value for score in scores.values()]))
    if weights.shape[1] < FEWEST_UNITS:
        return Score(value, None, None, items, TOO_FEW)
    drawn = [_resampled(metric, pairs, weights) for pairs in answered]
    return Score(value, *percentiles(np.mean(drawn, axis=0)), items)


def _resampled(metric: Metric, pairs: Pairs, weights: Ints) -> Floats:
    """(resamples,): the metric with each pair of sentences as often as its weight."""
    classes = len(pairs.gold.labels)
    width = classes * classes
    at = np.asarray(pairs.groups) * width + cells_of(pairs)
    tables = np.bincount(at, minlength=weights.shape[1] * width).reshape(-1, width)
    drawn = (weights @ tables).T.reshape(classes, classes, -1).astype(np.float64)
    values: Floats = COUNT_METRICS[metric.function].of(drawn, positive_code(metric, pairs))
    return values


def _kappa(sheets: Sequence[Sheet], units: Sequence[int], weights: Ints, *, classes: int) -> Score:
    whole = [item for item in range(len(units)) if all(sheet.labels[item] is not None for sheet in sheets)]
    if not whole or len(sheets) < 2:
        raise DataError(["no item was labelled by two annotators or more: there is no agreement to measure"])
    labels = [[sheet.labels[item] or 0 for item in whole] for sheet in sheets]
    counts = label_counts(labels, classes=classes)
    value = fleiss_kappa(counts)
    of_item = np.asarray(units)[whole]
    if len(np.unique(of_item)) < FEWEST_UNITS:
        return Score(value, None, None, len(whole), TOO_FEW)
    times = weights[:, of_item]
    times = times[times.sum(axis=1) > 0]
    return Score(value, *percentiles(resampled_kappas(counts, times)), len(whole))
