"""Compare each score of two systems, or of several runs of each, with a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.benchmark import Metric, Task
from gluebench.scoring.inference import ALPHA, alone, mcnemar_holds
from gluebench.scoring.intervals import TOO_FEW, Alone, withheld_because
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
    alone: Alone | None = None
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


class Tested(NamedTuple):
    """One score of both systems with its test."""

    a: float
    b: float
    test: PairedTest | RunsTest
    name: str
    """Name of the test."""
    n: int
    same: bool
    alone: Alone | None = None
    withheld: str | None = None
    weight: float = 1.0
    loss: bool = False

    def difference(self, *, margin: float | None = None) -> Difference:
        """The result as a record; `margin` is the largest difference that counts as equal."""
        interval = None if self.withheld else self.test.interval()
        withheld = self.withheld
        if interval is None and withheld is None:
            withheld = SAME if self.same else TOO_FEW
        low, high = interval or (None, None)
        seeds = detectable = equivalence_p = None
        p = self.test.p
        if p is not None:
            if isinstance(self.test, RunsTest):
                seeds = self.test.seeds_share
            if not withheld:
                detectable = self.test.detectable()
            if margin is not None:
                equivalence_p = 1.0 if withheld else self.test.equivalence_p(margin)
        return Difference(
            a=self.a,
            b=self.b,
            difference=self.a - self.b,
            low=low,
            high=high,
            error=self.test.error,
            p=p,
            test=self.name,
            n=self.n,
            same=self.same,
            withheld=withheld,
            alone=self.alone,
            detectable=detectable,
            margin=margin,
            equivalence_p=equivalence_p,
            seeds=seeds,
            loss=self.loss or None,
        )


Answers = Sequence[Sequence[Mapping[str, Pairs]]]
"""Answers and gold labels by side, run and test file."""


def answers_to(file: str, answers: Answers) -> list[list[Pairs]] | None:
    """The answers to a test file by side and run; None if a run or the gold lacks it."""
    if not all(file in pairs for side in answers for pairs in side):
        return None
    return [[pairs[file] for pairs in side] for side in answers]


def task_tested(
    task: Task, answers: Answers, *, resamples: int, seed: int
) -> tuple[dict[str, Tested], Tested | None]:
    """Test each metric whose file both systems and the gold have, and the task score.

    The test of the task score is None if one of the metrics is missing.
    """
    metrics: dict[str, Tested] = {}
    files: dict[str, Tested] = {}
    for name, of_file in task.metrics_by_file().items():
        sides = answers_to(name, answers)
        if sides is None:
            continue
        tested = file_tested(of_file, sides, resamples=resamples, seed=seed, name=name)
        metrics |= dict(zip((metric.name for metric in of_file), tested, strict=False))
        files[name] = tested[-1]._replace(weight=float(len(of_file)))
    ordered = {metric.name: metrics[metric.name] for metric in task.metrics if metric.name in metrics}
    return ordered, mean_tested(files) if len(ordered) == len(task.metrics) else None


def file_tested(
    metrics: Sequence[Metric], sides: Sequence[Sequence[Pairs]], *, resamples: int, seed: int, name: str
) -> list[Tested]:
    """Test the metrics of one test file; with several metrics, the test of their mean comes last."""
    pairs = [of_run for side in sides for of_run in side]
    runs = [len(side) for side in sides]
    return units_tested(units_of(metrics, pairs), runs, resamples=resamples, seed=seed, name=name)


def units_tested(units: Units, runs: Sequence[int], *, resamples: int, seed: int, name: str) -> list[Tested]:
    """Test metrics on units, whose systems are the runs of A, then those of B; `runs` says how many of each.

    With several metrics, the test of their mean comes last. `name` and `seed` decide what is drawn.
    """
    metrics = units.metrics
    right = None
    apart = units.size
    tests: Sequence[PairedTest | RunsTest]
    if [*runs] == [1, 1]:
        tests = paired_tests(units, resamples=resamples, rng=generator(seed, name))
        if units.systems[0].predicted.labels:
            right = alone(*units.systems)
        apart = units.apart()
        names = [MCNEMAR if mcnemar_holds(metric, units) else EXCHANGE for metric in metrics] + [EXCHANGE]
    else:
        tests = runs_tests(units, runs)
        names = [ONE_RUN if tests[0].of_examples_alone else RUNS] * (len(metrics) + 1)
    values = units.values()
    few = [TOO_FEW if units.few(at) else None for at in range(len(metrics))]
    few.append(next(filter(None, few), None))
    means = [values[:, : runs[0]].mean(axis=1), values[:, runs[0] :].mean(axis=1)]
    if len(metrics) > 1:
        means = [[*of_side, of_side.mean()] for of_side in means]
    loss = any(metric.loss for metric in metrics)
    return [
        Tested(float(a), float(b), test, names[at], units.examples, apart == 0, right, few[at], loss=loss)
        for at, (a, b, test) in enumerate(zip(*means, tests, strict=True))
    ]


def mean_tested(parts: Mapping[str, Tested], *, n: int | None = None) -> Tested:
    """Test the weighted mean of independent scores, by name; `n` defaults to the number of examples.

    A part with the same answers of both systems and without an interval adds no width, unless all are so.
    """
    tested = list(parts.values())
    weights = [part.weight for part in tested]
    if len(tested) == 1:
        return tested[0] if n is None else tested[0]._replace(n=n, alone=None)
    all_same = all(part.same for part in tested)
    alones = [part.alone for part in tested if part.alone is not None]
    test: PairedTest | RunsTest
    if all(isinstance(part.test, PairedTest) for part in tested):
        test, name = mean_test([part.test for part in tested], weights), EXCHANGE  # type: ignore[misc]
    else:
        test, name = mean_runs([part.test for part in tested], weights), tested[0].name  # type: ignore[misc]
    return Tested(
        a=sum(weight * part.a for weight, part in zip(weights, tested, strict=True)) / sum(weights),
        b=sum(weight * part.b for weight, part in zip(weights, tested, strict=True)) / sum(weights),
        test=test,
        name=name,
        n=sum(part.n for part in tested) if n is None else n,
        same=all_same,
        alone=Alone(*map(sum, zip(*alones, strict=True)))
        if n is None and len(alones) == len(tested)
        else None,
        withheld=withheld_because(
            {name: part.withheld for name, part in parts.items() if not part.same or all_same}
        ),
        loss=any(part.loss for part in tested),
    )
