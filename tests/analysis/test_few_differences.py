"""Systems with the same or nearly the same answers: intervals, equivalence, and averages over such tasks."""

from __future__ import annotations

import numpy as np
import pytest
from compared import ACCURACY, CORRELATIONS, F1, R_K, noisy, task, words

from gluebench.analysis.compare import compare
from gluebench.analysis.compare.scores import file_tests
from gluebench.benchmark import Metric
from gluebench.scoring.metrics.plain import pairs_of

WORDS = ("joy", "fear", "anger")


def changed(answers, rows):
    """The answers of labels 0 and 1, with those of some rows turned."""
    other = np.array(answers).copy()
    other[rows] = 1 - other[rows]
    return other


@pytest.mark.parametrize("metrics", [ACCURACY, F1, R_K, f"{ACCURACY}, {F1}"])
def test_each_number_of_differences_has_an_interval_and_identical_systems_are_the_same(make, metrics) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    answers = noisy(rng, truth, 0.8)
    gold = make([task("T", 2000, metrics=metrics)], {"T": words(truth)})
    for apart in (0, 1, 4, 5, 6, 10):
        other = changed(answers, np.arange(apart))
        score = compare(
            {"T": words(answers)}, {"T": words(other)}, gold, equivalence=0.02, resamples=500
        ).overall
        assert score.withheld is None
        assert score.low <= score.difference <= score.high
        assert score.high - score.low < 0.02
        assert score.verdict == "same"
        assert (score.p <= 0.05) == (score.low > 0 or score.high < 0)


def test_identical_systems_on_few_rows_are_undecided_and_the_sentence_says_why(make) -> None:
    truth = np.arange(60) % 2
    gold = make([task("T", 60)], {"T": words(truth)})
    found = compare({"T": words(truth)}, {"T": words(truth)}, gold, equivalence=0.02, resamples=200)
    assert found.overall.verdict == "undecided"
    assert found.tasks["T"].words.startswith("On T the two give the same answers, on too few examples")


def p_of_equivalence(metrics, gold, a, b, margin, form="labels", **options):
    sides = [[pairs_of(form, gold, each, **options)] for each in (a, b)]
    tested = file_tests(metrics, sides, resamples=999, seed=0, name="F")
    return [each.difference(margin=margin).equivalence_p for each in tested]


@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "matthews_correlation", "kappa", "f1"])
def test_undoing_differences_one_for_each_side_does_not_weaken_a_claim_of_equivalence(name) -> None:
    """From 16 differences, 8 for each system, to none; all in one class, so that the scores stay equal."""
    rng = np.random.default_rng(1)
    labels = ("0", "1")
    truth = (rng.random(1500) < 0.3).astype(int)
    answers = noisy(rng, truth, 0.7)
    right = np.flatnonzero((answers == 1) & (truth == 1))[:8]
    wrong = np.flatnonzero((answers == 0) & (truth == 1))[:8]
    metric = Metric(name, name, name, "F", "1" if name == "f1" else None, labels)
    for margin in (0.01, 0.02, 0.05):
        p_values = []
        for pairs in range(8, -1, -1):
            other = changed(answers, np.append(right[:pairs], wrong[:pairs]))
            gold, a, b = (words(each) for each in (truth, answers, other))
            p_values += p_of_equivalence([metric], gold, a, b, margin, labels=labels)
        assert p_values == sorted(p_values, reverse=True)


def test_identical_numbers_and_sets_are_at_least_as_much_the_same_as_slightly_different_ones() -> None:
    rng = np.random.default_rng(2)
    truth = np.round(rng.normal(size=800), 2)
    answers = np.round(truth + rng.normal(size=800), 2)
    metrics = [Metric(name, name, name, "F") for name in ("pearson", "spearman")]
    sets = [[word for word in WORDS if rng.random() < 0.4] for _ in range(800)]
    given = [[word for word in WORDS if (word in each) != (rng.random() < 0.2)] for each in sets]
    jaccard = [Metric("sets_jaccard", "sets_jaccard", "J", "F", None, WORDS)]
    by_number = []
    for apart in (0, 3, 8, 40):
        near, other = answers.copy(), list(given)
        near[:apart] += np.where(np.arange(apart) % 2, 0.01, -0.01)
        for row in range(apart):
            other[row] = [word for word in WORDS if word not in given[row]][:1]
        numbers = p_of_equivalence(metrics, truth.tolist(), answers.tolist(), near.tolist(), 0.03, "numbers")
        by_number.append([*numbers[:2], *p_of_equivalence(jaccard, sets, given, other, 0.03, "sets")])
    for of_metric in zip(*by_number, strict=True):
        assert of_metric[0] == min(of_metric)
        assert of_metric[0] < 0.05


