"""How often tests and intervals keep their promise, in worlds of known truth.

    python bench/calibration.py [--worlds N] [--resamples N] [--seed N] [--only SECTION] [--quick]

The worlds (bench/worlds.py) are drawn from the real answers to test sets with public labels, else from joint
tables; the tests and intervals are the library's own. A cell that misses its goal is marked *, or ** where it
does by more than two standard errors. Results: docs/explanation/intervals.md and
docs/explanation/differences.md.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from statistics import NormalDist
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import forms
import numpy as np
import worlds
from material import world_options
from worlds import (
    WHOLE,
    Floats,
    Systems,
    Table,
    World,
    even,
    joint_of,
    real,
    recalls,
    solved,
    two_tables,
)

from gluebench.analysis.compare.scores import ScoreTest, file_tests, mean_score_test
from gluebench.benchmark import Metric
from gluebench.scoring import metrics as library
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.intervals import Part, holm, optional_mean_interval
from gluebench.scoring.metrics import FunctionMetric, point
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.runs import RunsTest, mean_runs, runs_tests
from gluebench.scoring.units import units_of

ALPHA = 0.05
ACCURACIES = (0.55, 0.75, 0.9, 0.97)
SHIFTS = (1.4, 2.1, 2.8)
"""True differences that power is measured at, in standard errors."""
MARGIN = 0.01
COVERAGE, FINE, ALARMS = (0.93, 0.97), (0.9, 1.0), (0.04, 0.06)
RARE = 0.05
"""An interval that fewer worlds give counts as withheld."""


class Goal(NamedTuple):
    """What is asked of a row, as lowest and highest shares; None where nothing is."""

    covers: tuple[float, float] | None = COVERAGE
    significant: tuple[float, float] | None = None
    power: bool = False
    """Whether the share of significant results is to be what was announced, within 3 points."""
    same: float | None = None
    """Highest share of worlds in which two may be called the same that differ by just the margin."""


@dataclass
class Tally:
    """What became of one interval, or one test, over the worlds."""

    truth: float = 0.0
    worlds: int = 0
    given: int = 0
    held: int = 0
    significant: int = 0
    apart: int = 0
    """Worlds in which "p <= .05" and "the interval excludes 0" disagree."""
    same: int = 0
    """Worlds in which the two are called the same within their true difference."""
    announced: float = 0.0

    def interval(self, low: float | None, high: float | None, truth: float) -> None:
        """Count one interval."""
        self.truth, self.worlds = truth, self.worlds + 1
        if low is not None and high is not None:
            self.given += 1
            self.held += low - 1e-9 <= truth <= high + 1e-9

    def test(self, tested: ScoreTest, truth: float) -> None:
        """Count one difference."""
        record = tested.difference(margin=abs(truth) or MARGIN)
        self.interval(record.low, record.high, truth)
        significant = record.p is not None and record.p <= ALPHA
        self.significant += significant
        self.same += record.equivalence_p is not None and record.equivalence_p <= ALPHA
        if record.low is not None and record.high is not None:
            self.apart += significant != (record.low > 0 or record.high < 0)
        if not isinstance(tested.test, RunsTest) and tested.test.error > 0:
            critical, shift = tested.test.null.critical(), truth / tested.test.error
            self.announced += NormalDist().cdf(shift - critical) + NormalDist().cdf(-shift - critical)

    def cells(self, goal: Goal) -> Iterator[tuple[str, str, str]]:
        """Column, text and mark."""
        share = self.significant / self.worlds
        if goal.significant:
            yield "p <= .05", f"{share:.1%}", _mark(share, self.worlds, goal.significant)
        if goal.power:
            told = self.announced / self.worlds
            yield (
                f"power announced {told:.1%}, seen",
                f"{share:.1%}",
                _mark(share, self.worlds, (told - 0.03, told + 0.03)),
            )
        if goal.same is not None:
            share = self.same / self.worlds
            yield "called the same", f"{share:.1%}", _mark(share, self.worlds, (0.0, goal.same))
        if goal.covers and self.given < RARE * self.worlds:
            yield "covers", "withheld", ""
        elif goal.covers:
            share = self.held / self.given
            often = f" of {self.given / self.worlds:.0%}" if self.given < self.worlds else ""
            yield "covers", f"{share:.1%}{often}", _mark(share, self.given, goal.covers)
        if self.apart:
            yield "p and interval disagree", f"{self.apart / self.worlds:.1%}", "**"


def _mark(share: float, number: int, goal: tuple[float, float]) -> str:
    if goal[0] <= share <= goal[1]:
        return ""
    edge = goal[0] if share < goal[0] else goal[1]
    return "**" if abs(share - edge) > 2 * (edge * (1 - edge) / number) ** 0.5 else "*"


class Options(NamedTuple):
    """How much to simulate."""

    worlds: int
    resamples: int
    seed: int


Row = tuple[str, Tally, Goal]
"""Name, what became of it, and what is asked of it."""


def bars_of(metrics: Sequence[Metric], pairs: Pairs) -> list[Part]:
    """Each score of one system, and the mean of several."""
    points = [point(metric, pairs) for metric in metrics]
    values = [each.value for each in points]
    values += [float(np.mean(values))] if len(values) > 1 else []
    bars = file_intervals(metrics, pairs, points)
    return [Part("", value, bar) for value, bar in zip(values, bars, strict=True)]


def simulate(world: World | forms.Population, options: Options, seed: int) -> dict[str, Tally]:
    """The intervals of one system, or the tests of two, in many worlds; by part and metric."""
    rng, truth = np.random.default_rng([options.seed, seed]), world.truth()
    tallies: dict[str, Tally] = defaultdict(Tally)
    names = [metric.name for metric in world.metrics] + ["mean"]
    for number in range(options.worlds):
        for part, systems in world.draw(rng).items():
            if len(systems) == 2:
                sides = [[pairs] for pairs in systems]
                found = file_tests(world.metrics, sides, resamples=options.resamples, seed=number, name=part)
                for name, tested, (a, b) in zip(names, found, truth[part], strict=False):
                    tallies[part or name].test(tested, float(a - b))
            else:
                for name, each, (value,) in zip(
                    names, bars_of(world.metrics, systems[0]), truth[part], strict=False
                ):
                    tallies[part or name].interval(each.bar.low, each.bar.high, float(value))
    return tallies


def rows(
    cases: Mapping[str, World | forms.Population], options: Options, seed: int, goal: Goal
) -> Iterator[Row]:
    """A row for each score of each world; false alarms are asked for where the difference is 0."""
    for at, (name, world) in enumerate(cases.items()):
        for score, tally in simulate(world, options, seed + at).items():
            covers = FINE if score.startswith("fine") else goal.covers
            significant = goal.significant if abs(tally.truth) < 1e-9 else None
            yield f"{name}, {score}", tally, goal._replace(covers=covers, significant=significant)


def by_balance(file: str, n: int, score: int = -1) -> World:
    """Two systems of which B answers with the positive label more often, equal in one of the scores."""
    a = recalls(0.75, 0.88)
    return solved(lambda at: two_tables(file, a, recalls(at, 0.95), n), 0.2, 0.9, score=score)


def trade_off(n: int) -> World:
    """Two systems of the same Matthews correlation on CoLA, one of which finds most of the errors."""
    return solved(lambda at: two_tables("CoLA", recalls(0.5, 0.95), recalls(0.92, at), n), 0.4, 0.9)


def leaning(n: int) -> World:
    """Two systems of the same R_K on the diagnostic set, one of which leans to the first label."""

    def answers(recall: float) -> Floats:
        wrong = 1 - recall
        return np.array([[0.9, 0.05, 0.05], [wrong, recall, 0], [wrong / 2, wrong / 2, recall]])

    return solved(lambda at: two_tables("AX", even(0.6, 3), answers(at), n), 0.34, 0.9)


def alarms(options: Options) -> Iterator[Row]:
    """False alarms and coverage of two systems of equal scores."""
    cases = {f"{name}, exchanged": real(name).exchanged(0.5) for name in ("MRPC", "SST-2", "QNLI", "STS-B")}
    cases["STS-B, exchanged, 100 rows"] = replace(cases["STS-B, exchanged"], n=100)
    cases["WNLI, alike"] = Systems("WNLI", 45, (0.65, 0.65))
    cases |= {f"CoLA {n}, trade-off": trade_off(n) for n in (1063, 277)}
    cases |= {
        f"{file} {n}, F1 by balance": by_balance(file, n, 1)
        for file, n in (("MRPC", 1725), ("MRPC", 408), ("QQP", 40_000))
    }
    cases |= {f"AX {n} rows, leaning": leaning(n) for n in (1104, 150, 60)}
    yield from rows(cases, options, 0, Goal(significant=ALARMS))


def leaning_classes(classes: int, n: int) -> World:
    """Two systems of the same macro F1 on labels of falling shares, one of which leans to the first label."""
    shares = 0.7 ** np.arange(classes)
    known = forms.words(classes)

    def table(right: float) -> Table:
        leaning = np.zeros((classes, classes))
        leaning[:, 0] = 1 - right
        leaning += right * np.eye(classes)
        joint = joint_of(shares / shares.sum(), even(0.6, classes), leaning)
        return Table([forms.metric("macro_f1", known)], known, joint, n)

    return solved(table, 0.2, 0.95)


def few_units(options: Options) -> Iterator[Row]:
    """False alarms on few units: averages over classes, and the metrics of sets and tokens."""
    cases: dict[str, World | forms.Population] = {}
    for n, classes in product((30, 60, 120, 200), range(3, 7)):
        shares = [0.7**at for at in range(classes)]
        names = ("macro_f1", "macro_recall", "weighted_f1")
        cases[f"{classes} labels {n}"] = forms.of_labels(shares, n, names).alike()
        cases[f"{classes} labels {n}, leaning"] = leaning_classes(classes, n)
    for n, name in product((30, 60, 120, 200), ("sets", "tokens")):
        cases[f"{name} {n}"] = forms.WORLDS[name](n).alike()
    yield from rows(cases, options, 700, Goal(significant=(0.0, 0.055)))


def power(options: Options) -> Iterator[Row]:
    """Power at three true differences, announced and seen."""
    pairs = {
        "MRPC": real("MRPC"),
        "SST-2": real("SST-2").spoiled(0.04),
        "QNLI": real("QNLI").spoiled(0.015),
        "STS-B": real("STS-B").spoiled(0.04),
        "CoLA": two_tables("CoLA", recalls(0.6, 0.94), recalls(0.5, 0.87), 1063),
    }
    for at, (name, world) in enumerate(pairs.items()):
        sides = [[each] for each in world.exchanged(0.5).draw(np.random.default_rng(0))[WHOLE]]
        error = file_tests(world.metrics, sides, resamples=99, seed=0, name=name)[-1].test.error
        shares = [(1 - shift * error / abs(np.subtract(*world.truth()[WHOLE][-1]))) / 2 for shift in SHIFTS]
        cases = {
            f"{name}, {shift} SE": world.exchanged(max(0.0, share))
            for shift, share in zip(SHIFTS, shares, strict=True)
        }
        yield from rows(cases, options, 40 + 10 * at, Goal(power=True))
    for at, gap in enumerate((0.015, 0.022, 0.03)):
        tally = macros(suite(gap), options, 90 + at)["macro-average"]
        yield f"macro-average, {gap} worse", tally, Goal(power=True)


def suite(gap: float = 0.0, *, one: float | None = None, trade_offs: bool = False) -> dict[str, list[World]]:
    """Nine tasks; without real answers B is right less often by `gap`, or there is one, right by `one`."""

    def made(file: str, n: int, accuracy: float) -> World:
        return Systems(file, n, (accuracy, accuracy - gap) if one is None else (one,))

    found: dict[str, list[World]] = {
        "CoLA": [made("CoLA", 1063, 0.8)],
        **{name: [real(name).exchanged(0.5)] for name in ("SST-2", "MRPC", "STS-B", "QNLI")},
        "QQP": [made("QQP", 40_000, 0.88)],
        "MNLI": [made("MNLI-m", 9796, 0.82), made("MNLI-mm", 9847, 0.83)],
        "RTE": [made("RTE", 3000, 0.7)],
        "WNLI": [made("WNLI", 45, 0.65)],
    }
    if trade_offs:
        found |= {
            "CoLA": [trade_off(1063)],
            "MRPC": [by_balance("MRPC", 1725)],
            "QQP": [by_balance("QQP", 40_000)],
        }
    return found


def _true_mean(tasks: Mapping[str, Sequence[World]]) -> Floats:
    """(systems,): the macro-average, of as many systems as all files have."""
    scores = [np.mean([each.truth()[WHOLE][-1] for each in files], axis=0) for files in tasks.values()]
    mean: Floats = np.mean([score[: min(map(len, scores))] for score in scores], axis=0)
    return mean


def macros(tasks: Mapping[str, Sequence[World]], options: Options, seed: int) -> dict[str, Tally]:
    """Test the average of two systems over all tasks, and any task after Holm."""
    rng = np.random.default_rng([options.seed, seed])
    tallies: dict[str, Tally] = defaultdict(Tally)
    gap = float(np.subtract(*_true_mean(tasks)))
    for number in range(options.worlds):
        tested = {}
        for name, files in tasks.items():
            drawn = [(world, [[pairs] for pairs in world.draw(rng)[WHOLE]]) for world in files]
            of_files = {
                f"{name}{at}": file_tests(
                    world.metrics, sides, resamples=options.resamples, seed=number, name=f"{name}{at}"
                )[-1]
                for at, (world, sides) in enumerate(drawn)
            }
            tested[name] = mean_score_test(of_files)._replace(weight=1.0)
        tallies["macro-average"].test(mean_score_test(tested, n=len(tested)), gap)
        tallies["any task, after Holm"].worlds += 1
        tallies["any task, after Holm"].significant += (
            min(holm([p for each in tested.values() if (p := each.test.p) is not None])) <= ALPHA
        )
    return tallies


def macro(options: Options) -> Iterator[Row]:
    """The average of nine tasks, and any task after Holm, for two systems of equal scores."""
    for at, name in enumerate(("alike", "other trade-offs")):
        found = macros(suite(trade_offs=at == 1), options, 100 + at)
        yield f"macro-average, {name}", found["macro-average"], Goal(significant=ALARMS)
        yield f"any task after Holm, {name}", found["any task, after Holm"], Goal(None, (0.0, 0.055))


def _two_of(file: str, n: int, accuracy: float, other: float) -> Table:
    return two_tables(file, even(accuracy, 2), even(other, 2), n)


def equivalence(options: Options) -> Iterator[Row]:
    """How often systems that differ by one point are called the same within one point."""
    cases: dict[str, World] = {}
    sizes = (("QNLI", 5463, 0.9), ("QNLI", 20_000, 0.9), ("QQP", 40_000, 0.88), ("CoLA", 20_000, 0.85))
    for file, n, accuracy in sizes:
        cases[f"{file} {n}"] = solved(
            partial(_two_of, file, n, accuracy),
            0.6, accuracy, gap=MARGIN,
        )  # fmt: skip
    mixed = real("STS-B").spoiled(0.04)
    share = (1 - MARGIN / np.subtract(*mixed.truth()[WHOLE][-1])) / 2
    cases["STS-B 5000"] = replace(mixed.exchanged(share), n=5000)
    yield from rows(cases, options, 110, Goal(same=0.05))


def scores(options: Options) -> Iterator[Row]:
    """Intervals of one system's scores on test files of many sizes."""
    cases: dict[str, World] = {
        f"{file} {n} at {accuracy}": Systems(file, n, (accuracy,))
        for file, n, accuracy in product(("MRPC", "CoLA", "AX"), (40, 146, 277, 1063), ACCURACIES)
    }
    for system, n in product(worlds.SYSTEMS, (25, 50, 100, 400, 1379)):
        cases[f"STS-B {n}, {system}"] = replace(real("STS-B", (system,)), n=n)
    for together, accuracy in product((0.3, 0.6), ACCURACIES):
        cases[f"WNLI at {accuracy}, together {together}"] = Systems("WNLI", 45, (accuracy,), together)
    cases |= {f"{name}, real": real(name, worlds.SYSTEMS[:1]) for name in ("MRPC", "SST-2", "QNLI")}
    yield from rows(cases, options, 200, Goal())


