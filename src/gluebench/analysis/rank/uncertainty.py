"""How certain a ranking is: systems on the same resamples, and which of all pairs differ significantly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, combinations
from math import sqrt
from typing import Generic, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from gluebench.benchmark import Task
from gluebench.data import DataError
from gluebench.scoring import Gold, grade
from gluebench.scoring.feedback import rounded_p
from gluebench.scoring.grade import Run, pairs_of, submissions_from
from gluebench.scoring.inference import ALPHA
from gluebench.scoring.intervals import holm, student_t_two_sided
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.units import units_of
from gluebench.scoring.units.base import Floats, Ints, generator
from gluebench.submission import Column, Submission


class Systems(NamedTuple):
    """What `rank` is given, read and graded."""

    names: tuple[str, ...]
    runs: tuple[tuple[Submission, ...], ...]
    """For each system its runs."""
    scores: tuple[Floats, ...]
    """For each system (runs, tasks); NaN where a run lacks a task."""
    warnings: tuple[str, ...]


def read_systems(
    submissions: Mapping[str, Run | Sequence[Run]],
    gold: Gold,
    tasks: Sequence[Task],
    *,
    majority: Sequence[Task],
) -> Systems:
    """Grade every run; on the tasks of `majority` it is taken to answer the most frequent label."""
    runs, scores, warnings = [], [], []
    for name, system in submissions.items():
        of_system = tuple(with_majority(run, majority, gold) for run in submissions_from(system, gold))
        if not of_system:
            raise ValueError(f"{name} has no runs; expected at least one submission")
        reports = [grade(run, gold, intervals=False) for run in of_system]
        runs.append(of_system)
        of_tasks = [[report.tasks[task.name].score for task in tasks] for report in reports]
        scores.append(
            np.array([[np.nan if score is None else score.value for score in row] for row in of_tasks], float)
        )
        warnings += [f"{name}: {warning}" for report in reports for warning in report.warnings]
    alone = [name for name, of_system in zip(submissions, runs, strict=True) if len(of_system) == 1]
    if 0 < len(alone) < len(runs):
        warnings.append(
            f"{', '.join(alone)}: one run only, so that intervals and tests leave out how much it depends on "
            "the run"
        )
    return Systems(tuple(submissions), tuple(runs), tuple(scores), tuple(sorted(set(warnings))))


def with_majority(submission: Submission, tasks: Sequence[Task], gold: Gold) -> Submission:
    """The submission with the most frequent gold label throughout, on the files of these tasks (section 6).

    A file that was missing is there afterwards: the convention asks for no predictions.
    Raises DataError for a task of numbers or of which there is no gold.
    """
    predictions = dict(submission.predictions)
    for task in tasks:
        for file in (entry for entry in task.files if gold.role in entry.splits):
            if not task.words:
                raise DataError([f"{task.name} has numbers, not labels; it has no most frequent one"])
            if file.name not in gold.columns:
                problem = f"there are no gold labels for {file.name}; its most frequent one is not known"
                raise DataError([problem])
            labels = gold.columns[file.name]
            counts = labels.counts()
            usual = bytes([counts.index(max(counts))])
            predictions[file.name] = Column(labels.labels, usual * file.size(gold.role))
    return replace(submission, predictions=predictions)


class Resampled(NamedTuple):
    """The systems' task scores in each resample; NaN for a system that lacks a file of the task."""

    examples: Floats
    """(systems, tasks, resamples): the mean over runs, on the same resampled examples for all systems."""
    runs: Floats
    """The same with the runs resampled, too."""
    shared: Floats
    """(systems, tasks): the part of the runs' variance that is the examples' (scoring/runs.py)."""
    units: Ints
    """(tasks,): examples or groups that are drawn."""


