"""How many bits of hidden labels the decisions on an attacker's uploads tell beside the rounded scores.

    python bench/decided_bits.py [--labelings N] [--uploads N]

The attacker knows its answers, which differ from one base in some rows each. It sees the rounded score of
each upload, and every decision between two. Labels are drawn anew many times; the base is right in 60 %.
The score alone tells its entropy. What the decisions add is at most the sum over pairs of the entropy of the
decision, given the two scores that are shown: for decisions as a board makes them, from what is shown, and
for decisions that would be made with all digits and then shown.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations
from math import log2
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from gluebench.analysis.rank.decisions import Bools, Floats, PairVariances, decide
from gluebench.analysis.rank.influences import PartInfluences
from gluebench.benchmark import Metric, load_benchmark
from gluebench.scoring.feedback import rounded_value, rounding_width
from gluebench.scoring.influence import influence_of
from gluebench.scoring.metrics import function_of
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column

RIGHT = 0.6
CHANGED = (0.02, 0.4)
"""Smallest and largest share of rows in which an upload differs from the base."""


class Case(NamedTuple):
    """A test set."""

    name: str
    metric: Metric
    labels: int
    rows: int


class Bits(NamedTuple):
    """Bits for each upload."""

    scores: float
    shown: float
    """Of decisions made from what is shown."""
    exact: float
    """Of decisions made with all digits."""


def entropy(values: Sequence[Hashable]) -> float:
    """The entropy of a sample, in bits."""
    counts = Counter(values).values()
    return -sum(count / len(values) * log2(count / len(values)) for count in counts)


def given(values: Sequence[Hashable], conditions: Sequence[Hashable]) -> float:
    """The mean entropy of values within those with the same condition."""
    parts: dict[Hashable, list[Hashable]] = defaultdict(list)
    for value, condition in zip(values, conditions, strict=True):
        parts[condition].append(value)
    return sum(len(part) / len(values) * entropy(part) for part in parts.values())


def measure(case: Case, uploads: int, labelings: int, rng: np.random.Generator) -> Bits:
    """The bits that scores and decisions tell about the labels."""
    words = tuple(map(str, range(case.labels)))
    base = rng.integers(0, case.labels, case.rows).astype(np.uint8)
    answers = []
    for share in np.geomspace(*CHANGED, uploads):
        changed = rng.random(case.rows) < share
        other = (base + rng.integers(1, case.labels, case.rows)) % case.labels
        answers.append(np.where(changed, other, base).astype(np.uint8))
    bounds = function_of(case.metric).bounds
    scores: list[Floats] = []
    by_shown: list[Bools] = []
    by_exact: list[Bools] = []
    for _ in range(labelings):
        wrong = rng.random(case.rows) >= RIGHT
        shift = rng.integers(1, case.labels, case.rows)
        gold = Column(words, ((base + wrong * shift) % case.labels).astype(np.uint8).tobytes())
        pairs = [Pairs(gold, Column(words, own.tobytes())) for own in answers]
        influences = [influence_of([case.metric], own) for own in pairs]
        exact = np.array([own.values[0] for own in influences])
        shown = np.array([rounded_value(value, case.rows, *bounds) for value in exact])
        widths = np.array([rounding_width(value, case.rows, *bounds) for value in exact])
        covariance = PartInfluences(influences, [1.0]).covariances()
        for decided, averages, rounding in ((by_shown, shown, widths**2 / 6), (by_exact, exact, None)):
            variances = PairVariances(uploads)
            variances.add(covariance, case.rows)
            decided.append(decide(variances.deviates(averages, rounding=rounding)).better)
        scores.append(shown)
    all_scores = np.array(scores)
    of_decisions = []
    for decided in (by_shown, by_exact):
        better: NDArray[np.bool_] = np.array(decided)
        total = 0.0
        for i, j in combinations(range(uploads), 2):
            outcomes = list(zip(better[:, i, j].tolist(), better[:, j, i].tolist(), strict=True))
            total += given(outcomes, list(map(tuple, all_scores[:, [i, j]].tolist())))
        of_decisions.append(total / uploads)
    of_scores = float(np.mean([entropy(column) for column in all_scores.T.tolist()]))
    return Bits(of_scores, *of_decisions)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each test set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labelings", type=int, default=1500)
    parser.add_argument("--uploads", type=int, default=10)
    options = parser.parse_args(arguments)
    glue = load_benchmark("glue")
    accuracy, mcc = glue.task("QNLI").metrics[0], glue.task("CoLA").metrics[0]
    print(f"{'bits an upload':34} {'score':>6} {'decisions':>10} {'with all digits':>16}")
    for case in (
        Case("accuracy, 2 labels, 300 rows", accuracy, 2, 300),
        Case("accuracy, 3 labels, 300 rows", accuracy, 3, 300),
        Case("accuracy, 3 labels, 3,000 rows", accuracy, 3, 3000),
        Case("Matthews correlation, 1,000 rows", mcc, 2, 1000),
    ):
        bits = measure(case, options.uploads, options.labelings, np.random.default_rng(0))
        print(f"{case.name:34} {bits.scores:6.2f} {bits.shown:10.3f} {bits.exact:16.3f}", flush=True)


if __name__ == "__main__":
    main()