def averages(options: Options) -> Iterator[Row]:
    """The interval of one system's average over nine tasks."""
    for at, accuracy in enumerate(ACCURACIES):
        tasks, tally = suite(one=accuracy), Tally()
        rng, truth = np.random.default_rng([options.seed, 290 + at]), float(_true_mean(tasks)[0])
        for _ in range(options.worlds):
            parts = []
            for files in tasks.values():
                found = [bars_of(world.metrics, world.draw(rng)[WHOLE][0])[-1] for world in files]
                parts.append(
                    Part("", float(np.mean([each.value for each in found])), optional_mean_interval(found))
                )
            bar = optional_mean_interval(parts)
            tally.interval(bar.low, bar.high, truth)
        yield f"macro-average, tables at {accuracy}", tally, Goal()


def categories(options: Options) -> Iterator[Row]:
    """Intervals of one system's R3 in the parts of the diagnostic set, by sentence pair."""
    answers = real("AX", worlds.SYSTEMS[:1])
    words = enumerate(worlds.words_of("AX"))
    cases = {"real": answers} | {f"to {word}": answers.one_sided(code) for code, word in words}
    yield from rows(cases, options, 300, Goal())


def two_systems(options: Options) -> Iterator[Row]:
    """Differences in R3 in the parts of the diagnostic set, by sentence pair."""
    answers = real("AX", worlds.SYSTEMS[:1])
    both = answers.beside(answers.one_sided(0))
    yield from rows(
        {"exchanged": both.exchanged(0.5), "apart": both}, options, 310, Goal(significant=(0.0, 0.06))
    )