def resampled(tasks: Sequence[Task], systems: Systems, gold: Gold, *, resamples: int, seed: int) -> Resampled:
    """Resample the examples of every test file and, of systems with several runs, the runs."""
    drawn = suite_draws(
        tasks, [run for runs in systems.runs for run in runs], gold, resamples=resamples, seed=seed
    )
    sizes = {name: len(column) for name, column in gold.columns.items()}
    sizes |= {
        name: len(set(about.groups)) for name, about in gold.metadata.items() if about.groups is not None
    }
    units = np.array([sum(sizes[name] for name in task.metrics_by_file()) for task in tasks])
    of_systems = np.split(drawn, np.cumsum([len(runs) for runs in systems.runs])[:-1])
    examples = np.array([of_runs.mean(axis=0) for of_runs in of_systems])
    both, shared = examples.copy(), np.zeros(examples.shape[:2])
    for at, (runs, of_runs) in enumerate(zip(systems.runs, of_systems, strict=True)):
        number = len(runs)
        if number > 1:
            scores = systems.scores[at]
            rest = (of_runs - examples[at]).var(axis=2, ddof=1).sum(axis=0) * units / np.maximum(units - 1, 1)
            shared[at] = rest / (number * (number - 1))
            # random numbers by what the runs answer: a system that is there twice ties
            key = 0
            for answers in sorted(
                bytes(column.values) for run in runs for column in run.predictions.values()
            ):
                key = crc32(answers, key)
            rng = generator(seed, f"runs {key}")
            both[at] += _moved(scores, shared[at], resamples=resamples, rng=rng)
    return Resampled(examples, both, shared, units)


def _moved(scores: Floats, shared: Floats, *, resamples: int, rng: np.random.Generator) -> Floats:
    """(tasks, resamples): how far the mean over runs moves when the runs are drawn with replacement.

    Their variance is the one between runs, of which the examples' part is taken off.
    """
    number = len(scores)
    variance = scores.var(axis=0, ddof=1) / number
    rest = np.maximum(variance - shared, 0.0)
    own = np.divide(rest, variance, out=np.zeros(len(rest)), where=variance > 0)
    drawn = rng.multinomial(number, [1 / number] * number, size=resamples) / number
    deviations = np.nan_to_num(scores - scores.mean(axis=0)) * np.sqrt(own * number / (number - 1))
    moved: Floats = (drawn @ deviations).T
    return moved


def suite_draws(
    tasks: Sequence[Task], submissions: Sequence[Submission], gold: Gold, *, resamples: int, seed: int
) -> Floats:
    """(submissions, tasks, resamples): each task score; NaN for a submission that lacks one of its files.

    Every resample has the same examples for all submissions; test files are drawn independently.
    """
    answers = [pairs_of(submission, gold) for submission in submissions]
    drawn = np.zeros((len(submissions), len(tasks), resamples))
    for at, task in enumerate(tasks):
        for name, metrics in task.metrics_by_file().items():
            have = [place for place, pairs in enumerate(answers) if name in pairs]
            lacking = [place for place, pairs in enumerate(answers) if name not in pairs]
            if have:
                pairs = [answers[place][name] for place in have]
                values = units_of(metrics, pairs).bootstrap(resamples, generator(seed, name))
                drawn[have, at] += values.sum(axis=0) / len(task.metrics)
            drawn[lacking, at] = np.nan
    return drawn


System = TypeVar("System", int, str)
"""A system by its position, or by its name."""


class Pair(NamedTuple, Generic[System]):
    """Two systems on the average."""

    a: System
    b: System
    difference: float
    """A minus B, a fraction."""
    p: float
    """Two-sided."""
    adjusted: float
    """After Holm's adjustment over all pairs."""

    @property
    def winner(self) -> System | None:
        """The one that is better, where the difference is significant."""
        if self.adjusted > ALPHA or self.difference == 0:
            return None
        return self.a if self.difference > 0 else self.b


class Errors(NamedTuple):
    """Of every pair of systems: the squared standard error of the difference of their averages."""

    squares: Floats
    """(systems, systems)."""
    terms: Floats
    """(systems, systems): the sum of each part's square over its degrees of freedom (Satterthwaite 1946)."""


def pair_errors(parts: Floats, units: Ints) -> Errors:
    """The errors from (systems, tasks, resamples) paired draws of what each task adds to the averages.

    `units` are (tasks,): of a task with few, little is known of its variance, and that counts by its share.
    """
    squares = np.zeros((len(parts), len(parts)))
    terms = squares.copy()
    for at, number in enumerate(units):
        centered = parts[:, at] - parts[:, at].mean(axis=1, keepdims=True)
        covariance = centered @ centered.T / (parts.shape[2] - 1)
        alone = np.diag(covariance)[:, np.newaxis] + np.diag(covariance)
        variance = alone - 2 * covariance
        variance[variance <= 1e-12 * alone] = 0.0  # rounding, of a pair that never differs
        df = max(number - 1, 1)
        variance *= number / df
        squares += variance
        terms += variance**2 / df
    return Errors(squares, terms)


