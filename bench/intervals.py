"""How often the 95 % intervals hold the truth: worlds of known truth, graded as submissions are.

    python bench/intervals.py [--worlds N] [--resamples N] [--quick]

Each world draws a test set of GLUE's sizes, class shares and groups, and a system whose answers are right
with a given probability (for the regression task: whose scores correlate by it), and calls `grade`. A cell
is one interval at one accuracy. The goal is 93 to 97 % for tasks, the macro-average, and the diagnostic set
with its coarse categories wherever each (gold, predicted) cell expects at least five; 90 % or withheld for
the fine ones. docs/design/intervals.md says what was seen.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from material import world_options
from numpy.typing import NDArray

from gluebench.benchmark import Benchmark, Phenomenon, load_benchmark
from gluebench.scoring import Gold, Metadata, Report, Score, grade, read_gold
from gluebench.scoring.counts import COUNT_METRICS, Table
from gluebench.scoring.tags import Category, categories
from gluebench.submission import Column, Submission

ACCURACIES = (0.55, 0.75, 0.9, 0.97)
TOGETHER = 0.3
"""Probability that a group's answers are right or wrong together, rather than one by one."""
SHARES: Mapping[str, Sequence[float]] = {
    "CoLA": (0.31, 0.69),
    "SST-2": (0.501, 0.499),
    "MRPC": (0.335, 0.665),
    "QQP": (0.63, 0.37),
    "MNLI-m": (0.35, 0.32, 0.33),
    "MNLI-mm": (0.35, 0.32, 0.33),
    "QNLI": (0.5, 0.5),
    "RTE": (0.5, 0.5),
    "WNLI": (0.65, 0.35),
}
"""Of the test set where it is public or the paper gives it, else of the dev set."""
PREMISES = [2] * 20 + [3] * 11 + [4] * 6 + [5] * 3 + [6] * 3 + [7, 9]
"""Examples that share a premise, in WNLI's test set."""
PAIRS = 552
SET_SHARES = (0.42, 0.35, 0.23)
"""Entailment, neutral and contradiction in the diagnostic set (section 4), for want of the real one."""
PHENOMENA = {
    "Lexical Entailment": 70, "Morphological Negation": 13, "Factivity": 34, "Symmetry/Collectivity": 14,
    "Redundancy": 13, "Named Entities": 18, "Quantifiers": 26, "Core Arguments": 26,
    "Prepositional Phrases": 34, "Ellipsis/Implicits": 17, "Anaphora/Coreference": 29,
    "Active/Passive": 17, "Nominalization": 14, "Genitives/Partitives": 10, "Datives": 10,
    "Relative Clauses": 16, "Coordination Scope": 20, "Intersectivity": 23, "Restrictivity": 13,
    "Negation": 41, "Double Negation": 14, "Intervals/Numbers": 19, "Conjunction": 20, "Disjunction": 19,
    "Conditionals": 16, "Universal": 9, "Existential": 10, "Temporal": 16, "Upward Monotone": 17,
    "Downward Monotone": 15, "Non-Monotone": 15, "Common Sense": 75, "World Knowledge": 67,
}  # fmt: skip
"""Sentence pairs of the diagnostic set tagged with each phenomenon."""
REAL_GOLD = Path(
    os.environ.get("GLUEBENCH_REAL", Path(__file__).resolve().parents[1].parent / "shared" / "real")
) / "gold"  # fmt: skip

Rng = np.random.Generator
Codes = NDArray[np.uint8]


class Cell(NamedTuple):
    """One interval at one accuracy."""

    name: str
    accuracy: float


class Tally(NamedTuple):
    """What became of one cell's interval over the worlds."""

    held: int
    """Worlds whose interval holds the truth."""
    given: int
    """Worlds that gave an interval at all."""
    expected: float
    """Least number of examples that any (gold, predicted) cell expects; infinite where there are no cells."""


class Diagnostic(NamedTuple):
    """The diagnostic set's sentence pairs, which the worlds draw from."""

    gold: NDArray[np.uint8]
    """(pairs, 2): label codes of the two directions."""
    categories: Mapping[str, NDArray[np.bool_]]
    """Name, with its kind before it, to (pairs, 2): the examples in it."""


def confused(gold: Codes, right: NDArray[np.bool_], classes: int, rng: Rng) -> Codes:
    """Predictions: the gold label where right, else another with equal chance."""
    others = rng.integers(1, classes, size=gold.shape, dtype=np.uint8) if classes > 2 else np.uint8(1)
    return np.where(right, gold, (gold + others) % classes).astype(np.uint8)