def test_the_same_answer_throughout_says_little_where_groups_are_large_or_a_class_is_missing(make) -> None:
    """A constant answer shows no effect of other answers; the interval has to allow for it all the same.

    Three other groups of four would be likely to go unseen, and move the accuracy by 12 rows.
    """
    truth = np.arange(400) % 2
    tasks = [task("Grouped", 400), task("Rare", 400, metrics=f"{ACCURACY}, {F1}")]
    gold = make(
        tasks,
        {"Grouped": words(truth), "Rare": words(truth)},
        groups={"Grouped": np.arange(400) // 4},
    )
    answers = dict.fromkeys(("Grouped", "Rare"), words(np.zeros(400, int)))
    found = compare(answers, answers, gold, resamples=200).tasks
    assert found["Grouped"].score.high > 3 * 4 / 400
    assert found["Rare"].score.high > 3 * (1 / 400 + 2 / 201) / 2
    assert found["Rare"].metrics["f1"].withheld == "same answers", "0 for any choice of examples"
    assert found["Grouped"].score.low == -found["Grouped"].score.high


def test_the_average_keeps_its_interval_when_a_small_task_has_three_different_answers(make) -> None:
    rng = np.random.default_rng(0)
    sizes = {**{f"T{at}": 1000 for at in range(8)}, "Small": 146}
    truth = {name: rng.integers(0, 2, size) for name, size in sizes.items()}
    gold = make([task(name, size) for name, size in sizes.items()], {k: words(v) for k, v in truth.items()})
    ours = {name: noisy(rng, each, 0.7) for name, each in truth.items()}
    theirs = {name: changed(each, rng.random(len(each)) < 0.05) for name, each in ours.items()}
    widths, p_values = [], []
    for apart in (0, 3, 5, 6):
        theirs["Small"] = changed(ours["Small"], np.arange(apart))
        a, b = ({name: words(each) for name, each in side.items()} for side in (ours, theirs))
        average = compare(a, b, gold, equivalence=0.02, resamples=2000).overall
        assert average.withheld is None
        assert average.detectable is not None
        assert (average.p <= 0.05) == (average.low > 0 or average.high < 0)
        widths.append(average.high - average.low)
        p_values.append(average.equivalence_p)
    assert max(widths) < 1.25 * min(widths)
    assert p_values == sorted(p_values)


def test_nine_tasks_of_identical_answers_are_the_same_on_average(make) -> None:
    truth = np.arange(80) % 2
    names = [f"T{at}" for at in range(9)]
    gold = make([task(name, 80) for name in names], dict.fromkeys(names, words(truth)))
    answers = dict.fromkeys(names, words(truth))
    found = compare(answers, answers, gold, equivalence=0.02, resamples=200)
    assert found.overall.verdict == "same"
    assert {part.score.verdict for part in found.tasks.values()} == {"undecided"}
    assert found.overall.low < 0 < found.overall.high


@pytest.mark.parametrize("metrics", [F1, CORRELATIONS])
def test_equal_systems_with_hardly_a_difference_are_covered(make, metrics) -> None:
    """Two systems equal in the long run that differ on 3 of 400 examples on average: 200 test sets."""
    rng = np.random.default_rng(3)
    numbers = metrics is CORRELATIONS
    size, covered, shown = 400, 0, 200
    for _ in range(shown):
        truth = rng.normal(size=size) if numbers else (rng.random(size) < 0.6).astype(int)
        a = truth + rng.normal(size=size) if numbers else noisy(rng, truth, 0.7)
        b, moved = a.copy(), rng.random(size) < 3 / size
        b[moved] = truth[moved] + rng.normal(size=moved.sum()) if numbers else noisy(rng, truth[moved], 0.7)
        names = ("pearson",) if numbers else ("f1",)
        labels = () if numbers else ("0", "1")
        scored = [Metric(name, name, name, "F", None if numbers else "1", labels) for name in names]
        form, options = ("numbers", {}) if numbers else ("labels", {"labels": labels})
        gold, *sides = (each.tolist() if numbers else words(each) for each in (truth, a, b))
        pairs = [[pairs_of(form, gold, each, **options)] for each in sides]
        (tested,) = file_tests(scored, pairs, resamples=99, seed=0, name="F")
        found = tested.difference()
        covered += found.low <= 0 <= found.high
    assert covered >= 0.95 * shown
