"""The health of test sets, recomputed with plain loops over made answers of several forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import every_form
import numpy as np
import pytest
from compared import CORRELATIONS, noisy, task, words
from scipy import stats

from gluebench.analysis.compare import compare
from gluebench.analysis.health import coarse_health, health
from gluebench.benchmark import load_benchmark
from gluebench.scoring import Gold, read_gold
from gluebench.scoring.grade import submissions_from
from gluebench.submission import Submission, check

RMSE = '{name = "neg_rmse", title = "−RMSE"}'
Make = Callable[..., Gold]


def systems(gold: Gold, columns: Sequence[Sequence[Any]]) -> list[Submission]:
    return [submissions_from({"T": list(column)}, gold)[0] for column in columns]


def test_items_that_all_or_none_solve_are_counted(make: Make) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    gold = make([task("T", 300)], {"T": words(truth)})
    hard = rng.random(300) < 0.2
    answers = [np.where(hard, 1 - noisy(rng, truth, 0.6), noisy(rng, truth, 0.8)) for _ in range(6)]
    facts = health(systems(gold, [words(column) for column in answers]), gold)["tasks"]["T"]
    every = [at for at in range(300) if all(column[at] == truth[at] for column in answers)]
    nobody = [at for at in range(300) if all(column[at] != truth[at] for column in answers)]
    good = [at for at in range(300) if all(column[at] != truth[at] for column in answers[:5])]
    assert every
    assert 0 < len(nobody) < len(good)
    assert [facts[name] for name in ("n", "all", "none", "same")] == [300, *map(len, (every, nobody, good))]
    assert facts["rows"] == [("T", at) for at in good]


def test_of_three_labels_only_the_same_wrong_one_contradicts(make: Make) -> None:
    three = task("T", 4).replace('"1" = "yes"', '"1" = "yes"\n"2" = "perhaps"')
    gold = make([three], {"T": words([0, 0, 0, 0])})
    answers = [words(column) for column in ([1, 1, 0, 2], [1, 2, 0, 2], [1, 1, 1, 2])]
    facts = health(systems(gold, answers), gold)["tasks"]["T"]
    assert (facts["all"], facts["none"], facts["rows"]) == (0, 3, [("T", 0), ("T", 3)])


def test_numbers_contradict_alike_on_one_side_of_the_gold_score(make: Make) -> None:
    rng = np.random.default_rng(1)
    truth = rng.uniform(0, 5, 200).round(2)
    answers = [(truth + rng.normal(0, 1.2, 200)).round(2) for _ in range(3)]
    gold = make([task("T", 200, metrics=RMSE, numbers=True)], {"T": truth.tolist()})
    facts = health(systems(gold, answers), gold)["tasks"]["T"]
    every = nobody = alike = 0
    for at, right in enumerate(truth):
        gaps = [column[at] - right for column in answers]
        every += all(abs(gap) <= 1.0 + 1e-9 for gap in gaps)
        nobody += all(abs(gap) > 1.0 + 1e-9 for gap in gaps)
        alike += all(gap > 1.0 + 1e-9 for gap in gaps) or all(gap < -1.0 - 1e-9 for gap in gaps)
    assert 0 < alike < nobody
    assert (facts["all"], facts["none"], facts["same"], facts["loss"]) == (every, nobody, alike, True)


def accuracy(truth: Any, answers: Any) -> float:
    return float((truth == answers).mean())


def rmse(truth: Any, answers: Any) -> float:
    return -float(((truth - answers) ** 2).mean() ** 0.5)


def correlations(truth: Any, answers: Any) -> float:
    return float(stats.pearsonr(truth, answers)[0] + stats.spearmanr(truth, answers)[0])


@pytest.mark.parametrize(
    ("metrics", "score"),
    [("", accuracy), (RMSE, rmse), (CORRELATIONS, correlations)],
    ids=["labels", "loss", "correlations"],
)
def test_stability_is_the_share_of_all_halvings(make: Make, metrics: str, score: Any) -> None:
    """Of all 252 halvings of ten examples, by a plain loop."""
    rng = np.random.default_rng(3)
    numbers = bool(metrics)
    truth = rng.uniform(0, 5, 10) if numbers else rng.integers(0, 2, 10)
    answers = [truth + rng.normal(0, 1, 10) if numbers else noisy(rng, truth, 0.5) for _ in range(3)]
    first = task("T", 10, metrics=metrics, numbers=True) if numbers else task("T", 10)
    gold = make([first], {"T": truth.tolist() if numbers else words(truth)})
    columns = answers if numbers else [words(column) for column in answers]
    stable = []
    for half in combinations(range(10), 5):
        rest = [at for at in range(10) if at not in half]
        sides = [[score(truth[rows], column[rows]) for column in answers] for rows in ([*half], rest)]
        leaders = [{at for at, own in enumerate(side) if own >= max(side) - 1e-12} for side in sides]
        stable.append(bool(leaders[0] & leaders[1]))
    share = health(systems(gold, columns), gold, splits=3000, seed=1)["stability"]
    assert 0.1 < np.mean(stable) < 0.95
    assert share == pytest.approx(np.mean(stable), abs=0.03)


def test_groups_stay_together_in_a_half(make: Make) -> None:
    """Two groups: the halves are the groups, and each system leads one of them."""
    truth = [0, 0, 0, 1, 1, 1]
    gold = make([task("T", 6)], {"T": words(truth)}, groups={"T": [0, 0, 0, 1, 1, 1]})
    answers = [words([0, 0, 0, 0, 0, 0]), words([1, 1, 1, 1, 1, 1])]
    assert health(systems(gold, answers), gold)["stability"] == 0.0


def test_the_smallest_difference_is_that_of_the_test_of_the_first_two(make: Make) -> None:
    rng = np.random.default_rng(4)
    truth = rng.uniform(0, 5, 300)
    gold = make([task("T", 300, metrics=RMSE, numbers=True)], {"T": truth.tolist()})
    runs = systems(gold, [truth + rng.normal(0, spread, 300) for spread in (0.5, 0.6, 0.9)])
    facts = health(runs, gold)
    assert facts["tasks"]["T"]["detectable"] == pytest.approx(
        compare(*runs[:2], gold).tasks["T"].score.detectable
    )
    shown = coarse_health(facts)["tasks"]["T"]["detectable"]
    assert 0 <= shown - facts["tasks"]["T"]["detectable"] < 0.1


@pytest.mark.parametrize("name", ["forms", "losses"])
def test_answers_that_are_neither_right_nor_wrong_have_no_items(tmp_path: Path, name: str) -> None:
    manifest = every_form.write(tmp_path / name, name)
    gold = read_gold(tmp_path / name / "gold", load_benchmark(manifest))
    runs = [check(str(tmp_path / name / "runs" / str(run)), gold.benchmark) for run in (2, 1, 0)]
    facts = health(runs, gold)
    unknown = {"forms": {"Retrieval", "Causes"}, "losses": {"Opinión"}}[name]
    assert {task for task, own in facts["tasks"].items() if own["all"] is None} == unknown
    assert 0 <= facts["stability"] <= 1
    rows = [row for own in facts["tasks"].values() for row in own["rows"]]
    assert all(str(index).startswith("em_") == (file == "Emotions") for file, index in rows)


def test_one_system_says_nothing_of_items_or_ranks(make: Make) -> None:
    gold = make([task("T", 4)], {"T": words([0, 1, 0, 1])})
    facts = health(systems(gold, [words([0, 1, 0, 0])]), gold)
    assert (facts["stability"], facts["detectable"], facts["tasks"]["T"]["all"]) == (None, None, None)


@pytest.mark.parametrize(("rows", "step"), [(99, None), (100, 0.1), (399, 0.1), (400, 0.05)])
def test_what_the_public_sees_is_a_share_in_steps_of_ten_rows_or_more(rows: int, step: float | None) -> None:
    for count in (0, 1, rows // 3, rows):
        item = {"n": rows, "all": count, "none": None, "same": count, "rows": [("T", 7)]}
        task = {**item, "detectable": 0.0731, "loss": False}
        exact = {"systems": 5, "good": 5, "tasks": {"T": task}, "detectable": 0.0123, "stability": 0.87}
        shown = coarse_health(exact)
        assert (shown["stability"], "detectable" in shown) == (0.9, False)
        if step is None:
            assert shown["tasks"] == {}
            continue
        assert step * rows >= 10
        own = shown["tasks"]["T"]
        assert set(own) == {"step", "all", "none", "same", "detectable", "loss"}
        assert own["all"] == pytest.approx(step * round(count / rows / step))
        assert own["none"] is None
        assert own["detectable"] == (0.08 if step == 0.05 else 0.1)