def right_together(groups: NDArray[np.int64], accuracy: float, rng: Rng) -> NDArray[np.bool_]:
    """Which answers are right, when those of some groups are right or wrong together."""
    number = int(groups.max()) + 1
    together = rng.random(number) < TOGETHER
    return np.where(
        together[groups], (rng.random(number) < accuracy)[groups], rng.random(len(groups)) < accuracy
    )


def expected_table(shares: Sequence[float], accuracy: float) -> list[list[float]]:
    """The confusion table of an endless test set, as shares."""
    wrong = (1 - accuracy) / (len(shares) - 1)
    return [
        [share * (accuracy if g == p else wrong) for p in range(len(shares))]
        for g, share in enumerate(shares)
    ]


class World:
    """Draws test sets and systems, and knows the true scores."""

    def __init__(self, benchmark: Benchmark, diagnostic: Diagnostic) -> None:
        self.benchmark, self.diagnostic = benchmark, diagnostic

    def draw(self, accuracy: float, rng: Rng) -> tuple[Gold, Submission]:
        """Gold and predictions of one world."""
        gold: dict[str, Column] = {}
        predicted: dict[str, Column] = {}
        metadata: dict[str, Metadata] = {}
        for file in self.benchmark.files():
            task = self.benchmark.task(file.task)
            if not task.scored:
                continue
            if not task.words:
                columns = self._numbers(file.size(), accuracy, rng)
            elif file.name.startswith("WNLI"):
                sizes = rng.choice(PREMISES, size=len(PREMISES))
                groups = np.repeat(np.arange(len(sizes)), sizes)
                codes = rng.choice(2, p=SHARES["WNLI"], size=len(groups)).astype(np.uint8)
                columns = (
                    codes.tobytes(),
                    confused(codes, right_together(groups, accuracy, rng), 2, rng).tobytes(),
                )
                metadata[file.name] = Metadata(tuple(groups.tolist()), {})
            else:
                columns = self._labels(file.size(), SHARES[file.name], accuracy, rng)
            gold[file.name], predicted[file.name] = (Column(task.words, column) for column in columns)
        phenomena: dict[str, Mapping[Phenomenon, tuple[int, ...]]] = {}
        parts: dict[str, tuple[Category, ...]] = {}
        name = self.benchmark.diagnostics[0].files[0].name
        drawn = self._pairs(accuracy, rng)
        gold[name], predicted[name] = drawn.gold, drawn.predicted
        metadata[name], phenomena[name] = drawn.metadata, drawn.phenomena
        task = self.benchmark.diagnostics[0]
        parts[name] = categories(task, phenomena[name], None, size=len(gold[name]))
        labels = Gold(
            self.benchmark, "test", "", gold, phenomena, metadata, parts, partial=True, version=None
        )
        return labels, Submission(self.benchmark, "test", "", "valid", (), predicted)

    @staticmethod
    def _labels(size: int, shares: Sequence[float], accuracy: float, rng: Rng) -> tuple[bytes, bytes]:
        """Label columns with a drawn confusion table; without groups the order does not matter."""
        classes = len(shares)
        counts = rng.multinomial(size, np.ravel(expected_table(shares, accuracy))).reshape(classes, classes)
        gold = b"".join(bytes([g]) * int(counts[g].sum()) for g in range(classes))
        predicted = b"".join(bytes([p]) * int(counts[g, p]) for g in range(classes) for p in range(classes))
        return gold, predicted

    @staticmethod
    def _numbers(size: int, correlation: float, rng: Rng) -> tuple[array[float], array[float]]:
        gold = rng.normal(size=size)
        predicted = correlation * gold + (1 - correlation**2) ** 0.5 * rng.normal(size=size)
        return array("d", gold.tobytes()), array("d", predicted.tobytes())

    class _Pairs(NamedTuple):
        gold: Column
        predicted: Column
        metadata: Metadata
        phenomena: dict[Phenomenon, tuple[int, ...]]

    def _pairs(self, accuracy: float, rng: Rng) -> _Pairs:
        """Sentence pairs drawn with their labels and tags from those of the real set."""
        task, number = self.benchmark.diagnostics[0], len(self.diagnostic.gold)
        drawn = rng.integers(0, number, size=number)
        gold = self.diagnostic.gold[drawn].ravel()
        groups = np.repeat(np.arange(number), 2)
        predicted = confused(gold, right_together(groups, accuracy, rng), len(task.words), rng)
        phenomena = {
            phenomenon: tuple(
                np.flatnonzero(self.diagnostic.categories[f"fine: {phenomenon.name}"][drawn].ravel()).tolist()
            )
            for phenomenon in task.phenomena
            if f"fine: {phenomenon.name}" in self.diagnostic.categories
        }
        return World._Pairs(
            Column(task.words, gold.tobytes()),
            Column(task.words, predicted.tobytes()),
            Metadata(tuple(groups.tolist()), {}),
            phenomena,
        )

    def truths(self, accuracy: float) -> dict[str, tuple[float, float]]:
        """Interval name to the true score and the least count that a cell of its table expects."""
        found: dict[str, tuple[float, float]] = {}
        means = []
        for task in self.benchmark.scored:
            values = []
            for metric in task.metrics:
                if task.words:
                    table = expected_table(SHARES[metric.file], accuracy)
                    positive = task.words.index(metric.positive) if metric.positive else 0
                    least = min(map(min, table)) * self.benchmark.file(metric.file).size()
                    found[f"{task.name} {metric.name}"] = _value(metric.function, table, positive), least
                else:
                    rank = 6 / np.pi * np.arcsin(accuracy / 2)  # Spearman's rho of the bivariate normal
                    found[f"{task.name} {metric.name}"] = (
                        (rank if metric.function == "spearman" else accuracy),
                        np.inf,
                    )
                values.append(found[f"{task.name} {metric.name}"][0])
            means.append(float(np.mean(values)))
            if len(values) > 1:
                found[f"{task.name} score"] = means[-1], np.inf
        found["macro-average"] = float(np.mean(means)), np.inf
        return found | self._diagnostic_truths(accuracy)

    def _diagnostic_truths(self, accuracy: float) -> dict[str, tuple[float, float]]:
        found = {}
        metric = self.benchmark.diagnostics[0].metrics[0]
        for name, at in self.diagnostic.categories.items():
            counts = np.bincount(self.diagnostic.gold[at], minlength=3)
            table = expected_table((counts / counts.sum()).tolist(), accuracy)
            found[name] = _value(metric.function, table, 0), min(map(min, table)) * int(counts.sum())
        return found


