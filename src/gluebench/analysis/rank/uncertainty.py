"""The uncertainty of a ranking: scores of all systems on the same resamples, and tests of all pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, combinations
from math import sqrt
from typing import Generic, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from gluebench.benchmark import Task
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.scoring.feedback import rounded_p
from gluebench.scoring.grade import Run, answers_of, graded, require_gradable, submissions_from
from gluebench.scoring.inference import ALPHA
from gluebench.scoring.intervals import holm, student_t_two_sided
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.pairs import Pairs, sort_key
from gluebench.scoring.table import TableGold
from gluebench.scoring.units import units_of
from gluebench.scoring.units.base import Floats, Ints, generator
from gluebench.submission import Column, Submission


class Systems(NamedTuple):
    """The submissions passed to `rank`, read and graded."""

    names: tuple[str, ...]
    runs: tuple[tuple[Submission, ...], ...]
    """The runs of each system."""
    scores: tuple[Floats, ...]
    """Scores of each system, shape (runs, tasks); NaN where a run lacks a task."""
    warnings: tuple[str, ...]
    answers: tuple[Mapping[str, Pairs], ...]
    """Test-file name to the pairs of each run, the runs of all systems in one sequence."""


def read_systems(
    submissions: Mapping[str, Run | Sequence[Run]],
    gold: Gold,
    tasks: Sequence[Task],
    *,
    majority: Sequence[Task],
) -> Systems:
    """Grade every run, with the most frequent label as its predictions on the tasks of `majority`."""
    runs = []
    for name, system in submissions.items():
        runs_read = tuple(with_majority(run, majority, gold) for run in submissions_from(system, gold))
        if not runs_read:
            raise ValueError(f"{name} has no runs; expected at least one submission")
        for run in runs_read:
            require_gradable(run, gold)
        runs.append(runs_read)
    answers = answers_of([run for runs_read in runs for run in runs_read], gold)
    scores, warnings, of_runs = [], [], iter(answers)
    for name, runs_read in zip(submissions, runs, strict=True):
        reports = [graded(run, gold, next(of_runs), intervals=False) for run in runs_read]
        by_task = [[report.tasks[task.name].score for task in tasks] for report in reports]
        scores.append(
            np.array([[np.nan if score is None else score.value for score in row] for row in by_task], float)
        )
        warnings += [
            f"{name}: {warning}"
            for report in reports
            for warning in report.warnings
            if warning not in gold.warnings
        ]
    alone = [name for name, runs_read in zip(submissions, runs, strict=True) if len(runs_read) == 1]
    if 0 < len(alone) < len(runs):
        warnings.append(
            f"{', '.join(alone)}: one run only, so that intervals and tests leave out how much it depends on "
            "the run"
        )
    warnings = [*gold.warnings, *sorted(set(warnings))]
    return Systems(tuple(submissions), tuple(runs), tuple(scores), tuple(warnings), tuple(answers))


def with_majority(submission: Submission, tasks: Sequence[Task], gold: Gold) -> Submission:
    """Replace the predictions for these tasks by the most frequent gold label (section 6 of the paper).

    Missing files are added, since the convention needs no predictions.
    Raises DataError for a task of numbers or without gold labels.
    """
    predictions = dict(submission.predictions)
    for task in tasks:
        for file in (entry for entry in task.files if gold.role in entry.splits):
            if not task.words:
                raise DataError(f"{task.name} has numbers, not labels; it has no most frequent one")
            if file.name not in gold.columns:
                problem = f"there are no gold labels for {file.name}; its most frequent one is not known"
                raise DataError(problem)
            labels = gold.columns[file.name]
            counts = labels.counts()
            most_frequent = bytes([counts.index(max(counts))])
            predictions[file.name] = Column(labels.labels, most_frequent * file.size(gold.role))
    return replace(submission, predictions=predictions)


def require_possible(
    gold: TableGold, rules: Sequence[str], *, weights: Mapping[str, float] | None, majority: Sequence[str]
) -> None:
    """Raise DataError for options that a table of scores does not have."""
    if majority:
        raise DataError(f"{gold.folder}: a table has scores, not labels, so that no label is most frequent")
    if gold.unit == "tasks" and (weights or [*rules] != ["mean"]):
        raise DataError(
            f"{gold.folder}: a table over tasks, whose rows are the tasks, each counted once. It is ranked "
            "by the mean alone: weights and other rules need a table over items, with a column task"
        )


class Resampled(NamedTuple):
    """Task scores of the systems in each resample; NaN if a system lacks a file of the task."""

    examples: Floats
    """Means over runs, shape (systems, tasks, resamples), on the same resampled examples for all systems."""
    runs: Floats
    """As `examples`, with the runs resampled too."""
    shared: Floats
    """Part of the runs' variance that is due to the examples, shape (systems, tasks); see scoring/runs.py."""
    units: Ints
    """Number of examples or groups resampled, shape (tasks,)."""
    few: str
    """Why they are too few for intervals, by the rule of `compare`; empty if they are not."""


