"""Every score of two systems on one task, as it is and as it comes out of joint resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gluebench.analysis import correlated, paired
from gluebench.analysis.columns import Columns, file_columns
from gluebench.analysis.differences import Alone
from gluebench.analysis.rows import Differences, row_differences
from gluebench.analysis.significance import mcnemar, williams
from gluebench.analysis.trial import FEWEST_APART, MCNEMAR, WILLIAMS, Exact, Trial, mean_of
from gluebench.benchmark import Metric, Task
from gluebench.scoring import Gold, joint
from gluebench.scoring.correlation import NUMBER_METRICS, constant
from gluebench.scoring.counts import COUNT_METRICS
from gluebench.scoring.draws import Floats, generator, row_weights
from gluebench.scoring.intervals import FEWEST_NUMBERS, FEWEST_OTHERS, FEWEST_UNITS, TOO_FEW
from gluebench.scoring.pairs import point, positive_code
from gluebench.scoring.weighted import WEIGHTED
from gluebench.submission import Submission


class TaskTrials(NamedTuple):
    """The trials of a task."""

    metrics: dict[str, Trial]
    """Metric name to trial, for each metric whose file both submissions and the gold have."""
    score: Trial | None
    """Of the mean of the metrics; None while one of them is missing."""


def task_trials(
    task: Task, a: Submission, b: Submission, gold: Gold, *, resamples: int, seed: int
) -> TaskTrials:
    """Every metric of a task, and the task score."""
    found: dict[str, Trial] = {}
    files: list[Trial] = []
    for file in task.files:
        columns = file_columns(file, a, b, gold)
        if columns is None:
            continue
        metrics = [metric for metric in task.metrics if metric.file == file.name]
        trials = file_trials(metrics, columns, resamples=resamples, rng=generator(seed, file.name))
        found |= trials
        if trials:
            files.append(_file_score(list(trials.values())))
    trials = {metric.name: found[metric.name] for metric in task.metrics if metric.name in found}
    whole = len(trials) == len(task.metrics)
    return TaskTrials(trials, _score(files) if whole else None)


def _file_score(trials: Sequence[Trial]) -> Trial:
    """The mean of the metrics of one file, which come from the same draws."""
    mean = mean_of(
        trials,
        n=trials[0].n,
        alone=trials[0].alone,
        withheld=next(filter(None, (t.withheld for t in trials)), None),
    )
    return mean._replace(parts=(), apart=trials[0].apart, weight=float(len(trials)))


def _score(files: Sequence[Trial]) -> Trial:
    """The task score; its effect in examples is that of all its files."""
    counts = [each.alone for each in files]
    known = [each for each in counts if each is not None]
    return mean_of(
        files,
        n=sum(each.n for each in files),
        alone=sum(known, Alone(0, 0)) if len(known) == len(counts) else None,
        withheld=next(filter(None, (each.withheld for each in files)), None),
    )


def file_trials(
    metrics: Sequence[Metric], columns: Columns, *, resamples: int, rng: np.random.Generator
) -> dict[str, Trial]:
    """Metric name to trial; with the systems in each other's place it is the mirror image."""
    if columns.in_order:
        return _file_trials(metrics, columns, resamples=resamples, rng=rng)
    trials = _file_trials(metrics, columns.turned, resamples=resamples, rng=rng)
    return {name: trial.turned() for name, trial in trials.items()}


def _file_trials(
    metrics: Sequence[Metric], columns: Columns, *, resamples: int, rng: np.random.Generator
) -> dict[str, Trial]:
    """The metrics of one test file, all from the same draws and the same coins."""
    known = COUNT_METRICS if columns.labels else NUMBER_METRICS
    if not all(metric.function in known for metric in metrics):
        resampled = _by_rows(metrics, columns, resamples=resamples, rng=rng)
    elif columns.labels:
        resampled = _by_counts(metrics, columns, resamples=resamples, rng=rng)
    else:
        resampled = _by_weights(metrics, columns, resamples=resamples, rng=rng)
    return {
        metric.name: Trial(
            a=point(metric, columns.a).value,
            b=point(metric, columns.b).value,
            n=len(columns),
            same=columns.same,
            bootstrap=resampled[metric.name].bootstrap,
            exchanged=resampled[metric.name].exchanged,
            exact=_exact(metric, columns),
            alone=columns.alone,
            withheld=_withheld(metric, columns),
            apart=columns.units_apart,
        )
        for metric in metrics
    }