def _value(function: str, table: Table, positive: int) -> float:
    return float(COUNT_METRICS[function].of(table, positive))


def real_diagnostic(benchmark: Benchmark) -> Diagnostic | None:
    """The real diagnostic set's labels and tags, where they are at hand."""
    if not (REAL_GOLD / "AX.phenomena.tsv").exists():
        return None
    with (
        tempfile.TemporaryDirectory() as copy
    ):  # reading gold leaves a key beside it, and this folder is not ours
        for path in REAL_GOLD.glob("AX.*"):
            shutil.copyfile(path, Path(copy) / path.name)
        gold = read_gold(copy, benchmark._replace(tasks=benchmark.diagnostics), partial=True)
    return _diagnostic(np.frombuffer(gold.columns["AX"].codes, np.uint8), gold.phenomena["AX"])


def made_up_diagnostic(benchmark: Benchmark, rng: Rng) -> Diagnostic:
    """A set of the real one's sizes, with labels at random: each direction of a pair on its own."""
    codes = rng.choice(3, p=SET_SHARES, size=2 * PAIRS).astype(np.uint8)
    tagged = {}
    for phenomenon in benchmark.diagnostics[0].phenomena:
        pairs = rng.choice(PAIRS, size=PHENOMENA[phenomenon.name], replace=False)
        tagged[phenomenon] = tuple(np.sort([*(2 * pairs), *(2 * pairs + 1)]).tolist())
    return _diagnostic(codes, tagged)


def _diagnostic(codes: Codes, tagged: Mapping[Phenomenon, tuple[int, ...]]) -> Diagnostic:
    found = {"overall": np.ones(codes.size, np.bool_)}
    for phenomenon, positions in tagged.items():
        for name in (f"coarse: {phenomenon.coarse}", f"fine: {phenomenon.name}"):
            found.setdefault(name, np.zeros(codes.size, np.bool_))[list(positions)] = True
    ordered = sorted(found, key=lambda name: (name != "overall", name[:4], -int(found[name].sum())))
    return Diagnostic(codes.reshape(-1, 2), {name: found[name].reshape(-1, 2) for name in ordered})


