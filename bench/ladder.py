"""What an attacker gains who sends answers without a model: with every score shown, rounded, on the Ladder.

    python bench/ladder.py [--uploads 730] [--repetitions 5] [--flips]

The attack is Blum and Hardt's (2015, section 4): random answers, a majority vote of those that scored above
chance. `--flips` is a patient one that the Ladder does not stop: change two answers of the best at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Task, load_benchmark
from gluebench.scoring.feedback import rounded_value, step
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column

SIZES: Mapping[str, int] = {
    "WNLI": 146,
    "CoLA": 1_063,
    "AX": 1_104,
    "STS-B": 1_379,
    "MRPC": 1_725,
    "SST-2": 1_821,
    "RTE": 3_000,
    "QNLI": 5_463,
    "MNLI-m": 9_796,
    "QQP": 390_965,
}
"""Test sizes of GLUE. The labels here are drawn by a fair coin, whatever the task."""

Codes = NDArray[np.uint8]


class Gain(NamedTuple):
    """How far the attacker's final answers are above chance, on the labels they were fitted to."""

    points: float
    errors: float
    """The same in standard errors of an accuracy of that size."""
    shown: int
    """Scores that told something."""


@cache
def accuracy_task() -> Task:
    """A task of two labels scored by accuracy."""
    return load_benchmark("glue").task("SST-2")


def pairs(gold: Codes, answers: Codes) -> Pairs:
    """Gold and answers as the grader has them."""
    words = ("0", "1")
    return Pairs(Column(words, gold.tobytes()), Column(words, answers.tobytes()))


class Ladder:
    """A site that shows a score only where it is clearly better."""

    def __init__(self, gold: Codes) -> None:
        self.gold = gold
        self.best: Pairs | None = None

    def tells(self, answers: Codes) -> bool:
        """Whether this upload's score is shown as new."""
        sent = pairs(self.gold, answers)
        if self.best is not None and not step(accuracy_task(), {"SST-2": sent}, {"SST-2": self.best}).better:
            return False
        self.best = sent
        return True


def above_chance(gold: Codes) -> Callable[[Codes], bool]:
    """A site that shows every score: the attacker keeps what is above one half."""
    return lambda answers: 2 * int(np.count_nonzero(gold == answers)) > len(gold)


def rounded_above_chance(gold: Codes) -> Callable[[Codes], bool]:
    """A site that shows every score rounded: the attacker keeps what is shown as above one half."""
    return lambda answers: rounded_value(float(np.mean(gold == answers)), len(gold), 0.0) > 0.5


def majority(gold: Codes, tells: Callable[[Codes], bool], *, uploads: int, rng: np.random.Generator) -> Gain:
    """Send random answers, keep what the site says is good, vote."""
    votes, kept = np.zeros(len(gold), np.int32), 0
    for _ in range(uploads):
        answers = rng.integers(0, 2, len(gold), dtype=np.uint8)
        if tells(answers):
            votes += 2 * answers.astype(np.int32) - 1
            kept += 1
    return _gain(gold, (votes > 0).astype(np.uint8), kept)


def flips(gold: Codes, *, uploads: int, rng: np.random.Generator) -> Gain:
    """Change two untried answers of the best at a time, and keep the change where a new score is shown."""
    site = Ladder(gold)
    best = rng.integers(0, 2, len(gold), dtype=np.uint8)
    site.tells(best)
    kept, order = 1, rng.permutation(len(gold))
    for upload in range(1, uploads):
        start = 2 * (upload - 1)
        if start + 2 > len(gold):
            break
        changed = best.copy()
        changed[order[start : start + 2]] ^= 1
        if site.tells(changed):
            best, kept = changed, kept + 1
    return _gain(gold, best, kept)


def _gain(gold: Codes, answers: Codes, kept: int) -> Gain:
    points = float(np.mean(gold == answers)) - 0.5
    return Gain(100 * points, points / (0.25 / len(gold)) ** 0.5, kept)


def labels(size: int, rng: np.random.Generator) -> Codes:
    """Labels by a fair coin."""
    return rng.integers(0, 2, size, dtype=np.uint8)


def main() -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--uploads", type=int, default=730)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--flips", action="store_true")
    asked = parser.parse_args()
    print(f"{asked.uploads} uploads; points over chance, their standard errors (the most), scores shown")
    for name, size in SIZES.items():
        found = attacked(size, uploads=asked.uploads, repetitions=asked.repetitions, by_flips=asked.flips)
        cells = (f"{site} {_summary(gains)}" for site, gains in found.items())
        print(f"{name:7} {size:8,}  {'  |  '.join(cells)}", flush=True)


def attacked(size: int, *, uploads: int, repetitions: int, by_flips: bool = False) -> dict[str, list[Gain]]:
    """What the attack gains on each site, once for each repetition."""
    gains: dict[str, list[Gain]] = {}
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, size])
        gold = labels(size, rng)
        if by_flips:
            gains.setdefault("Ladder", []).append(flips(gold, uploads=uploads, rng=rng))
        else:
            for site, tells in (
                ("every score", above_chance(gold)),
                ("rounded", rounded_above_chance(gold)),
                ("Ladder", Ladder(gold).tells),
            ):
                gains.setdefault(site, []).append(majority(gold, tells, uploads=uploads, rng=rng))
    return gains


def _summary(gains: list[Gain]) -> str:
    points, errors, shown = (np.mean([each[at] for each in gains]) for at in range(3))
    return f"{points:5.1f}, {errors:4.1f} ({max(each.errors for each in gains):4.1f}), {shown:3.0f}"


if __name__ == "__main__":
    main()
