"""Compare each score of two systems, or of several runs of each, with a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gluebench.benchmark import Metric, Task
from gluebench.scoring.inference import ALPHA, alone, mcnemar_holds
from gluebench.scoring.intervals import TOO_FEW, DiscordantCounts, withheld_because
from gluebench.scoring.paired import PairedTest, mean_test, paired_tests
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import fields_of
from gluebench.scoring.runs import RunsTest, mean_runs, runs_tests
from gluebench.scoring.units import Units, units_of
from gluebench.scoring.units.base import generator

_OPTIONAL = ("adjusted", "withheld", "alone", "detectable", "margin", "equivalence_p", "seeds", "loss")
EXCHANGE = "paired exchange"
MCNEMAR = "mid-p McNemar"
RUNS = "t over runs"
ONE_RUN = "none: one run"
SAME = "same answers"


@dataclass(frozen=True, slots=True)
class Difference:
    """The values of A and B, and their difference with 95 % interval and p-value; fractions."""

    a: float
    b: float
    """Values of the two systems; means if there are several runs."""
    difference: float
    low: float | None
    high: float | None
    """Ends of the interval; None if `withheld` gives a reason."""
    error: float | None
    """Standard error of the difference; None if a site may not show it."""
    p: float | None
    """Two-sided, not adjusted; at most .05 exactly where the interval excludes 0. None for one run against
    several: the interval is then over examples alone, for these runs."""
    test: str
    """Name of the test: "mid-p McNemar", "paired exchange", "t over runs" or "none: one run"."""
    n: int
    """Number of examples; of tasks, for the average over tasks."""
    same: bool
    """Whether the two systems give the same answer to every example."""
    adjusted: float | None = None
    """The p-value after Holm's adjustment over the tasks or the categories of a kind, if adjusted."""
    withheld: str | None = None
    """Why the interval is withheld: "too few to say", with the names of the parts for a mean; "same answers"
    where no single answer changes the scores."""
    alone: DiscordantCounts | None = None
    """Examples that only A, and only B, has right; None for numbers, runs and the average."""
    detectable: float | None = None
    """The smallest true difference that this test detects with power 0.8; None if not known."""
    margin: float | None = None
    """The largest difference that counts as equal; None without an equivalence test."""
    equivalence_p: float | None = None
    """The p-value of two one-sided tests that the difference is beyond the margin; adjusted as `p` is."""
    seeds: float | None = None
    """Share of the variance that comes from the choice of runs; None for single runs."""
    loss: bool | None = None
    """True if the values are negated losses, else None."""

    @property
    def decisive(self) -> float | None:
        """The adjusted p-value if there is one, else `p`; None without a test."""
        return self.p if self.adjusted is None else self.adjusted

    @property
    def better(self) -> str | None:
        """ "A" or "B", whichever is significantly better; None if neither is."""
        if self.decisive is None or self.decisive > ALPHA or self.difference == 0:
            return None
        return "A" if self.difference > 0 else "B"

    @property
    def equivalent(self) -> bool:
        """Whether the difference is significantly smaller than the margin."""
        return self.equivalence_p is not None and self.equivalence_p <= ALPHA

    @property
    def verdict(self) -> str:
        """ "same" within the margin, else "A" or "B" if better, else "undecided"."""
        return "same" if self.equivalent else self.better or "undecided"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values with 12 significant digits; those after `same` only if they apply."""
        values = fields_of(self, optional=_OPTIONAL)
        if alone := values.pop("alone", None):
            values |= {"only_a": alone["a"], "only_b": alone["b"]}
        return values if self.margin is None else values | {"verdict": self.verdict}


class ScoreTest(NamedTuple):
    """One score of both systems with its test."""

    a: float
    b: float
    test: PairedTest | RunsTest
    name: str
    """Name of the test."""
    n: int
    same: bool
    alone: DiscordantCounts | None = None
    withheld: str | None = None
    weight: float = 1.0
    loss: bool = False

    def difference(self, *, margin: float | None = None) -> Difference:
        """The result as a record; `margin` is the largest difference that counts as equal."""
        test = self.test
        withheld = self.withheld
        interval = None
        if not withheld:
            interval = test.interval()
            if interval is None:
                withheld = SAME if self.same else TOO_FEW
        more: dict[str, Any] = {}
        if test.p is not None:
            if isinstance(test, RunsTest):
                more["seeds"] = test.seeds_share
            if interval is not None:
                more["detectable"] = test.detectable()
            if margin is not None:
                # Without an interval nothing shows that the difference is small.
                more["equivalence_p"] = 1.0 if interval is None else test.equivalence_p(margin)
        low, high = (None, None) if interval is None else interval
        return Difference(
            a=self.a,
            b=self.b,
            difference=self.a - self.b,
            low=low,
            high=high,
            error=test.error,
            p=test.p,
            test=self.name,
            n=self.n,
            same=self.same,
            withheld=withheld,
            alone=self.alone,
            margin=margin,
            loss=self.loss or None,
            **more,
        )


Answers = Sequence[Sequence[Mapping[str, Pairs]]]
"""Answers and gold labels by side, run and test file."""


def answers_to(file: str, answers: Answers) -> list[list[Pairs]] | None:
    """The answers to a test file by side and run; None if a run or the gold lacks it."""
    sides = []
    for of_side in answers:
        if not all(file in pairs for pairs in of_side):
            return None
        sides.append([pairs[file] for pairs in of_side])
    return sides


class TaskTests(NamedTuple):
    """The tests of a task."""

    metrics: dict[str, ScoreTest]
    """Of the metrics whose files both systems and the gold have."""
    score: ScoreTest | None
    """None if one of the metrics is missing."""


def task_tests(task: Task, answers: Answers, *, resamples: int, seed: int) -> TaskTests:
    """Test the metrics of a task, and its score."""
    metrics: dict[str, ScoreTest] = {}
    files: dict[str, ScoreTest] = {}
    for name, of_file in task.metrics_by_file().items():
        sides = answers_to(name, answers)
        if sides is None:
            continue
        tests = file_tests(of_file, sides, resamples=resamples, seed=seed, name=name)
        for metric, test in zip(of_file, tests, strict=False):
            metrics[metric.name] = test
        files[name] = tests[-1]._replace(weight=float(len(of_file)))
    if len(metrics) < len(task.metrics):
        return TaskTests(metrics, None)
    in_order = {metric.name: metrics[metric.name] for metric in task.metrics}
    return TaskTests(in_order, mean_score_test(files))


def file_tests(
    metrics: Sequence[Metric], sides: Sequence[Sequence[Pairs]], *, resamples: int, seed: int, name: str
) -> list[ScoreTest]:
    """Test the metrics of one test file; with several metrics, the test of their mean comes last."""
    systems = list(chain.from_iterable(sides))
    runs = [len(side) for side in sides]
    return units_tests(units_of(metrics, systems), runs, resamples=resamples, seed=seed, name=name)


def units_tests(
    units: Units, runs: Sequence[int], *, resamples: int, seed: int, name: str
) -> list[ScoreTest]:
    """Test metrics on units, whose systems are the runs of A, then those of B; `runs` says how many of each.

    With several metrics, the test of their mean comes last. `name` and `seed` decide what is drawn.
    """
    metrics = units.metrics
    right = None
    same = False
    tests: Sequence[PairedTest | RunsTest]
    if list(runs) == [1, 1]:
        tests = paired_tests(units, resamples=resamples, rng=generator(seed, name))
        if units.systems[0].predicted.labels:
            right = alone(*units.systems)
        same = units.apart() == 0
        names = [MCNEMAR if mcnemar_holds(metric, units) else EXCHANGE for metric in metrics]
        names.append(EXCHANGE)
    else:
        tests = runs_tests(units, runs)
        test_name = ONE_RUN if tests[0].of_examples_alone else RUNS
        names = [test_name] * len(tests)

    withheld = [TOO_FEW if units.few(at) else None for at in range(len(metrics))]
    withheld.append(next(filter(None, withheld), None))
    values = units.values()
    of_a = values[:, : runs[0]].mean(axis=1)
    of_b = values[:, runs[0] :].mean(axis=1)
    if len(metrics) > 1:
        of_a = np.append(of_a, of_a.mean())
        of_b = np.append(of_b, of_b.mean())
    loss = any(metric.loss for metric in metrics)
    results = []
    for at, (a, b) in enumerate(zip(of_a.tolist(), of_b.tolist(), strict=True)):
        results.append(
            ScoreTest(a, b, tests[at], names[at], units.examples, same, right, withheld[at], loss=loss)
        )
    return results


def mean_score_test(parts: Mapping[str, ScoreTest], *, n: int | None = None) -> ScoreTest:
    """Test the weighted mean of independent scores, by name; `n` defaults to the number of examples.

    A part with the same answers of both systems and without an interval adds no width, unless all are so.
    """
    tested = list(parts.values())
    if len(tested) == 1:
        return tested[0] if n is None else tested[0]._replace(n=n, alone=None)

    weights = [part.weight for part in tested]
    test: PairedTest | RunsTest
    if all(isinstance(part.test, PairedTest) for part in tested):
        name = EXCHANGE
        test = mean_test([part.test for part in tested], weights)  # type: ignore[misc]
    else:
        name = tested[0].name
        test = mean_runs([part.test for part in tested], weights)  # type: ignore[misc]

    right = None
    counts = [part.alone for part in tested if part.alone is not None]
    if n is None and len(counts) == len(tested):
        right = DiscordantCounts(sum(part.a for part in counts), sum(part.b for part in counts))
    same = all(part.same for part in tested)
    reasons = {name: part.withheld for name, part in parts.items() if same or not part.same}
    return ScoreTest(
        a=_weighted_mean([part.a for part in tested], weights),
        b=_weighted_mean([part.b for part in tested], weights),
        test=test,
        name=name,
        n=sum(part.n for part in tested) if n is None else n,
        same=same,
        alone=right,
        withheld=withheld_because(reasons),
        loss=any(part.loss for part in tested),
    )


def _weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)