def _accuracy(accuracy: float, effect: float) -> float:
    """Of a run whose effect is on the scale of normal quantiles."""
    return NormalDist().cdf(NormalDist().inv_cdf(accuracy) + effect)


def over_runs(file: str, accuracy: float, spread: float) -> float:
    """The mean score of endless runs, by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    runs = Systems(file, 1, [_accuracy(accuracy, spread * node) for node in nodes])
    return float(weights @ runs.truth()[WHOLE][-1] / weights.sum())


def seeds(options: Options) -> Iterator[Row]:
    """Several runs: the mean of one system and the difference of two, on one file and on average."""
    files = {"CoLA": (1063, 0.8), "MRPC": (1725, 0.86), "RTE": (3000, 0.7)}
    for runs, spread in product((3, 5, 10), (0.0, 0.035, 0.075)):
        rng = np.random.default_rng([options.seed, 400, runs, round(1000 * spread)])
        truths = {file: over_runs(file, accuracy, spread) for file, (_, accuracy) in files.items()}
        truths["average"] = float(np.mean(list(truths.values())))
        tallies: dict[str, Tally] = defaultdict(Tally)
        shares = []
        for _ in range(options.worlds):
            effects = spread * rng.normal(size=2 * runs)  # the same on all files: a run is one model
            tested = {}
            for file, (n, accuracy) in files.items():
                world = Systems(file, n, [_accuracy(accuracy, effect) for effect in effects], runs=runs)
                systems = world.draw(rng)[WHOLE]
                tested[file] = (
                    runs_tests(units_of(world.metrics, systems[:runs]), [runs])[-1],
                    runs_tests(units_of(world.metrics, systems), [runs, runs])[-1],
                )
            one, two = (mean_runs(each, [1.0] * len(files)) for each in zip(*tested.values(), strict=True))
            shares.append(one.seeds_share)
            for name, (mean, difference) in {**tested, "average": (one, two)}.items():
                for label, test, truth in (
                    (name, mean, truths[name]),
                    (f"{name}, difference", difference, 0.0),
                ):
                    ends = test.interval()
                    low, high = (None, None) if ends is None else (ends.low, ends.high)
                    tallies[label].interval(low, high, truth)
                p = difference.p
                tallies[f"{name}, difference"].significant += p is not None and p <= ALPHA
        for name, tally in tallies.items():
            goal = Goal(significant=(0.03, 0.07) if "difference" in name else None)
            yield f"{runs} runs, {np.mean(shares):.0%} of variance theirs, {name}", tally, goal


def custom(options: Options) -> Iterator[Row]:
    """A metric that is only a function, of which nothing is known: accuracy."""
    name = "custom accuracy"
    metrics: Any = library.METRICS
    metrics[name] = FunctionMetric(
        name, lambda gold, predicted: float(np.mean(gold == predicted)), limits=(-np.inf, np.inf)
    )
    for n in (150, 600):
        answers = real("SST-2").rows([Metric("accuracy", name, "Accuracy", "SST-2")], n)
        yield from rows({f"{n} rows": answers.exchanged(0.5)}, options, 500 + n, Goal(significant=ALARMS))
    del metrics[name]


def of_forms(options: Options) -> Iterator[Row]:
    """Intervals of one system's scores, and false alarms of two, for the metrics of every form."""
    for at, (name, world) in enumerate(forms.worlds_of_sizes()):
        yield from rows({name: world.of_one()}, options, 600 + 2 * at, Goal())
        yield from rows({f"{name}, two": world.alike()}, options, 601 + 2 * at, Goal(significant=ALARMS))


