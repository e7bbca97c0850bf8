"""How often two systems that are alike are told apart, and how often a difference's interval holds the truth.

    python bench/differences.py [--worlds N] [--resamples N] [--tasks A,B] [--quick]

The worlds are those of bench/intervals.py with a second system: on half of the examples (of the groups, where
there are groups) it gives the first one's answer, elsewhere its own. Either it is right as often, and every
p-value below .05 is a false alarm, of which at most 5.5 % are wanted; or it is right less often by GAP. In
both, 93 to 97 % of the intervals of `compare` should hold the true difference, 90 % for fine categories.
docs/design/differences.md says what was seen.
"""

from __future__ import annotations

import os
import sys
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from intervals import (
    ACCURACIES,
    PREMISES,
    SHARES,
    Diagnostic,
    World,
    confused,
    expected_table,
    made_up_diagnostic,
    real_diagnostic,
    right_together,
)
from material import world_options
from numpy.typing import NDArray

from gluebench.analysis import Comparison, Difference, compare
from gluebench.benchmark import Benchmark, Phenomenon, TestFile, load_benchmark
from gluebench.scoring import Gold, Metadata
from gluebench.scoring.tags import categories
from gluebench.submission import Column, Submission

COPIED = 0.5
"""Share of the examples on which the second system gives the first one's answer."""
GAP = 0.03
"""How much less often the second system is right, where it is the worse one."""
ALARM = 0.05
LIMIT = 0.055
"""Highest share of false alarms that is wanted."""

Rng = np.random.Generator
Codes = NDArray[np.uint8]


class Cell(NamedTuple):
    """One difference at one accuracy of the better system, where the other is as good or not."""

    name: str
    accuracy: float
    gap: float


class Tally(NamedTuple):
    """What became of one cell over the worlds."""

    held: int = 0
    """Worlds whose interval holds the true difference."""
    given: int = 0
    """Worlds that gave an interval."""
    told: int = 0
    """Worlds with p < .05."""
    worlds: int = 0
    """Worlds in which the two were compared."""

    def plus(self, difference: Difference, truth: float) -> Tally:
        """The tally with another world in it."""
        given = difference.low is not None and difference.high is not None
        held = given and difference.low - 1e-9 <= truth <= difference.high + 1e-9
        told = difference.p < ALARM
        return Tally(self.held + held, self.given + given, self.told + told, self.worlds + 1)


class Columns(NamedTuple):
    """One test file of a world."""

    gold: Column
    a: Column
    b: Column
    groups: tuple[int, ...] | None = None


class Pair:
    """Draws test sets and two systems, and knows the true differences."""

    def __init__(self, benchmark: Benchmark, diagnostic: Diagnostic) -> None:
        self.benchmark, self.diagnostic = benchmark, diagnostic
        self._truths = World(benchmark, diagnostic)

    def truths(self, accuracy: float, gap: float) -> dict[str, float]:
        """Name to the true difference."""
        ours, theirs = self._truths.truths(accuracy), self._truths.truths(accuracy - gap)
        return {name: ours[name][0] - theirs[name][0] for name in ours}

    def draw(self, accuracy: float, gap: float, rng: Rng) -> tuple[Gold, Submission, Submission]:
        """Gold and the predictions of both."""
        drawn = {file.name: self._file(file, accuracy, gap, rng) for file in self.benchmark.files()}
        task = self.benchmark.diagnostics[0]
        name = task.files[0].name
        drawn[name], tags = self._pairs(accuracy, gap, rng)
        parts = {name: categories(task, tags, None, size=len(drawn[name].gold))}
        metadata = {
            each: Metadata(columns.groups, {})
            for each, columns in drawn.items()
            if columns.groups is not None
        }
        gold = {each: columns.gold for each, columns in drawn.items()}
        labels = Gold(
            self.benchmark, "test", "", gold, {name: tags}, metadata, parts, partial=True, version=None
        )
        a, b = ({each: columns[at] for each, columns in drawn.items()} for at in (1, 2))
        return labels, *(Submission(self.benchmark, "test", "", "valid", (), each) for each in (a, b))

    def _file(self, file: TestFile, accuracy: float, gap: float, rng: Rng) -> Columns:
        words = self.benchmark.task(file.task).words
        if not self.benchmark.task(file.task).scored:
            return Columns(Column(words, b""), Column(words, b""), Column(words, b""))
        if not words:
            return _numbers(file.size(), accuracy, accuracy - gap, rng)
        if file.name.startswith("WNLI"):
            sizes = rng.choice(PREMISES, size=len(PREMISES))
            groups = np.repeat(np.arange(len(sizes)), sizes)
            gold = rng.choice(2, p=SHARES["WNLI"], size=len(groups)).astype(np.uint8)
            return _grouped(words, gold, groups, accuracy=accuracy, gap=gap, rng=rng)
        return _labels(words, file.size(), SHARES[file.name], accuracy, _own(accuracy, gap), rng)

    def _pairs(
        self, accuracy: float, gap: float, rng: Rng
    ) -> tuple[Columns, dict[Phenomenon, tuple[int, ...]]]:
        task, number = self.benchmark.diagnostics[0], len(self.diagnostic.gold)
        drawn = rng.integers(0, number, size=number)
        gold = self.diagnostic.gold[drawn].ravel()
        groups = np.repeat(np.arange(number), 2)
        tags = {
            phenomenon: tuple(
                np.flatnonzero(self.diagnostic.categories[f"fine: {phenomenon.name}"][drawn].ravel()).tolist()
            )
            for phenomenon in task.phenomena
            if f"fine: {phenomenon.name}" in self.diagnostic.categories
        }
        return _grouped(task.words, gold, groups, accuracy=accuracy, gap=gap, rng=rng), tags