def with_runs(errors: Errors, scores: Sequence[Floats], shared: Floats) -> Errors:
    """The errors with the variance between runs, of which the examples' part is taken off.

    Degrees of freedom are those of examples and of runs by their shares of the variance (scoring/runs.py).

    `scores` are for each system (runs,) averages, and `shared` (systems,) that part.
    """
    numbers = np.array([len(of_runs) for of_runs in scores])
    df = np.maximum(numbers - 1, 1)
    between = np.array([of_runs.var() * len(of_runs) for of_runs in scores]) / df / numbers
    own = np.maximum(between - shared, 0.0)
    counted = np.where(own > 0, between, 0.0)
    runs, pooled, runs_terms = (column[:, np.newaxis] + column for column in (own, counted, counted**2 / df))
    squares = errors.squares + runs
    inverse = ratio(errors.terms, errors.squares) + runs * ratio(runs_terms, pooled**2)
    return Errors(squares, squares * inverse)


def all_pairs(values: Sequence[float], errors: Errors) -> tuple[Pair[int], ...]:
    """Every pair of systems with these averages, tested by Student's t with Satterthwaite's df.

    Resamples alone could not show a p-value small enough for thousands of pairs.
    """
    squares, terms = errors.squares.tolist(), errors.terms.tolist()
    tested = []
    for i, j in combinations(range(len(values)), 2):
        difference, square = values[i] - values[j], squares[i][j]
        if abs(difference) <= 1e-12:
            p = 1.0
        elif square > 0:
            p = student_t_two_sided(difference / sqrt(square), square**2 / terms[i][j])
        else:
            p = 0.0
        tested.append((i, j, difference, p))
    adjusted = holm([p for *_, p in tested])
    return tuple(Pair(*pair, after) for pair, after in zip(tested, adjusted, strict=True))


def as_shown(pairs: Sequence[Pair[int]], values: Sequence[float]) -> Iterator[Pair[int]]:
    """The pairs with differences of rounded averages, and p-values that reveal no more of an order."""
    for pair in pairs:
        difference = values[pair.a] - values[pair.b]
        p, adjusted = (rounded_p(p_value, pair.difference, difference) for p_value in (pair.p, pair.adjusted))
        yield pair._replace(difference=difference, p=p, adjusted=adjusted)


def groups(order: Sequence[int], pairs: Sequence[Pair[int]]) -> dict[int, tuple[int, int]]:
    """The first and last place of each system's group, from 1.

    The board, whose systems are in `order` from the top, is cut wherever every system above is better, beyond
    chance, than every one below; within a group the order may be chance.
    """
    place = {system: at for at, system in enumerate(order)}
    lowest = list(range(len(order)))  # the last place from which each does not differ significantly
    for pair in pairs:
        one, other = sorted((pair.a, pair.b), key=place.__getitem__)
        if pair.winner != one:
            lowest[place[one]] = max(lowest[place[one]], place[other])
    ends = [at for at, reach in enumerate(accumulate(lowest, max)) if at == reach]
    starts = [0, *(end + 1 for end in ends)]
    return {
        system: (start + 1, end + 1)
        for start, end in zip(starts, ends, strict=False)
        for system in order[start : end + 1]
    }


def rank_ranges(systems: Sequence[int], pairs: Sequence[Pair[int]]) -> dict[int, tuple[int, int]]:
    """The ranks a system may have by the tests: below all that are better, above all that are worse.

    As Holm's adjustment covers all pairs, all these ranges hold together in 95 % of test sets.
    """
    better, worse = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    for pair in pairs:
        if pair.winner is not None:
            worse[pair.winner] += 1
            better[pair.b if pair.winner == pair.a else pair.a] += 1
    return {system: (1 + better[system], len(systems) - worse[system]) for system in systems}