def resampled(tasks: Sequence[Task], systems: Systems, gold: Gold, *, resamples: int, seed: int) -> Resampled:
    """Resample the examples of every test file and, of systems with several runs, the runs."""
    drawn = suite_draws(tasks, systems.answers, resamples=resamples, seed=seed)
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
            # seeded by the predictions, so that identical systems tie
            key = 0
            for answers in sorted(sort_key(column) for run in runs for column in run.predictions.values()):
                key = crc32(answers, key)
            rng = generator(seed, f"runs {key}")
            both[at] += _run_shifts(scores, shared[at], resamples=resamples, rng=rng)
    differ = np.ptp(drawn, axis=0).any(axis=1)  # as in `compare`, a task that all solve alike adds no width
    few = [
        task.name for task, own in zip(tasks, differ, strict=True) if own and has_few(task, systems.answers)
    ]
    why = f"too few examples on {', '.join(few)}" if few else ""
    if few and isinstance(gold, TableGold) and gold.unit == "tasks":
        why = f"{units[0]} tasks are too few, since they need {FEWEST_NUMBERS}"
    return Resampled(examples, both, shared, units, why)


def has_few(task: Task, answers: Sequence[Mapping[str, Pairs]]) -> bool:
    """Whether a test file of the task has too few units for an interval of a difference."""
    for name, metrics in task.metrics_by_file().items():
        pairs = next((of_files[name] for of_files in answers if name in of_files), None)
        if pairs is not None:
            units = units_of(metrics, [pairs])
            if any(units.few(at) for at in range(len(metrics))):
                return True
    return False