def _own(accuracy: float, gap: float) -> float:
    """How often the second system is right where it does not copy."""
    return accuracy - gap / (1 - COPIED)


def _labels(
    words: Sequence[str], size: int, shares: Sequence[float], accuracy: float, own: float, rng: Rng
) -> Columns:
    """Independent examples, drawn as the table of (gold, a, b); their order does not matter."""
    classes = len(shares)
    a = np.array(expected_table(shares, accuracy))
    b = np.array(expected_table([1.0] * classes, own))
    joint = a[:, :, None] * (COPIED * np.eye(classes)[None] + (1 - COPIED) * b[:, None, :])
    counts = rng.multinomial(size, joint.ravel() / joint.sum())
    cells = np.indices((classes,) * 3).reshape(3, -1).astype(np.uint8)
    return Columns(*(Column(tuple(words), np.repeat(each, counts).tobytes()) for each in cells))


def _grouped(
    words: Sequence[str], gold: Codes, groups: NDArray[np.int64], *, accuracy: float, gap: float, rng: Rng
) -> Columns:
    a = confused(gold, right_together(groups, accuracy, rng), len(words), rng)
    own = confused(gold, right_together(groups, _own(accuracy, gap), rng), len(words), rng)
    copied = (rng.random(int(groups.max()) + 1) < COPIED)[groups]
    columns = (gold, a, np.where(copied, a, own).astype(np.uint8))
    return Columns(*(Column(tuple(words), each.tobytes()) for each in columns), tuple(groups.tolist()))


def _numbers(size: int, ours: float, theirs: float, rng: Rng) -> Columns:
    gold, shared, first, second = rng.normal(size=(4, size))
    noise = [COPIED**0.5 * shared + (1 - COPIED) ** 0.5 * each for each in (first, second)]
    predicted = [r * gold + (1 - r * r) ** 0.5 * each for r, each in zip((ours, theirs), noise, strict=True)]
    return Columns(*(Column((), array("d", each.tobytes())) for each in (gold, *predicted)))


def differences(comparison: Comparison) -> Iterator[tuple[str, Difference]]:
    """Every difference under the name that `truths` uses."""
    for name, task in comparison.tasks.items():
        for metric, difference in task.metrics.items():
            yield f"{name} {metric}", difference
        if len(task.metrics) > 1 and task.score:
            yield f"{name} score", task.score
    if comparison.overall:
        yield "macro-average", comparison.overall
    for diagnostic in comparison.diagnostics.values():
        if diagnostic.score:
            yield "overall", diagnostic.score
        for part in diagnostic.categories:
            yield f"{part.kind}: {part.name}", part.difference


