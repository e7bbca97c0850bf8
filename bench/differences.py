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
from collections.abc import Iterator, Mapping
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from intervals import ACCURACIES, made_up_diagnostic, real_diagnostic
from material import world_options
from together import Several

from gluebench.analysis import Comparison, Difference, compare
from gluebench.benchmark import load_benchmark

GAP = 0.03
"""How much less often the second system is right, where it is the worse one."""
ALARM = 0.05
LIMIT = 0.055
"""Highest share of false alarms that is wanted."""


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
    pair: Several, accuracy: float, gap: float, *, worlds: int, resamples: int, seed: int
) -> dict[Cell, Tally]:
    """Compare in that many worlds; the cell "any task" counts those with any p < .05 after Holm."""
    truths = pair.truths(accuracy, gap)
    tallies = dict.fromkeys(truths, Tally())
    alarms = 0
    rng = np.random.default_rng([seed, round(accuracy * 1000), round(gap * 1000)])
    for number in range(worlds):
        gold, (a, b) = pair.draw(accuracy, [gap], rng)
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
    pair = Several(benchmark, real_diagnostic(benchmark) or made_up_diagnostic(benchmark, rng))
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
