"""The Ladder (Blum and Hardt 2015): a new score is shown only where it is clearly better than one's best.

Whoever sees every score can fit a test set without a model: send random answers, keep those that happened
to score well, take their majority. The parameter-free Ladder shows a new score of a task only if it beats
the best so far by more than one standard error of the difference, and shows that best again otherwise. Both
systems answer the same examples, so the error is that of paired answers. What is shown is rounded as under
every policy (`rounding`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from gluebench.benchmark import Task
from gluebench.scoring.gold import Gold
from gluebench.scoring.grade import pairs_of
from gluebench.scoring.metrics import is_proportion, point, task_score
from gluebench.scoring.pairs import Pairs
from gluebench.submission.submission import Column, Submission

if TYPE_CHECKING:
    from gluebench.scoring.units import Units

RESAMPLES = 4000
"""More than a rank interval takes: what they decide depends on a few percent of the error."""
_LUCK = 3.0
"""Standard errors of a resampled error that it is raised by."""
_ROUNDING = 1e-9
"""Share of a standard error that rounding may make."""


@dataclass(frozen=True)
class Step:
    """A task score against the best so far."""

    difference: float
    files: Sequence[tuple[float, float, Units]]
    """Of each test file its weight, the difference in it, and the answers of both."""
    seed: int = 0

    @cached_property
    def error(self) -> float:
        """The standard error of the difference; test files are independent of each other.

        For accuracies it is the jackknife's over examples or, where the gold has groups, over groups: of
        independent examples that is McNemar's statistic above 1. For other metrics it is that of a paired
        bootstrap. A single unit could go either way.
        """
        errors = [
            weight * (_error(units, self.seed) if units.size > 1 else abs(change))
            for weight, change, units in self.files
        ]
        return sqrt(sum(error * error for error in errors))

    @property
    def better(self) -> bool:
        """Whether it is higher by more than one standard error of the difference."""
        return self.difference > 0 and self.difference > self.error * (1 + _ROUNDING)


class Climb(NamedTuple):
    """What a submission may show, task by task."""

    shown: Submission
    """The submission with the best so far in the place of each task that is not clearly better."""
    new: tuple[str, ...]
    """Tasks whose score is a new best."""
    kept: tuple[str, ...]
    """Tasks that show the best so far again."""
    incomplete: tuple[str, ...]
    """Tasks answered only in part: they have no task score to compare, so no score is shown."""


def climb(submission: Submission, bests: Mapping[str, Submission], gold: Gold) -> Climb:
    """One step of the Ladder. `bests` is task name to the earlier submission with the best score shown.

    A task that is not in `bests` has its first score, which is shown. Diagnostic sets take the step with
    their overall score; those whose labels are public are shown as they are.
    """
    pairs = pairs_of(submission, gold)
    earlier = {name: pairs_of(best, gold) for name, best in bests.items()}
    shown: dict[str, Column] = {}
    outcome: dict[str, list[str]] = {"new": [], "kept": [], "incomplete": []}
    for task in gold.benchmark.tasks:
        names = [file.name for file in task.files if file.name in submission.predictions]
        source, kind = submission, "new"
        if not names:
            continue
        if not task.scored and task.labels_public:
            kind = ""
        elif not all(metric.file in pairs for metric in task.metrics):
            names, kind = [], "incomplete"
        elif task.name in bests and not step(task, pairs, earlier[task.name]).better:
            source, kind = bests[task.name], "kept"
        shown |= {name: source.predictions[name] for name in names}
        if kind:
            outcome[kind].append(task.name)
    in_order = {name: shown[name] for name in submission.predictions if name in shown}
    return Climb(
        replace(submission, predictions=in_order),
        *(tuple(outcome[kind]) for kind in ("new", "kept", "incomplete")),
    )


def step(task: Task, new: Mapping[str, Pairs], best: Mapping[str, Pairs], *, seed: int = 0) -> Step:
    """A task score against the best so far, both from answers to all of the task's test files."""
    from gluebench.scoring.units import units_of  # imports numpy

    files = []
    for name, metrics in task.metrics_by_file().items():
        values = [point(metric, new[name]).value - point(metric, best[name]).value for metric in metrics]
        units = units_of(metrics, [new[name], best[name]])
        files.append((len(metrics) / len(task.metrics), task_score(values), units))
    return Step(sum(weight * change for weight, change, _ in files), files, seed)


def _error(units: Units, seed: int) -> float:
    """The standard error of the difference in the mean of a file's metrics.

    A jackknife of a correlation can be fooled: leave out one of several answers far out of range, and the
    others still decide. So these are resampled, and the error is taken as high as the luck of the resamples
    may have made it low: one example that changed makes a difference of one standard error, and must never be
    decided by that luck.
    """
    from gluebench.scoring.inference import jackknife_spread
    from gluebench.scoring.units.base import generator

    if all(is_proportion(metric) for metric in units.metrics):
        left_out = units.left_out().mean(axis=0)
        return jackknife_spread(left_out[0] - left_out[1], units.counts).error
    drawn = units.bootstrap(RESAMPLES, generator(seed, units.metrics[0].file)).mean(axis=0)
    drawn = drawn[0] - drawn[1]
    variance = float(drawn.var(ddof=1))
    if variance <= 0:
        return 0.0
    kurtosis = float(((drawn - drawn.mean()) ** 4).mean()) / variance**2
    luck = sqrt(max(kurtosis - 1, 0.0) / (4 * len(drawn)))  # of the error, as a share of it
    return sqrt(variance) * (1 + _LUCK * luck)