def _run_shifts(scores: Floats, shared: Floats, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Shifts of the mean over runs when runs are drawn with replacement, shape (tasks, resamples).

    Their variance is the variance between runs minus the part that is due to the examples.
    """
    number = len(scores)
    variance = scores.var(axis=0, ddof=1) / number
    rest = np.maximum(variance - shared, 0.0)
    own = np.divide(rest, variance, out=np.zeros(len(rest)), where=variance > 0)
    drawn = rng.multinomial(number, [1 / number] * number, size=resamples) / number
    deviations = np.nan_to_num(scores - scores.mean(axis=0)) * np.sqrt(own * number / (number - 1))
    shifts: Floats = (drawn @ deviations).T
    return shifts


def suite_draws(
    tasks: Sequence[Task], answers: Sequence[Mapping[str, Pairs]], *, resamples: int, seed: int
) -> Floats:
    """Resampled task scores, shape (submissions, tasks, resamples); NaN if a submission lacks a file.

    `answers` has the pairs of each submission by test file.

    Every resample has the same examples for all submissions; test files are resampled independently.
    """
    drawn = np.zeros((len(answers), len(tasks), resamples))
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


def scales(systems: Systems, drawn: Resampled) -> tuple[float, ...]:
    """The standard deviation of each task's scores over all systems, each of which counts the same.

    A system with several runs has their scores; one with a single run has those of the resamples.
    """
    scores = np.ma.masked_invalid([runs.mean(axis=0) for runs in systems.scores])
    own = [
        runs.var(axis=0) if len(runs) > 1 else resamples.var(axis=1)
        for runs, resamples in zip(systems.scores, drawn.examples, strict=True)
    ]
    variances = scores.var(axis=0) + np.ma.masked_array(own, scores.mask).mean(axis=0)
    return tuple(np.sqrt(variances).filled(0.0).tolist())


System = TypeVar("System", int, str)
"""A system by its position, or by its name."""


class Pair(NamedTuple, Generic[System]):
    """The test of two systems' averages."""

    a: System
    b: System
    difference: float
    """A minus B, a fraction."""
    p: float
    """Two-sided p-value."""
    adjusted: float
    """The p-value after Holm's adjustment over all pairs."""

    @property
    def winner(self) -> System | None:
        """The better system; None if the difference is not significant."""
        if self.adjusted > ALPHA or self.difference == 0:
            return None
        return self.a if self.difference > 0 else self.b


class Errors(NamedTuple):
    """Squared standard errors of the difference of averages, for every pair of systems."""

    squares: Floats
    """Squared standard errors, shape (systems, systems)."""
    terms: Floats
    """Sums of each part's squared variance over its degrees of freedom, same shape (Satterthwaite 1946)."""


def pair_errors(parts: Floats, units: Ints) -> Errors:
    """The errors from resampled contributions of tasks to the averages, shape (systems, tasks, resamples).

    `units`, shape (tasks,), gives the degrees of freedom of each task's variance.
    """
    squares = np.zeros((len(parts), len(parts)))
    terms = squares.copy()
    for at, number in enumerate(units):
        centered = parts[:, at] - parts[:, at].mean(axis=1, keepdims=True)
        covariance = centered @ centered.T / (parts.shape[2] - 1)
        alone = np.diag(covariance)[:, np.newaxis] + np.diag(covariance)
        variance = alone - 2 * covariance
        variance[variance <= 1e-12 * alone] = 0.0  # rounding errors of a pair that never differs
        df = max(number - 1, 1)
        variance *= number / df
        squares += variance
        terms += variance**2 / df
    return Errors(squares, terms)


def with_runs(errors: Errors, scores: Sequence[Floats], shared: Floats) -> Errors:
    """Add the variance between runs, minus the part that is due to the examples, to the errors.

    Degrees of freedom combine those of examples and runs by their shares of the variance (scoring/runs.py).

    `scores` has the averages of each system's runs, and `shared`, shape (systems,), the part subtracted.
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
    """Test every pair of systems with these averages by Student's t with Satterthwaite's df.

    Counts of resamples could not give p-values small enough for thousands of pairs.
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
    """Yield the pairs with differences of rounded averages, and p-values rounded to reveal no more."""
    for pair in pairs:
        difference = values[pair.a] - values[pair.b]
        p, adjusted = (rounded_p(p_value, pair.difference, difference) for p_value in (pair.p, pair.adjusted))
        yield pair._replace(difference=difference, p=p, adjusted=adjusted)


def groups(order: Sequence[int], pairs: Sequence[Pair[int]]) -> dict[int, tuple[int, int]]:
    """The first and last place of each system's group, from 1.

    A group ends where every system above (in `order`, best first) is significantly better than every one
    below; within a group, the order may be due to chance.
    """
    place = {system: at for at, system in enumerate(order)}
    lowest = list(range(len(order)))  # last place that is not significantly worse than each
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
    """Ranks of each system consistent with the tests: below all better systems, above all worse ones.

    Since Holm's adjustment covers all pairs, all ranges hold together in 95 % of test sets.
    """
    better, worse = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    for pair in pairs:
        if pair.winner is not None:
            worse[pair.winner] += 1
            better[pair.b if pair.winner == pair.a else pair.a] += 1
    return {system: (1 + better[system], len(systems) - worse[system]) for system in systems}