def _withheld(metric: Metric, columns: Columns) -> str | None:
    """Why no interval is given (docs/design/differences.md)."""
    formula = COUNT_METRICS.get(metric.function)
    fewest = FEWEST_NUMBERS if formula is None else FEWEST_UNITS
    few = columns.units < fewest or columns.units_apart < FEWEST_APART
    if formula is not None and not formula.proportion:
        few = few or columns.units_with_others < FEWEST_OTHERS
    return TOO_FEW if few else None


def _by_counts(
    metrics: Sequence[Metric], columns: Columns, *, resamples: int, rng: np.random.Generator
) -> dict[str, Differences]:
    """Formulas over the confusion table."""
    gold, a, b = columns.codes()
    units = joint.units(gold, a, b=b, classes=len(columns.labels), groups=columns.groups)
    drawn = joint.bootstrap(units, resamples=resamples, rng=rng)
    exchanged = paired.swap(units, resamples=resamples, rng=rng)

    def difference(metric: Metric, tables: joint.Confusions) -> Floats:
        of, positive = COUNT_METRICS[metric.function].of, positive_code(metric, columns.a)
        values: Floats = of(list(tables.a), positive) - of(list(tables.b), positive)
        return values

    return {
        metric.name: Differences(difference(metric, drawn), difference(metric, exchanged))
        for metric in metrics
    }


def _by_weights(
    metrics: Sequence[Metric], columns: Columns, *, resamples: int, rng: np.random.Generator
) -> dict[str, Differences]:
    """Correlations of numbers and of ranks."""
    drawn = _weighted_differences(metrics, columns, resamples=resamples, rng=rng)
    coins = int(rng.integers(1 << 62))
    result = {}
    for metric in metrics:
        ranked = metric.function == "spearman"
        gold, a, b = (
            correlated.standardised(correlated.mid_ranks(each) if ranked else each)
            for each in columns.numbers()
        )
        same_coins = np.random.default_rng(coins)  # for each metric, so that the mean of them is right
        exchanged = correlated.swap(gold, a, b=b, resamples=resamples, rng=same_coins, groups=columns.groups)
        result[metric.name] = Differences(drawn[metric.name], exchanged.a - exchanged.b)
    return result


def _weighted_differences(
    metrics: Sequence[Metric], columns: Columns, *, resamples: int, rng: np.random.Generator
) -> dict[str, Floats]:
    measures = [
        [
            WEIGHTED[metric.function](each.gold.numbers, each.predicted.numbers)
            for each in (columns.a, columns.b)
        ]
        for metric in metrics
    ]
    blocks = [
        [of_a(weights) - of_b(weights) for of_a, of_b in measures]
        for weights in row_weights(columns.a, resamples=resamples, rng=rng)
    ]
    parts = zip(*blocks, strict=True)
    return {metric.name: np.concatenate(part) for metric, part in zip(metrics, parts, strict=True)}


def _by_rows(
    metrics: Sequence[Metric], columns: Columns, *, resamples: int, rng: np.random.Generator
) -> dict[str, Differences]:
    """Metrics of which one comes from an entry point: each resample is scored from its rows."""
    seed = int(rng.integers(1 << 62))  # the same draws for each metric, so that the mean of them is right
    return {
        metric.name: row_differences(metric, columns, resamples=resamples, rng=np.random.default_rng(seed))
        for metric in metrics
    }


def _exact(metric: Metric, columns: Columns) -> Exact | None:
    """The exact test of the metric, if it has one and the examples are independent of each other."""
    if columns.groups is not None:
        return None
    formula = COUNT_METRICS.get(metric.function)
    if formula is not None:
        return _mcnemar(columns) if formula.proportion else None
    return _williams(columns) if metric.function == "pearson" else None


def _mcnemar(columns: Columns) -> Exact:
    return Exact(mcnemar(*(columns.alone or Alone(0, 0))), MCNEMAR)


def _williams(columns: Columns) -> Exact | None:
    """None where the test does not exist: too few examples, or a column that does not vary."""
    gold, a, b = (column.tolist() for column in columns.numbers())
    if len(gold) < 4 or any(map(constant, (gold, a, b))):
        return None
    pearson = NUMBER_METRICS["pearson"]
    return Exact(williams(pearson(gold, a), pearson(gold, b), a_b=pearson(a, b), n=len(gold)).p, WILLIAMS)
