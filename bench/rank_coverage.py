"""How often all rank sets of a board hold all ranks that its systems truly have, and how wide they are.

    python bench/rank_coverage.py [--worlds N] [--large N] [--seed N] [--only TEXT]

Every world draws test sets and systems whose true order is known, and ranks them as `gluebench rank` does.
The *tie set* of a system are all the ranks that it could hold: equal systems may stand in any order among
themselves. A set covers if it holds the whole tie set. Goals: all sets of a board at once in 95 % of the
worlds, and that of the system which was observed first too, since readers look at it. A line is marked *
where it misses the goal, and ** where it does by more than two standard errors. The last lines say how often
the truly best system alone may be the best. --large is the number of worlds of 300 systems.

Results: docs/explanation/differences.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from array import array
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from gluebench.analysis.rank import Ranking, rank
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.scoring import Gold
from gluebench.scoring.tags import Metadata
from gluebench.submission import Column, Submission

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Rng = np.random.Generator
GOAL = 0.95
COMMON = 0.7
"""Correlation of an example's difficulty for two systems."""


class File(NamedTuple):
    """A test file of a world."""

    name: str
    """That of a test file of GLUE, whose metrics it has."""
    size: int
    share: float = 0.5
    """Share of the examples with the second label."""
    group: int = 1
    """Examples of a group, which share three quarters of their luck."""
    heavy: bool = False
    """Whether a tenth of the errors of numbers are much larger than the others."""


class World(NamedTuple):
    """Test files, and how often each system is right, from which its true rank follows."""

    files: tuple[File, ...]
    skills: Floats


THREE = (File("SST-2", 400), File("QNLI", 250), File("RTE", 800))
GLUE = (
    File("CoLA", 1063, 0.7),
    File("SST-2", 1821),
    File("MRPC", 1725, 0.68),
    File("STS-B", 1379),
    File("QQP", 4000, 0.37),
    File("MNLI-m", 2000),
    File("MNLI-mm", 2000),
    File("QNLI", 2000),
    File("RTE", 900),
    File("WNLI", 146, group=2),
)
SKEWED = (File("MRPC", 300, 0.08), File("CoLA", 150, 0.15), File("STS-B", 200, heavy=True))
GROUPED = (File("SST-2", 1000, group=4), File("RTE", 600, group=6))
SUITES = {"3 tasks": THREE, "9 tasks": GLUE, "F1, MCC, Pearson": SKEWED, "groups": GROUPED}
GAPS = (0.0, 0.0002, 0.001, 0.005)


def line(best: float, gap: float, systems: int) -> Floats:
    """Skills that fall by a gap from one system to the next."""
    skills: Floats = np.asarray(best - gap * np.arange(systems), np.float64)
    return skills


