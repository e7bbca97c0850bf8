"""Rankings from scores alone, against a plain loop in exact arithmetic."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from gluebench.analysis.rank.panel import PanelRanking, rank_scores


def panel(systems, tasks, *, seed=0, decimals=2):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.4, 0.9, (systems, tasks)).round(decimals).tolist()
    return {
        f"system {at}": {f"task {task:03}": score for task, score in enumerate(row)}
        for at, row in enumerate(scores)
    }


def plainly(scores, weights):
    """Each system's mean in exact arithmetic, its rank, and Student's interval of a weighted mean."""
    tasks = sorted({task for row in scores.values() for task in row if weights.get(task, 1)})
    weight = {task: Fraction(str(weights.get(task, 1))) for task in tasks}
    whole = sum(weight.values())
    means = {
        name: sum(Fraction(str(row[task])) * weight[task] for task in tasks) / whole
        for name, row in scores.items()
    }
    for name in sorted(scores, key=lambda name: -means[name]):
        rank = 1 + sum(other > means[name] for other in means.values())
        moved = [
            float(len(tasks) * weight[task] / whole * (Fraction(str(scores[name][task])) - means[name]))
            for task in tasks
        ]
        reach = None
        if len(tasks) > 1:
            reach = stats.t.isf(0.025, len(tasks) - 1) * np.std(moved, ddof=1) / math.sqrt(len(tasks))
        yield name, rank, float(means[name]), reach


@pytest.mark.parametrize(
    ("systems", "tasks", "weights"),
    [
        (2, 1, {}),
        (7, 5, {}),
        (12, 9, {"task 001": 2.5, "task 004": 0.1, "task 007": 0}),
        (33, 10, {}),
        (5, 3, {"task 000": 0.3, "task 001": 0.3, "task 002": 0.3}),
    ],
)
@pytest.mark.parametrize("decimals", [1, 3])
def test_a_plain_loop_gives_the_same(systems, tasks, weights, decimals):
    scores = panel(systems, tasks, seed=systems, decimals=decimals)
    found = rank_scores(scores, weights=weights).systems
    expected = list(plainly(scores, weights))
    assert [(each.name, each.rank) for each in found] == [row[:2] for row in expected]
    for each, (*_, mean, reach) in zip(found, expected, strict=True):
        assert each.mean == pytest.approx(mean, abs=1e-11)
        ends = (None, None) if reach is None else (mean - reach, mean + reach)
        assert (each.mean_low, each.mean_high) == pytest.approx(ends, abs=1e-9)
        assert each.rank_low <= each.rank <= each.rank_high


def test_two_systems_are_told_apart_as_by_the_paired_t_test():
    rng = np.random.default_rng(1)
    for _ in range(200):
        a, b = rng.normal([[0.83], [0.8]], 0.05, (2, 30))
        p = stats.ttest_rel(a, b).pvalue
        if abs(p - 0.05) > 0.001:
            rows = {"a": dict(enumerate(a.tolist())), "b": dict(enumerate(b.tolist()))}
            found = rank_scores({name: {str(t): s for t, s in row.items()} for name, row in rows.items()})
            assert (len(found.may_be_best) == 1) == (p < 0.05)


@pytest.mark.slow
def test_rank_sets_hold_the_true_ranks_of_close_systems():
    """20 systems on 9 tasks like each other: all sets hold all true ranks in 95 % of the panels."""
    rng = np.random.default_rng(2)
    worlds = 400
    for gap in (0.0, 0.002, 0.01):
        held = 0
        true = np.arange(20)
        for _ in range(worlds):
            difficulty = rng.normal(0.75, 0.1, 9)
            scores = difficulty - gap * true[:, np.newaxis] + rng.normal(0, 0.02, (20, 9))
            rows = {
                str(at): {str(t): score for t, score in enumerate(row)}
                for at, row in enumerate(scores.tolist())
            }
            ends = [(1, 20) if not gap else (at + 1, at + 1) for at in range(20)]
            held += all(
                system.rank_low <= ends[int(system.name)][0] and system.rank_high >= ends[int(system.name)][1]
                for system in rank_scores(rows).systems
            )
        assert held / worlds >= 0.92  # 0.95 less three standard errors


def test_equal_systems_share_a_rank_whatever_the_order_of_summation():
    scores = {
        "a": dict.fromkeys("wxyz", 0.3) | {"v": 0.1},
        "b": {"v": 0.1} | dict.fromkeys("zyxw", 0.3),
        "c": dict.fromkeys("vwxyz", 0.05),
    }
    found = {each.name: each for each in rank_scores(scores).systems}
    assert [found[name].rank for name in "abc"] == [1, 1, 3]
    assert found["a"].rank_low == found["b"].rank_low == 1


def test_rounding_breaks_no_ties():
    scores = {"a": {"x": 0.1, "y": 0.2, "z": 0.3}, "b": {"x": 0.3, "y": 0.2, "z": 0.1}}
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    assert [each.rank for each in rank_scores(scores).systems] == [1, 1]


def by_name(ranking: PanelRanking):
    return {each.name: each for each in ranking.systems}


def test_the_order_of_systems_and_tasks_changes_no_number():
    scores = panel(20, 11)
    turned = {name: dict(reversed(row.items())) for name, row in reversed(scores.items())}
    found, other = by_name(rank_scores(scores)), by_name(rank_scores(turned))
    for name, each in found.items():
        assert other[name].mean_low == pytest.approx(each.mean_low, abs=1e-15)
        ranks = (each.rank, each.rank_low, each.rank_high)
        assert (other[name].rank, other[name].rank_low, other[name].rank_high) == ranks


@pytest.mark.parametrize("factor", [2.0**-1000, 100.0, -1.0, 2.0**1023])
def test_the_unit_of_the_scores_changes_no_rank(factor):
    scores = panel(15, 8)
    scaled = {name: {task: value * factor for task, value in row.items()} for name, row in scores.items()}
    found, other = by_name(rank_scores(scores)), by_name(rank_scores(scaled))
    for name, each in found.items():
        assert other[name].mean == pytest.approx(each.mean * factor, rel=1e-12)
        if factor > 0:
            assert other[name].rank_high == each.rank_high
        else:
            assert other[name].mean_low == pytest.approx(-each.mean_high)


def test_equal_weights_are_no_weights():
    scores = panel(10, 6)
    plain, weighted = (rank_scores(scores), rank_scores(scores, weights=dict.fromkeys(scores["system 0"], 7)))
    assert weighted.weights == (7.0,) * 6
    assert plain.weights is None
    for each, other in zip(plain.systems, weighted.systems, strict=True):
        assert (each.name, each.rank_low, each.rank_high) == (other.name, other.rank_low, other.rank_high)


def test_the_record_is_json_and_repeatable():
    scores = panel(6, 5)
    ranking = rank_scores(scores, weights={"task 002": 0, "task 000": 1 / 3})
    shown = ranking.as_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["schema"] == "gluebench.panel/2"
    assert shown["tasks"] == ["task 000", "task 001", "task 003", "task 004"]
    assert shown["weights"] == [0.333333333333, 1.0, 1.0, 1.0]
    assert shown["may_be_best"][0] == shown["systems"][0]["name"]
    assert [each["rank"] for each in shown["systems"]] == sorted(each["rank"] for each in shown["systems"])
    best = shown["systems"][0]
    assert best["mean"] == float(f"{ranking.systems[0].mean:.12g}")
    assert list(best) == ["name", "rank", "rank_low", "rank_high", "mean", "mean_low", "mean_high"]
    assert rank_scores(scores, weights={"task 002": 0, "task 000": 1 / 3}) == ranking


def test_what_cannot_be_ranked_is_refused_with_the_cell():
    whole = {"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.3, "y": 0.4}}
    with pytest.raises(ValueError, match="the score of b on y is missing; expected a finite number"):
        rank_scores({**whole, "b": {"x": 0.3}})
    with pytest.raises(ValueError, match="the score of a on z is missing"):
        rank_scores({**whole, "b": {**whole["b"], "z": 1.0}})
    for bad in (math.nan, math.inf, None):
        with pytest.raises(ValueError, match=f"the score of a on y is {bad};"):
            rank_scores({**whole, "a": {"x": 0.3, "y": bad}})
    with pytest.raises(ValueError, match=r"found 1 system\(s\); expected at least two"):
        rank_scores({"a": {"x": 1.0}})
    with pytest.raises(ValueError, match="found no task"):
        rank_scores({"a": {}, "b": {}})
    with pytest.raises(ValueError, match="found no task"):
        rank_scores(whole, weights={"x": 0, "y": 0})
    with pytest.raises(ValueError, match="weights name 'z'; expected one of x, y"):
        rank_scores(whole, weights={"z": 1})
    for bad in (-1, math.nan, math.inf):
        with pytest.raises(
            ValueError, match=f"the weight of x is {bad}; expected a finite number, at least 0"
        ):
            rank_scores(whole, weights={"x": bad})


def test_a_task_of_weight_zero_needs_no_scores():
    found = rank_scores({"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.3}}, weights={"y": 0})
    assert found.tasks == ("x",)
    assert [each.name for each in found.systems] == ["b", "a"]
