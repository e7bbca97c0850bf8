"""Systems of several runs: their mean is ranked, and tests cover the choice of runs as well."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import numpy as np
import pytest
from compared import F1, noisy, task, words

from gluebench.analysis.rank import rank
from gluebench.analysis.rank.ranking import OTHER_RUNS, OTHER_TASKS
from gluebench.analysis.rank.systems import ONLY_ONE_RANKED
from gluebench.scoring import grade
from gluebench.scoring.grade import pairs_of
from gluebench.scoring.inference import jackknife_spread
from gluebench.scoring.metrics import MOST_KINDS
from gluebench.scoring.runs import mean_runs, runs_tests
from gluebench.scoring.units import units_of
from gluebench.submission.values import submission_of

SIZES = {"A": 400, "B": 600}


@pytest.fixture
def suite(make):
    """Gold of two tasks, and a function that makes runs: answers that share most of their errors."""
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 2, size) for name, size in SIZES.items()}
    gold = make(
        [task("A", SIZES["A"]), task("B", SIZES["B"], metrics=F1)],
        {name: words(codes) for name, codes in columns.items()},
    )
    shared = {name: noisy(rng, codes, 0.6) for name, codes in columns.items()}

    def runs(*rights):
        return [{name: words(noisy(rng, codes, right)) for name, codes in shared.items()} for right in rights]

    return gold, runs


def pairs_of_runs(gold, runs):
    return [pairs_of(submission_of(run, gold.benchmark), gold) for run in runs]


def of_runs(gold, systems):
    """The test of the mean of a system, or of the difference of two, by the jackknife (scoring/runs.py)."""
    pairs = pairs_of_runs(gold, [run for of_system in systems.values() for run in of_system])
    sizes = [len(of_system) for of_system in systems.values()]
    tests = [
        runs_tests(units_of(task.metrics, [each[task.name] for each in pairs]), sizes)[0]
        for task in gold.benchmark.scored
    ]
    return mean_runs(tests, [1.0] * len(tests))


def test_the_score_is_the_mean_over_runs(suite):
    gold, runs = suite
    a, b = runs(0.9, 0.8, 0.95), runs(0.9)
    ranking = rank({"a": a, "b": b[0]}, gold)
    scores = [grade(run, gold, intervals=False, benchmark=gold.benchmark).tasks for run in a]
    system = next(each for each in ranking.systems if each.name == "a")
    for name in SIZES:
        assert system.scores[name] == pytest.approx(np.mean([tasks[name].score.value for tasks in scores]))
    assert system.runs == 3


def test_one_run_is_not_tested_against_several(suite):
    """As in `compare`: how much the single run depends on chance is not known."""
    gold, runs = suite
    ranking = rank({"a": runs(0.9, 0.8, 0.95), "b": runs(0.5)}, gold)
    assert ranking.withheld == OTHER_RUNS
    assert (ranking.may_be_best, ranking.pairs, ranking.best_words) == ((), (), "")
    assert [system.rank for system in ranking.systems] == [1, 2]
    assert rank({"a": runs(0.9, 0.95), "b": runs(0.5, 0.5)}, gold).may_be_best == ("a",)


def test_rank_scores_of_runs_are_euroevals(suite):
    """The deviation is that of the scores of all runs together, or of the resamples of a single run."""
    gold, runs = suite
    systems = {"a": runs(0.9, 0.8, 0.95), "b": runs(0.7, 0.75, 0.85), "c": runs(0.6, 0.65, 0.6)}
    ranking = rank(systems, gold, by="rank-score")
    graded = {
        name: [grade(run, gold, intervals=False, benchmark=gold.benchmark).tasks for run in of_system]
        for name, of_system in systems.items()
    }
    raw = {
        task: np.array([[tasks[task].score.value for tasks in of_system] for of_system in graded.values()])
        for task in SIZES
    }
    assert ranking.scales == pytest.approx([np.std(scores) for scores in raw.values()])
    expected = np.mean(
        [1 + (scores.mean(axis=1).max() - scores.mean(axis=1)) / np.std(scores) for scores in raw.values()],
        axis=0,
    )
    found = {system.name: system.value for system in ranking.systems}
    assert [found[name] for name in systems] == pytest.approx(list(expected))
    named = replace(gold, benchmark=gold.benchmark._replace(rank_by="rank-score"))
    assert rank(systems, named) == ranking, "by default"
    single = {name: of_system[0] for name, of_system in systems.items()}
    by_hand = []
    for of_task in gold.benchmark.scored:
        between = np.var([of[0][of_task.name].score.value for of in graded.values()])
        units = [
            units_of(of_task.metrics, [pairs[of_task.name]]) for pairs in pairs_of_runs(gold, single.values())
        ]
        own = [jackknife_spread(each.left_out()[0, 0], each.counts).error ** 2 for each in units]
        by_hand.append(np.sqrt(between + np.mean(own)))
    assert rank(single, gold).scales == pytest.approx(by_hand, rel=1e-3)


def test_pairs_are_tested_as_compare_tests_runs(suite):
    gold, runs = suite
    for rights in ((0.95, 0.85, 0.9), (0.9, 0.9, 0.9)):
        systems = {"a": runs(*rights), "b": runs(0.8, 0.82, 0.86, 0.7)}
        (pair,) = rank(systems, gold).pairs
        test = of_runs(gold, systems)
        assert pair.difference == pytest.approx(test.difference, abs=1e-12)
        assert pair.p == pytest.approx(test.p, rel=0.03, abs=0.001)


def test_equal_runs_are_one_run(suite):
    gold, runs = suite
    a, b = runs(0.9)[0], runs(0.85)[0]
    once = rank({"a": a, "b": b}, gold)
    thrice = rank({"a": [a, a, a], "b": [b, b]}, gold)
    for one, other in zip(once.systems, thrice.systems, strict=True):
        assert (one.name, one.rank, one.rank_low, one.rank_high) == (
            other.name, other.rank, other.rank_low, other.rank_high,
        )  # fmt: skip
        assert one.value == pytest.approx(other.value)
    assert once.pairs[0].p == pytest.approx(thrice.pairs[0].p, rel=1e-6)
    assert (once.warnings, thrice.warnings) == ((), ())


def test_neither_order_nor_a_twin_changes_a_number(suite):
    gold, runs = suite
    systems = {"a": runs(0.9, 0.8), "b": runs(0.85, 0.9, 0.8), "c": runs(0.7, 0.75)}
    one = {each.name: each for each in rank(systems, gold).systems}
    turned = rank(dict(reversed(systems.items())), gold).systems
    assert all(each == one[each.name] for each in turned)
    tied = {each.name: each for each in rank({**systems, "twin": systems["b"]}, gold).systems}
    assert tied["b"].rank == tied["twin"].rank
    assert (tied["b"].rank_low, tied["b"].rank_high) == (tied["twin"].rank_low, tied["twin"].rank_high)
    assert "twin" in tied["b"].indistinguishable


def test_a_task_that_a_run_lacks_has_no_score(suite):
    gold, runs = suite
    a, b = runs(0.9, 0.8), runs(0.9, 0.85)
    del a[1]["B"]
    unranked = {each.name: each for each in rank({"a": a, "b": b}, gold).systems}
    assert unranked["a"].rank is None
    assert unranked["a"].scores["B"] is None
    for missing in ("own", "lowest", "shared"):
        ranking = rank({"a": a, "b": b}, gold, missing=missing)
        assert {each.rank for each in ranking.systems} == {1, 2}
        assert len(ranking.pairs) == (missing != "own")


def test_averages_over_different_tasks_are_not_tested(suite):
    """A copy without its hardest task has the higher average, and is no better system."""
    gold, runs = suite
    (a,) = runs(0.7)
    copy = {name: answers for name, answers in a.items() if name != "B"}
    ranking = rank({"a": a, "copy": copy}, gold, missing="own")
    assert ranking.withheld == OTHER_TASKS
    assert (ranking.may_be_best, ranking.best_words) == ((), "")
    assert rank({"a": a, "copy": copy}, gold, missing="shared").may_be_best == ("a", "copy")


def test_a_system_without_ranked_others_is_not_called_the_best(suite):
    gold, runs = suite
    a, b, c = (runs(share)[0] for share in (0.5, 0.9, 0.8))
    del b["B"]
    ranking = rank({"a": a, "b": b}, gold)
    assert (ranking.withheld, ranking.may_be_best, ranking.best_words) == (ONLY_ONE_RANKED, (), "")
    words = "May be the best: c. 1 system has no rank set."
    assert rank({"a": a, "b": b, "c": c}, gold).best_words == words


def test_the_order_in_which_systems_are_given_changes_nothing(suite):
    gold, runs = suite
    a, b = (runs(share)[0] for share in (0.8, 0.6))
    for by in ("mean", "borda", "kemeny", "rank-score"):
        given = rank({"a": a, "b": b, "twin": a}, gold, by=by)
        turned = rank({"twin": a, "b": b, "a": a}, gold, by=by)
        assert json.dumps(given.as_dict()) == json.dumps(turned.as_dict())


def test_a_system_needs_a_run(suite):
    gold, runs = suite
    with pytest.raises(ValueError, match="empty has no runs"):
        rank({"a": runs(0.9), "empty": []}, gold)


def test_a_metric_of_too_many_kinds_is_not_called_one_of_too_few_examples(make, monkeypatch):
    """An own metric, called once for each kind of examples, on more of them than that allows."""

    def closeness(gold, given):
        return -float(np.mean(np.abs(gold - given)))

    monkeypatch.setitem(sys.modules, "elsewhere", SimpleNamespace(closeness=closeness))
    offered = EntryPoints([EntryPoint("elsewhere", "elsewhere:closeness", "gluebench.metrics")])
    of_group = {"gluebench.metrics": offered}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: of_group.get(group, ()))
    size = MOST_KINDS + 1
    metric = '{name = "closeness", function = "elsewhere", title = "close"}'
    labels = np.linspace(0, 5, size)
    gold = make([task("A", size, metrics=metric, numbers=True)], {"A": labels})
    systems = {name: {"A": (labels * factor).tolist()} for name, factor in {"a": 0.9, "b": 0.8}.items()}
    ranking = rank(systems, gold)
    assert ranking.withheld == "the metric of A has too many kinds of examples to test"
