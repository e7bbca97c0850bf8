"""Rankings from scores alone, against a plain loop in exact arithmetic."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from gluebench.analysis.rank.panel import PanelRanking, rank_scores


def panel(systems, tasks, *, seed=0, decimals=2):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.4, 0.9, (systems, tasks)).round(decimals).tolist()
    return {
        f"system {at}": {f"task {task:03}": score for task, score in enumerate(row)}
        for at, row in enumerate(scores)
    }


def exact_mean(row, weights, counts):
    """The mean of one system in one resample; scores and weights are the decimals they are written as."""
    weight = {task: Fraction(str(weights.get(task, 1))) * count for task, count in counts.items()}
    return sum(Fraction(str(row[task])) * weight[task] for task in weight) / sum(weight.values())


def expected_systems(scores, weights, *, resamples, seed):
    """What `rank_scores` should find, with the same draws of tasks, one resample at a time."""
    tasks = sorted({task for row in scores.values() for task in row if weights.get(task, 1)})
    draws = np.random.default_rng(seed).multinomial(len(tasks), [1 / len(tasks)] * len(tasks), size=resamples)
    means, ranks = {name: [] for name in scores}, {name: [] for name in scores}
    for counts in [[1] * len(tasks), *draws.tolist()]:
        count_of = dict(zip(tasks, counts, strict=True))
        drawn = {name: exact_mean(row, weights, count_of) for name, row in scores.items()}
        for name, mean in drawn.items():
            means[name].append(mean)
            ranks[name].append(1 + sum(other > mean for other in drawn.values()))
    low, high = math.floor((resamples - 1) / 40), math.ceil((resamples - 1) * 39 / 40)
    for name in sorted(scores, key=lambda name: ranks[name][0]):
        point, *places = ranks[name]
        mean, *others = map(float, means[name])
        in_order, ordered = sorted(places), sorted(others)
        yield (
            name,
            point,
            in_order[low],
            in_order[high],
            places.count(1) / resamples,
            (mean, ordered[low], ordered[high]),
        )


@pytest.mark.parametrize(
    ("systems", "tasks", "resamples", "weights"),
    [
        (2, 1, 1, {}),
        (7, 5, 41, {}),
        (12, 9, 200, {"task 001": 2.5, "task 004": 0.1, "task 007": 0}),
        (33, 10, 121, {}),
        (5, 3, 40, {"task 000": 0.3, "task 001": 0.3, "task 002": 0.3}),
    ],
)
@pytest.mark.parametrize("decimals", [1, 3])
def test_a_plain_loop_gives_the_same(systems, tasks, resamples, weights, decimals):
    scores = panel(systems, tasks, seed=systems, decimals=decimals)
    found = rank_scores(scores, resamples=resamples, seed=5, weights=weights)
    expected = list(expected_systems(scores, weights, resamples=resamples, seed=5))
    assert [
        (each.name, each.rank, each.rank_lower, each.rank_upper, each.first) for each in found.systems
    ] == [row[:5] for row in expected]
    for each, row in zip(found.systems, expected, strict=True):
        assert (each.mean, each.mean_lower, each.mean_upper) == pytest.approx(row[5], abs=1e-14)


def test_equal_systems_tie_in_every_resample_whatever_the_order_of_summation():
    scores = {
        "a": dict.fromkeys("wxyz", 0.3) | {"v": 0.1},
        "b": {"v": 0.1} | dict.fromkeys("zyxw", 0.3),
        "c": dict.fromkeys("vwxyz", 0.05),
    }
    found = {each.name: each for each in rank_scores(scores).systems}
    assert [found[name].rank for name in "abc"] == [1, 1, 3]
    assert found["a"].first == found["b"].first == 1.0
    assert (found["c"].rank_lower, found["c"].rank_upper, found["c"].first) == (3, 3, 0.0)


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
        assert other[name].mean_lower == pytest.approx(each.mean_lower, abs=1e-15)
        assert (other[name].rank, other[name].rank_lower, other[name].rank_upper, other[name].first) == (
            each.rank,
            each.rank_lower,
            each.rank_upper,
            each.first,
        )


@pytest.mark.parametrize("factor", [2.0**-1000, 100.0, -1.0, 2.0**1023])
def test_the_unit_of_the_scores_changes_no_rank(factor):
    scores = panel(15, 8)
    scaled = {name: {task: value * factor for task, value in row.items()} for name, row in scores.items()}
    found, other = by_name(rank_scores(scores)), by_name(rank_scores(scaled))
    for name, each in found.items():
        assert other[name].mean == pytest.approx(each.mean * factor, rel=1e-12)
        if factor > 0:
            assert other[name].rank_upper == each.rank_upper
        else:
            assert other[name].mean_lower == pytest.approx(-each.mean_upper)


def test_equal_weights_are_no_weights():
    scores = panel(10, 6)
    plain, weighted = (rank_scores(scores), rank_scores(scores, weights=dict.fromkeys(scores["system 0"], 7)))
    assert weighted.weights == (7.0,) * 6
    assert plain.weights is None
    for each, other in zip(plain.systems, weighted.systems, strict=True):
        assert (each.name, each.rank_upper, each.first) == (other.name, other.rank_upper, other.first)


def test_the_interval_of_the_mean_is_about_two_standard_errors():
    scores = panel(3, 400)
    for each in rank_scores(scores, resamples=4000).systems:
        row = list(scores[each.name].values())
        error = 1.96 * np.std(row) / np.sqrt(len(row))
        assert each.mean == pytest.approx(np.mean(row))
        assert each.mean_lower == pytest.approx(each.mean - error, abs=error / 10)
        assert each.mean_upper == pytest.approx(each.mean + error, abs=error / 10)


def test_the_record_is_json_and_repeatable():
    scores = panel(6, 5)
    ranking = rank_scores(scores, resamples=50, seed=3, weights={"task 002": 0, "task 000": 1 / 3})
    shown = ranking.as_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["schema"] == "gluebench.panel/1"
    assert shown["tasks"] == ["task 000", "task 001", "task 003", "task 004"]
    assert shown["weights"] == [0.333333333333, 1.0, 1.0, 1.0]
    assert (shown["resamples"], shown["seed"]) == (50, 3)
    assert [each["rank"] for each in shown["systems"]] == sorted(each["rank"] for each in shown["systems"])
    best = shown["systems"][0]
    assert best["mean"] == float(f"{ranking.systems[0].mean:.12g}")
    assert list(best) == [
        "name",
        "rank",
        "rank_lower",
        "rank_upper",
        "first",
        "mean",
        "mean_lower",
        "mean_upper",
    ]
    assert rank_scores(scores, resamples=50, seed=3, weights={"task 002": 0, "task 000": 1 / 3}) == ranking


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
    with pytest.raises(ValueError, match="resamples is 0; expected at least 1"):
        rank_scores(whole, resamples=0)
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
