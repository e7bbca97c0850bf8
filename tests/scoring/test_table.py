"""Scored tables in place of gold: their intervals and tests against plain formulas and scipy."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from gluebench import ScoredTable, UnknownNameError, compare, diagnose, grade, rank
from gluebench.data import DataError
from gluebench.scoring.intervals import wilson

RNG = np.random.default_rng
N = 400


def named(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))


def numeric(n: int = N, seed: int = 0, shift: float = 0.03) -> ScoredTable:
    rng = RNG(seed)
    base = rng.random(n) * 0.8
    scores = {"a": base + rng.normal(shift, 0.1, n), "b": base}
    return ScoredTable("t", named(n), {name: tuple(map(float, own)) for name, own in scores.items()})


def test_right_and_wrong_are_graded_by_wilson_and_compared_by_mcnemar() -> None:
    rng = RNG(1)
    a, b = (rng.random(N) < share for share in (0.7, 0.6))
    table = ScoredTable("t", named(N), {"a": tuple(map(float, a)), "b": tuple(map(float, b))})
    score = grade("a", table).score
    assert score is not None
    assert score.value == pytest.approx(a.mean())
    assert (score.low, score.high) == pytest.approx(wilson(int(a.sum()), N)[:2])
    difference = compare("a", "b", table).overall
    assert difference is not None
    assert difference.test == "mid-p McNemar"
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    fewer, apart = min(only_a, only_b), only_a + only_b
    mid_p = 2 * stats.binom.cdf(fewer, apart, 0.5) - stats.binom.pmf(fewer, apart, 0.5)
    assert difference.p == pytest.approx(mid_p)


@pytest.mark.parametrize("n", [60, N])
def test_numbers_are_compared_by_a_paired_exchange(n: int) -> None:
    table = numeric(n)
    a, b = (np.array(scores) for scores in table.scores.values())
    difference = compare("a", "b", table).overall
    assert difference is not None
    assert difference.test == "paired exchange"
    assert difference.difference == pytest.approx((a - b).mean())
    assert difference.error == pytest.approx((a - b).std(ddof=1) / sqrt(n))
    exchanged = stats.permutation_test(
        (a - b,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", n_resamples=5000, rng=RNG(0)
    )
    assert difference.p == pytest.approx(exchanged.pvalue, abs=0.01)
    interval = stats.ttest_rel(a, b).confidence_interval()
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high), abs=0.004)


def test_an_interval_of_a_mean_is_that_of_the_mean_also_for_a_mean_of_zero() -> None:
    table = numeric(100)
    score = grade("b", table).score
    assert score is not None
    b = np.array(table.scores["b"])
    margin = stats.t.ppf(0.975, 99) * b.std(ddof=1) / 10
    assert (score.low, score.high) == pytest.approx((b.mean() - margin, b.mean() + margin), rel=0.01)
    zero = ScoredTable("t", named(30), {"z": (-0.5, 0.5) * 15})
    report = grade("z", zero)
    assert report.score is not None
    assert report.score.value == 0.0
    assert not report.warnings, "a mean of 0 is defined"


def test_items_of_a_cluster_count_together() -> None:
    table = numeric(N)
    clusters = tuple(str(at // 4) for at in range(N))
    repeated = {name: tuple(np.repeat(scores[: N // 4], 4).tolist()) for name, scores in table.scores.items()}
    grouped = ScoredTable("t", named(N), repeated, clusters=clusters)
    single = compare(
        "a", "b", ScoredTable("t", named(N // 4), {n: s[: N // 4] for n, s in table.scores.items()})
    )
    together = compare("a", "b", grouped)
    assert together.overall is not None
    assert single.overall is not None
    assert together.overall.error == pytest.approx(single.overall.error), "four copies are no more evidence"
    binary = {name: tuple(float(score > 0.4) for score in scores) for name, scores in repeated.items()}
    difference = compare("a", "b", ScoredTable("t", named(N), binary, clusters=clusters)).overall
    assert difference is not None
    gaps = (np.array(binary["a"]) - np.array(binary["b"])).reshape(-1, 4).mean(axis=1)
    assert difference.test == "paired exchange"
    assert difference.error == pytest.approx(gaps.std(ddof=1) / sqrt(len(gaps)))


def test_uncertainty_over_items_and_over_tasks_are_not_the_same() -> None:
    rng = RNG(3)
    tasks = tuple(f"task {at // 50}" for at in range(1500))
    effect = np.repeat(rng.normal(0.02, 0.1, 30), 50)
    b = rng.random(1500)
    a = b + effect + rng.normal(0, 0.01, 1500)
    table = ScoredTable("t", named(1500), {"a": tuple(a.tolist()), "b": tuple(b.tolist())}, tasks=tasks)
    items, over = compare("a", "b", table), compare("a", "b", table.over_tasks())
    assert items.overall is not None
    assert over.overall is not None
    assert items.overall.difference == pytest.approx(over.overall.difference)
    gaps = (a - b).reshape(30, 50)
    assert over.overall.error == pytest.approx(gaps.mean(axis=1).std(ddof=1) / sqrt(30))
    assert items.overall.error == pytest.approx(sqrt((gaps.var(axis=1, ddof=1) / 50).sum()) / 30, rel=0.05)
    assert over.overall.error > 5 * items.overall.error
    assert "the tasks are fixed" in items.conclusion
    assert "other tasks like these" in over.conclusion
    assert over.provenance["uncertainty"] == over.words[-1][-len(over.provenance["uncertainty"]) :]


def test_systems_are_ranked_on_the_same_items() -> None:
    table = numeric(200, shift=0.1)
    scores = {**table.scores, "c": tuple(score - 0.2 for score in table.scores["b"])}
    ranking = rank(["b", "a", "c"], ScoredTable("t", table.items, scores, notes=("2 items left out",)))
    assert [system.name for system in ranking.systems] == ["a", "b", "c"]
    assert [(system.rank_low, system.rank_high) for system in ranking.systems] == [(1, 1), (2, 2), (3, 3)]
    assert ranking.warnings == ("2 items left out",)
    [test] = [pair for pair in ranking.pairs if {pair.a, pair.b} == {"a", "b"}]
    paired = stats.ttest_rel(scores["a"], scores["b"])
    assert test.p == pytest.approx(paired.pvalue, abs=1e-6)


def test_the_categories_of_a_table() -> None:
    rng = RNG(5)
    kinds = tuple("short" if at % 3 else "long" for at in range(N))
    a, b = (tuple(map(float, rng.random(N) < 0.6)) for _ in range(2))
    table = ScoredTable("t", named(N), {"a": a, "b": b}, categories={"length": kinds})
    short = [at for at in range(N) if at % 3]
    system = diagnose(["a", "b"], table).sets["all items"].systems["a"]
    assert system.scores.metadata["length"]["short"].value == pytest.approx(np.mean([a[at] for at in short]))
    assert not system.confusions
    parts = {part.name: part.difference for part in compare("a", "b", table).tasks["all items"].categories}
    assert parts["short"].n == len(short)
    assert parts["short"].a == pytest.approx(np.mean([a[at] for at in short]))
    with pytest.raises(DataError, match="has no categories"):
        diagnose(["a"], numeric())


def test_wrong_tables_and_names_are_refused() -> None:
    with pytest.raises(ValueError, match="a value for each of 2 items"):
        ScoredTable("t", ("1", "2"), {"a": (1.0,)})
    with pytest.raises(ValueError, match="at least one system"):
        ScoredTable("t", (), {})
    with pytest.raises(UnknownNameError, match="Valid names: a, b"):
        compare("a", "nobody", numeric())
    with pytest.raises(ValueError, match="tasks of t are not known"):
        numeric().over_tasks()