SECTIONS: Mapping[str, Callable[[Options], Iterator[Row]]] = {
    each.__name__: each
    for each in (
        alarms,
        few_units,
        macro,
        power,
        equivalence,
        scores,
        averages,
        categories,
        two_systems,
        seeds,
        custom,
        of_forms,
    )
}


def print_row(name: str, cells: Sequence[tuple[str, str, str]]) -> None:
    """Print what became of a score."""
    print(f"  {name:52} " + "   ".join(f"{column} {text}{mark}" for column, text, mark in cells), flush=True)


def main(sections: Mapping[str, Callable[[Options], Iterator[Row]]] = SECTIONS) -> int:
    parser = world_options(__doc__, quick=100)
    parser.add_argument("--only", choices=sections, action="append", help="this section; may be repeated")
    given = parser.parse_args()
    options, missed = Options(given.worlds, given.resamples, given.seed), []
    for section in given.only or sections:
        start = time.process_time()
        print(f"{section}: {sections[section].__doc__}", flush=True)
        for name, tally, goal in sections[section](options):
            cells = list(tally.cells(goal))
            print_row(name, cells)
            missed += [(f"{section}: {name}", [cell]) for cell in cells if cell[2]]
        print(f"  {time.process_time() - start:.0f} s", flush=True)
    error = 100 * (0.05 * 0.95 / options.worlds) ** 0.5
    print(f"{options.worlds} worlds (SE of 5 or 95 %: {error:.1f} points), {options.resamples} resamples, "
          f"seed {options.seed}; {len(missed)} cells miss their goal")  # fmt: skip
    for name, cells in missed:
        print_row(name, cells)
    return 0


if __name__ == "__main__":
    sys.exit(main())