def worlds(systems: int, large: int) -> dict[str, World]:
    """All worlds by name."""
    middle = (systems - 1) / 2
    found = {}
    for name, suite in SUITES.items():
        gaps = GAPS if suite in (THREE, GLUE) else (0.0, 0.005)
        for gap in gaps:
            found[f"{systems} systems, {name}, gap {gap:g}"] = World(
                suite, line(0.8 + gap * middle, gap, systems)
            )
    tiers = np.repeat([0.86, 0.83, 0.8, 0.77], systems // 4)
    found[f"{systems} systems, 3 tasks, 4 tiers"] = World(THREE, tiers)
    mixed = np.sort(np.concatenate([np.full(large // 3, 0.9), line(0.95, 0.001, large - large // 3)]))[::-1]
    found[f"{large} systems, 3 tasks, equal"] = World(THREE, np.full(large, 0.8))
    found[f"{large} systems, 3 tasks, mixed gaps"] = World(THREE, mixed)
    found[f"{large} systems, 9 tasks, mixed gaps"] = World(GLUE, mixed)
    return found


def right_answers(file: File, skills: Floats, rng: Rng) -> Bools:
    """Which examples each system has right, shape (systems, examples)."""
    groups = -(-file.size // file.group)
    common, own = rng.normal(size=groups), rng.normal(size=(len(skills), groups))
    luck = COMMON * common + (1 - COMMON**2) ** 0.5 * own
    if file.group > 1:
        luck = np.repeat(luck, file.group, axis=1)[:, : file.size]
        luck = 0.75**0.5 * luck + 0.5 * rng.normal(size=luck.shape)
    cuts = np.array([NormalDist().inv_cdf(skill) for skill in skills])
    right: Bools = luck < cuts[:, np.newaxis]
    return right


def draw(world: World, glue: Benchmark, rng: Rng) -> tuple[Gold, dict[str, Submission]]:
    """Gold and submissions of one world; systems are named by their true order, from 0."""
    columns: dict[str, Column] = {}
    groups: dict[str, Metadata] = {}
    answers: list[dict[str, Column]] = [{} for _ in world.skills]
    for file in world.files:
        task = next(task for task in glue.scored if file.name in task.metrics_by_file())
        if file.group > 1:
            groups[file.name] = Metadata(tuple(at // file.group for at in range(file.size)), {})
        if task.words:
            codes = (rng.random(file.size) < file.share).astype(np.uint8)
            columns[file.name] = Column(task.words, codes.tobytes())
            for own, right in zip(answers, right_answers(file, world.skills, rng), strict=True):
                own[file.name] = Column(task.words, np.where(right, codes, 1 - codes).tobytes())
            continue
        gold = rng.normal(size=file.size)
        noise = rng.normal(size=file.size) + rng.normal(size=(len(world.skills), file.size))
        if file.heavy:
            noise *= np.where(rng.random(file.size) < 0.1, 2.5, 0.6)
        columns[file.name] = Column((), array("d", gold))
        for own, skill, errors in zip(answers, world.skills, noise, strict=True):
            own[file.name] = Column((), array("d", gold + (3 * (1 - skill) + 0.1) * errors / 2**0.5))
    names = {file.name for file in world.files}
    tasks = tuple(task for task in glue.scored if {*task.metrics_by_file()} <= names)
    suite = glue._replace(tasks=tasks)
    gold_labels = Gold(suite, "test", "", columns, {}, groups, partial=True)
    submissions = {str(at): Submission(suite, "test", "", "valid", (), own) for at, own in enumerate(answers)}
    return gold_labels, submissions


class Tally(NamedTuple):
    """What became of one board."""

    mean: float
    """Share of the systems whose rank set covers."""
    together: bool
    first: bool
    """Whether that of the system observed first does."""
    width: float
    best: int
    """How many may be the best."""
    holds: bool
    """Whether these hold all truly best ones."""


def tally(world: World, ranking: Ranking) -> Tally:
    """Hold the rank sets against the truth."""
    covers, widths = [], []
    for system in ranking.systems:
        skill = world.skills[int(system.name)]
        low = 1 + int((world.skills > skill + 1e-12).sum())
        high = int((world.skills >= skill - 1e-12).sum())
        assert system.rank_low is not None
        assert system.rank_high is not None
        covers.append(system.rank_low <= low and system.rank_high >= high)
        widths.append(system.rank_high - system.rank_low + 1)
    truly_best = {str(at) for at in np.flatnonzero(world.skills >= world.skills.max() - 1e-12)}
    return Tally(
        float(np.mean(covers)),
        all(covers),
        covers[0],
        float(np.mean(widths)),
        len(ranking.may_be_best),
        truly_best <= {*ranking.may_be_best},
    )


def mark(share: float, worlds: int) -> str:
    """How badly a share misses the goal."""
    if share >= GOAL:
        return ""
    return "**" if GOAL - share > 2 * (GOAL * (1 - GOAL) / worlds) ** 0.5 else "*"


def simulate(world: World, number: int, seed: Sequence[int]) -> list[Tally]:
    """Rank the systems of so many draws of a world."""
    glue = load_benchmark("glue")
    tallies = []
    for at in range(number):
        gold, submissions = draw(world, glue, np.random.default_rng([*seed, at]))
        tallies.append(tally(world, rank(submissions, gold)))
    return tallies


def report(name: str, tallies: Sequence[Tally]) -> bool:
    """Print a line; return whether it meets the goals."""
    mean, together, first, width, best, holds = np.mean(tallies, axis=0)
    marks = [mark(share, len(tallies)) for share in (together, first)]
    print(
        f"{name:42} {100 * mean:6.2f} {100 * together:6.1f}{marks[0]:2} {100 * first:6.1f}{marks[1]:2} "
        f"{width:7.2f} {best:6.1f} {100 * holds:6.1f}",
        flush=True,
    )
    return "**" not in marks


def power(systems: int, lead: float, number: int, seed: Sequence[int]) -> float:
    """How often the truly best system alone may be the best; all others are equal."""
    skills = np.full(systems, 0.8)
    skills[0] += lead
    tallies = simulate(World(THREE, skills), number, seed)
    return float(np.mean([tally.best == 1 and tally.holds for tally in tallies]))


def main(arguments: Sequence[str] | None = None, *, systems: int = 20, large: int = 300) -> int:
    """Print all lines; 1 if one misses a goal by more than two standard errors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--large", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    started, fine = time.process_time(), True
    print(
        f"{'percent of worlds':42} {'each':>6} {'all':>8} {'first':>8} {'width':>7} {'best':>6} {'holds':>6}"
    )
    for place, (name, world) in enumerate(worlds(systems, large).items()):
        if options.only in name:
            number = options.worlds if len(world.skills) == systems else options.large
            fine &= report(name, simulate(world, number, [options.seed, place]))
    for size, lead, number in ((systems, 0.06, options.worlds), (large, 0.08, options.large)):
        name = f"{size} systems, true best alone, lead {lead:g}"
        if options.only in name:
            print(f"{name:42} {100 * power(size, lead, number, [options.seed, 99]):6.1f}", flush=True)
    print(f"{time.process_time() - started:.0f} s CPU")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