def intervals(report: Report) -> Iterator[tuple[str, Score]]:
    """Every number of a report under the names that `truths` uses."""
    for name, task in report.tasks.items():
        for metric, score in task.metrics.items():
            yield f"{name} {metric}", score
        if len(task.metrics) > 1 and task.score:
            yield f"{name} score", task.score
    if report.score:
        yield "macro-average", report.score
    for diagnostic in report.diagnostics.values():
        if diagnostic:
            yield "overall", diagnostic.overall
            yield from ((f"coarse: {name}", score) for name, score in diagnostic.coarse.items())
            yield from ((f"fine: {name}", score) for name, score in diagnostic.fine.items())


def simulate(world: World, accuracy: float, *, worlds: int, resamples: int, seed: int) -> dict[Cell, Tally]:
    """Grade that many worlds and count which intervals hold the truth."""
    truths = world.truths(accuracy)
    held, given = dict.fromkeys(truths, 0), dict.fromkeys(truths, 0)
    rng = np.random.default_rng([seed, round(accuracy * 1000)])
    for number in range(worlds):
        gold, submission = world.draw(accuracy, rng)
        report = grade(submission, gold, resamples=resamples, seed=number)
        for name, score in intervals(report):
            if score.low is not None and score.high is not None:
                given[name] += 1
                held[name] += score.low - 1e-9 <= truths[name][0] <= score.high + 1e-9
    return {Cell(name, accuracy): Tally(held[name], given[name], truths[name][1]) for name in truths}


def goal(cell: Cell, tally: Tally) -> tuple[float, float] | None:
    """The range its coverage should be in; None where none is set."""
    if cell.name.startswith("fine"):
        return 0.9, 1.0
    if (cell.name == "overall" or cell.name.startswith("coarse")) and tally.expected < 5:
        return None
    return 0.93, 0.97


def outside(cell: Cell, tally: Tally, worlds: int) -> bool:
    """Whether a cell misses its goal. One that fewer than a world in twenty gives counts as withheld."""
    wanted = goal(cell, tally)
    if wanted is None or tally.given < worlds / 20:
        return False
    return not wanted[0] <= tally.held / tally.given <= wanted[1]


def print_table(tallies: Mapping[Cell, Tally], worlds: int) -> None:
    """A row per interval, a column per accuracy: coverage, and the share of worlds that gave one."""
    print(f"{'interval':40}" + "".join(f"{accuracy:>18}" for accuracy in ACCURACIES))
    for name in dict.fromkeys(cell.name for cell in tallies):
        cells = [Cell(name, accuracy) for accuracy in ACCURACIES if Cell(name, accuracy) in tallies]
        print(f"{name:40}" + "".join(_shown(cell, tallies[cell], worlds) for cell in cells))
    missed = [(cell, tally) for cell, tally in tallies.items() if outside(cell, tally, worlds)]
    print(f"\n{len(missed)} of {len(tallies)} outside their goal (*)")
    print("- has no goal: a (gold, predicted) cell expects fewer than five")
    for cell, tally in missed:
        low, high = goal(cell, tally) or (0.0, 1.0)
        print(
            f"  {cell.name} at {cell.accuracy}: {tally.held / tally.given:.1%} of {tally.given}, "
            f"goal {low:.0%} to {high:.0%}"
        )


def _shown(cell: Cell, tally: Tally, worlds: int) -> str:
    covers = f"{tally.held / tally.given:.1%}" if tally.given else "withheld"
    share = f" of {tally.given / worlds:.0%}" if 0 < tally.given < worlds else ""
    mark = "*" if outside(cell, tally, worlds) else " " if goal(cell, tally) else "-"
    return f"{covers + share:>17}{mark}"


def main() -> int:
    parser = world_options(__doc__, quick=200)
    options = parser.parse_args()
    worlds = options.worlds
    benchmark = load_benchmark("glue")
    diagnostic = real_diagnostic(benchmark) or made_up_diagnostic(
        benchmark, np.random.default_rng(options.seed)
    )
    world = World(benchmark, diagnostic)
    start, tallies = time.process_time(), {}
    for accuracy in ACCURACIES:
        tallies |= simulate(world, accuracy, worlds=worlds, resamples=options.resamples, seed=options.seed)
    print_table(tallies, worlds)
    spent = time.process_time() - start
    print(f"{worlds} worlds at each accuracy, {options.resamples} resamples, {spent:.0f} s CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
