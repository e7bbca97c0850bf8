"""ICM and ICM-Soft, with their norms, against the recursion of the paper's definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2
from random import Random
from statistics import NormalDist, fmean

import numpy as np
import pytest

from gluebench.scoring import measure
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.metrics import Metric, point
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.paired import paired_tests
from gluebench.scoring.units import units_of

PARENTS = {"a1": "A", "a2": "A", "A": "yes", "B": "yes", "c": "C", "C": "yes"}
LABELS = ("a1", "a2", "A", "B", "c", "no")
TREES = ({}, {"a1": "yes", "a2": "yes", "B": "yes"}, PARENTS)
Weighted = Sequence[tuple[str, float]]


def path(label: str, parents: dict[str, str]) -> list[str]:
    return [label, *(path(parents[label], parents) if label in parents else [])]


def joined(*sets: Weighted) -> Weighted:
    """The union: each label with its largest weight."""
    largest: dict[str, float] = {}
    for label, weight in (pair for each in sets for pair in each):
        largest[label] = max(largest.get(label, weight), weight)
    return list(largest.items())


def information(labels: Weighted, of: Callable[[str, float], float], parents: dict[str, str]) -> float:
    """I(first) + I(others) - I(deepest common ancestors of the first and each of the others)."""
    if not labels:
        return 0.0
    (first, weight), *others = labels
    shared = []
    for label, other in others:
        common = [each for each in path(first, parents) if each in path(label, parents)]
        shared = joined(shared, [(word, min(weight, other)) for word in common[:1]])
    return of(first, weight) + information(others, of, parents) - information(shared, of, parents)


def expected(
    gold: Sequence[Weighted],
    given: Sequence[Weighted],
    of: Callable[[str, float], float],
    parents: dict[str, str],
) -> tuple[float, float]:
    """The mean over the examples, and its norm."""
    contrasts, own = [], []
    for first, second in zip(gold, given, strict=True):
        of_both = [information(each, of, parents) for each in (second, first, joined(first, second))]
        contrasts.append(2 * of_both[0] + 2 * of_both[1] - 3 * of_both[2])
        own.append(of_both[1])
    value, best = fmean(contrasts), fmean(own)
    return value, max((value + best) / (2 * best), 0.0)


def hard(
    gold: Sequence[Sequence[str]], given: Sequence[Sequence[str]], parents: dict[str, str]
) -> tuple[float, float]:
    def of(label: str, _: float) -> float:
        number = sum(any(label in path(each, parents) for each in cell) for cell in gold)
        return -log2(max(number, 1) / len(gold))

    return expected(
        *([[(label, 1.0) for label in cell] for cell in side] for side in (gold, given)), of, parents
    )


def soft(
    gold: Sequence[Sequence[float]], given: Sequence[Sequence[float]], parents: dict[str, str]
) -> tuple[float, float]:
    def raised(cell: Sequence[float], label: str) -> float:
        return max(weight for word, weight in zip(LABELS, cell, strict=True) if label in path(word, parents))

    def of(label: str, weight: float) -> float:
        weights = [raised(cell, label) for cell in gold]
        deviation = fmean(abs(each - fmean(weights)) for each in weights)
        above = 1 - NormalDist(fmean(weights), deviation).cdf(weight)
        return -log2(above or 1 / len(gold)) if weight else 0.0

    return expected(
        *([list(zip(LABELS, cell, strict=True)) for cell in side] for side in (gold, given)), of, parents
    )


@pytest.mark.parametrize("parents", TREES)
def test_labels_and_sets_against_the_recursion(parents: dict[str, str]) -> None:
    for seed in range(5):
        random = Random(seed)
        gold = [random.choice(LABELS[:-1] if seed == 1 else LABELS) for _ in range(30)]
        given = [label if random.random() < 0.6 else random.choice(LABELS) for label in gold]
        scores = [measure(name, gold, given, parents=parents) for name in ("icm", "icm_norm")]
        assert scores == pytest.approx(hard([[each] for each in gold], [[each] for each in given], parents))
        sets = [[random.sample(LABELS, random.randint(0, 3)) for _ in range(30)] for _ in range(2)]
        scores = [measure(name, *sets, parents=parents) for name in ("sets_icm", "sets_icm_norm")]
        assert scores == pytest.approx(hard(*sets, parents))


@pytest.mark.parametrize("parents", TREES)
def test_weights_against_the_recursion(parents: dict[str, str]) -> None:
    for seed in range(5):
        random = Random(seed)
        gold = [[random.choice([0, 1 / 6, 1 / 3, 1]) for _ in LABELS] for _ in range(20)]
        given = [[random.choice([0.0, random.random()]) for _ in LABELS] for _ in range(20)]
        names = ("icm_soft", "icm_soft_norm")
        options = {"labels": LABELS, "parents": parents, "exclusive": False}
        scores = [measure(name, gold, given, **options) for name in names]
        assert scores == pytest.approx(soft(gold, given, parents))


def test_gold_itself_has_its_own_information() -> None:
    gold = ["x", "x", "y", "z"]
    assert measure("icm", gold, gold) == 1.5  # the entropy, in bits
    assert measure("icm_norm", gold, gold) == 1.0
    assert measure("icm_norm", gold, ["z", "y", "x", "x"]) == 0.0
    assert measure("icm_norm", ["x", "x"], ["x", "x"]) == 0.0


def test_a_weight_that_no_gold_has_counts_as_one_example() -> None:
    gold, given = [[1.0, 0.0], [0.5, 0.0]], [[1.0, 0.3], [0.5, 0.0]]
    lost = measure("icm_soft", gold, gold, exclusive=False)
    lost -= measure("icm_soft", gold, given, exclusive=False)
    assert lost == pytest.approx(log2(2) / 2)


def test_a_label_cannot_be_its_own_ancestor() -> None:
    with pytest.raises(ValueError, match="'x' is its own ancestor"):
        measure("icm", ["x", "y"], ["y", "y"], parents={"x": "y", "y": "x"})


def test_intervals_and_tests() -> None:
    """The better of two systems is so significantly, and each interval has the value."""
    random = Random(2)
    gold = [[random.choice([0, 1 / 3, 1]) for _ in LABELS] for _ in range(120)]
    hardened = [[word for word, weight in zip(LABELS, cell, strict=True) if weight > 0.5] for cell in gold]
    for form, name, truth in (("sets", "sets_icm", hardened), ("distributions", "icm_soft", gold)):
        other = random.sample(truth, len(truth))
        good = [cell if random.random() < 0.8 else swap for cell, swap in zip(truth, other, strict=True)]
        metrics = [Metric(each, each, each, "F", labels=LABELS, parents=tuple(PARENTS.items()))
                   for each in (name, f"{name}_norm")]  # fmt: skip
        systems = [pairs_of(form, truth, each, labels=LABELS, exclusive=False) for each in (good, other)]
        points = [point(metric, systems[0]) for metric in metrics]
        for of_metric, bar in zip(points, file_intervals(metrics, systems[0], points), strict=False):
            assert bar.low is not None
            assert bar.high is not None
            assert bar.low < of_metric.value < bar.high
        units = units_of(metrics, systems)
        tests = paired_tests(units, resamples=999, rng=np.random.default_rng(3))
        assert all(test.p < 0.01 for test in tests)