def simulate(
    pair: Pair, accuracy: float, gap: float, *, worlds: int, resamples: int, seed: int
) -> dict[Cell, Tally]:
    """Compare in that many worlds; the cell "any task" counts those with any p < .05 after Holm."""
    truths = pair.truths(accuracy, gap)
    tallies = dict.fromkeys(truths, Tally())
    alarms = 0
    rng = np.random.default_rng([seed, round(accuracy * 1000), round(gap * 1000)])
    for number in range(worlds):
        gold, a, b = pair.draw(accuracy, gap, rng)
        comparison = compare(a, b, gold, resamples=resamples, seed=number)
        for name, difference in differences(comparison):
            tallies[name] = tallies[name].plus(difference, truths[name])
        scores = [task.score for task in comparison.tasks.values()]
        alarms += any(score is not None and (score.adjusted or 0) < ALARM for score in scores)
    tallies["any task, after Holm"] = Tally(told=alarms, worlds=worlds)
    return {Cell(name, accuracy, gap): tally for name, tally in tallies.items()}


def faults(cell: Cell, tally: Tally) -> Iterator[str]:
    """Which goals a cell misses. An interval that fewer than a world in twenty gives counts as withheld."""
    if cell.gap == 0 and tally.worlds and tally.told / tally.worlds > LIMIT:
        yield f"{tally.told / tally.worlds:.1%} false alarms, at most {LIMIT:.1%} wanted"
    if tally.given and tally.given >= tally.worlds / 20:
        low, high = (0.9, 1.0) if cell.name.startswith("fine") else (0.93, 0.97)
        covered = tally.held / tally.given
        if not low <= covered <= high:
            yield f"{covered:.1%} of {tally.given:,} intervals hold the truth, goal {low:.0%} to {high:.0%}"


def print_tables(tallies: Mapping[Cell, Tally]) -> None:
    """False alarms and coverage where the two are alike, power and coverage where they are not."""
    for gap in dict.fromkeys(cell.gap for cell in tallies):
        heading = f"B is right less often by {gap}: told apart" if gap else "alike: false alarms"
        print(f"\n{heading} / intervals that hold the truth (share given)")
        print(f"{'difference':34}" + "".join(f"{accuracy:>22}" for accuracy in ACCURACIES))
        for name in dict.fromkeys(cell.name for cell in tallies):
            shown = (_shown(tallies.get(Cell(name, accuracy, gap), Tally())) for accuracy in ACCURACIES)
            print(f"{name:34}" + "".join(shown))
    missed = [(cell, fault) for cell, tally in tallies.items() for fault in faults(cell, tally)]
    print(f"\n{len(missed)} goals missed in {len(tallies)} cells")
    for cell, fault in missed:
        print(f"  {cell.name} at {cell.accuracy}, {'alike' if cell.gap == 0 else f'gap {cell.gap}'}: {fault}")


def _shown(tally: Tally) -> str:
    if not tally.worlds:
        return f"{'-':>22}"
    covered = f"{tally.held / tally.given:.1%}" if tally.given else "-"
    share = f" ({tally.given / tally.worlds:.0%})" if tally.given < tally.worlds else ""
    return f"{f'{tally.told / tally.worlds:.1%} / {covered}{share}':>22}"


def main() -> int:
    parser = world_options(__doc__, quick=100)
    parser.add_argument("--tasks", help="only these scored tasks, parted by commas; AX is always there")
    options = parser.parse_args()
    worlds = options.worlds
    benchmark = load_benchmark("glue")
    if options.tasks:
        names = options.tasks.split(",")
        chosen = tuple(task for task in benchmark.tasks if task.name in names or not task.scored)
        benchmark = benchmark._replace(tasks=chosen)
    rng = np.random.default_rng(options.seed)
    pair = Pair(benchmark, real_diagnostic(benchmark) or made_up_diagnostic(benchmark, rng))
    start, tallies = time.process_time(), {}
    for gap in (0.0, GAP):
        for accuracy in ACCURACIES:
            tallies |= simulate(
                pair, accuracy, gap, worlds=worlds, resamples=options.resamples, seed=options.seed
            )
    print_tables(tallies)
    spent = time.process_time() - start
    print(f"{worlds} worlds in each case, {options.resamples} resamples, {spent:.0f} s CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
