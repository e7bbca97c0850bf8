"""Comparisons worked by hand, held against scipy, and of the real submissions."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from compared import ACCURACY, CORRELATIONS, F1, R_K, noisy, task, words
from scipy import stats
from sklearn.metrics import f1_score  # noqa: TID251 the oracle

from gluebench.analysis.compare import compare
from gluebench.analysis.compare.words import p_words
from gluebench.analysis.names import short_names
from gluebench.benchmark.figures import percent
from gluebench.scoring import GoldError, SubmissionError, read_gold
from gluebench.scoring.inference import mcnemar


def f1_of(truth, predicted):
    return 2 * np.sum(truth & predicted) / (truth.sum() + predicted.sum())


def test_accuracy_worked_by_hand(make):
    """A alone has 9 of 20 right, B alone 2: 2 P(X < 2) + P(X = 2) = 79 / 2048 for X binomial(11, 1/2)."""
    gold = make([task("T", 20)], {"T": words([1] * 20)})
    a = [1] * 9 + [0] * 2 + [1] * 9
    b = [0] * 9 + [1] * 2 + [1] * 9
    score = compare({"T": words(a)}, {"T": words(b)}, gold, resamples=500).tasks["T"].score
    assert (score.a, score.b) == (0.9, 0.55)
    assert score.difference == pytest.approx(0.35)
    assert score.p == pytest.approx(79 / 2048)
    assert (score.test, score.n, score.adjusted) == ("mid-p McNemar", 20, score.p)
    assert (score.alone, score.alone.net) == ((9, 2), 7)


def test_the_interval_of_a_difference_is_that_of_resampled_rows(make):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    a, b = noisy(rng, truth, 0.8), noisy(rng, truth, 0.6)
    gold = make([task("T", 400, metrics=F1)], {"T": words(truth)})
    score = compare({"T": words(a)}, {"T": words(b)}, gold, resamples=4000).tasks["T"].score
    drawn = []
    for _ in range(2000):
        rows = rng.integers(0, 400, 400)
        drawn.append(f1_of(truth[rows], a[rows]) - f1_of(truth[rows], b[rows]))
    assert score.difference == pytest.approx(f1_score(truth, a) - f1_score(truth, b), abs=1e-12)
    assert (score.low, score.high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.01)


def test_the_exchange_test_is_scipys_permutation_test(make):
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 2, 120)
    a, b = noisy(rng, truth, 0.7), noisy(rng, truth, 0.55)
    gold = make([task("T", 120, metrics=R_K)], {"T": words(truth)})
    score = compare({"T": words(a)}, {"T": words(b)}, gold, resamples=20_000).tasks["T"].score

    def statistic(x, y):
        return np.corrcoef(truth, x)[0, 1] - np.corrcoef(truth, y)[0, 1]

    expected = stats.permutation_test(
        (a, b), statistic, permutation_type="samples", n_resamples=2000, rng=rng, vectorized=False
    ).pvalue
    assert score.test == "paired exchange"
    assert score.p == pytest.approx(expected, abs=0.03)


def test_correlations_are_exchanged_and_their_intervals_are_those_of_resampled_rows(make):
    rng = np.random.default_rng(2)
    truth = rng.random(200) * 5
    a, b = truth + rng.normal(0, 1, 200), truth + rng.normal(0, 1.4, 200)
    gold = make([task("T", 200, metrics=CORRELATIONS, numbers=True)], {"T": truth})
    compared = compare({"T": a}, {"T": b}, gold, resamples=2000).tasks["T"]
    pearson, spearman = (compared.metrics[name] for name in ("pearson", "spearman"))
    assert pearson.a == pytest.approx(stats.pearsonr(truth, a)[0], abs=1e-12)
    assert spearman.a == pytest.approx(stats.spearmanr(truth, a)[0], abs=1e-12)
    assert compared.score.difference == pytest.approx((pearson.difference + spearman.difference) / 2)
    assert {pearson.test, spearman.test, compared.score.test} == {"paired exchange"}
    rows = rng.integers(0, 200, (800, 200))
    values = [truth[rows], a[rows], b[rows]]
    for difference, columns in ((pearson, values), (spearman, [stats.rankdata(v, axis=1) for v in values])):
        gold_rows, *answers = columns
        drawn = [stats.pearsonr(gold_rows, of_system, axis=1)[0] for of_system in answers]
        ends = np.percentile(drawn[0] - drawn[1], [2.5, 97.5])
        assert (difference.low, difference.high) == pytest.approx(ends, abs=0.025)


def test_the_scale_of_a_systems_numbers_does_not_matter(make):
    rng = np.random.default_rng(2)
    truth = rng.random(50) * 5
    a, b = truth + rng.normal(0, 1, 50), truth + rng.normal(0, 1.4, 50)
    gold = make([task("T", 50, metrics=CORRELATIONS, numbers=True)], {"T": truth})
    one = compare({"T": a}, {"T": b}, gold, resamples=300).tasks["T"].score
    other = compare({"T": a}, {"T": 1000 * b - 7}, gold, resamples=300).tasks["T"].score
    assert other.p == one.p
    assert other.low == pytest.approx(one.low)


def test_grouped_examples_are_no_independent_evidence(make):
    """Every example four times over, as a group: the p-value must not fall as if there were more."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    a, b = noisy(rng, truth, 0.8), noisy(rng, truth, 0.5)
    gold = make(
        [task("T", 240)], {"T": words(np.repeat(truth, 4))}, groups={"T": np.repeat(np.arange(60), 4)}
    )
    found = compare({"T": words(np.repeat(a, 4))}, {"T": words(np.repeat(b, 4))}, gold).tasks["T"].score
    only_a, only_b = np.sum((a == truth) & (b != truth)), np.sum((b == truth) & (a != truth))
    assert found.test == "paired exchange"
    assert found.p == pytest.approx(mcnemar(int(only_a), int(only_b)), abs=0.015)


@pytest.fixture
def several(make):
    rng = np.random.default_rng(4)
    columns = {name: rng.integers(0, 2, 150) for name in ("One", "Two", "Probe")}
    tasks = [
        task("One", 150),
        task("Two", 150, metrics=f"{ACCURACY}, {F1}"),
        task("Probe", 150, metrics=R_K, scored=False),
    ]
    gold = make(tasks, {name: words(column) for name, column in columns.items()})
    a = {name: words(noisy(rng, column, 0.8)) for name, column in columns.items()}
    b = {name: words(noisy(rng, column, 0.3)) for name, column in columns.items()}
    return gold, a, b


def test_holm_is_over_the_task_scores_alone(several):
    gold, a, b = several
    found = compare(a, b, gold, resamples=2000)
    p_values = {name: part.score.p for name, part in found.tasks.items()}
    smaller, larger = sorted(p_values, key=p_values.__getitem__)
    assert found.tasks[smaller].score.adjusted == pytest.approx(min(1, 2 * p_values[smaller]))
    assert found.tasks[larger].score.adjusted == pytest.approx(
        max(found.tasks[smaller].score.adjusted, p_values[larger])
    )
    assert found.diagnostics["Probe"].score.adjusted is None
    assert found.overall.adjusted is None
    assert found.overall.difference == pytest.approx(
        np.mean([part.score.difference for part in found.tasks.values()])
    )
    assert found.overall.n == 2


def test_the_other_way_round_it_is_the_mirror_image(several):
    gold, a, b = several
    there, back = compare(a, b, gold, resamples=300), compare(b, a, gold, resamples=300)
    pairs = [(there.overall, back.overall)]
    pairs += [(there.tasks[name].score, back.tasks[name].score) for name in there.tasks]
    for one, other in pairs:
        assert (one.difference, one.low, one.high) == pytest.approx(
            (-other.difference, -other.high, -other.low)
        )
        assert one.p == other.p


def test_the_same_input_gives_the_same_numbers_whatever_else_is_there(several):
    gold, a, b = several
    whole = compare(a, b, gold, resamples=300)
    assert compare(a, b, gold, resamples=300) == whole
    part = compare({"Two": a["Two"]}, {"Two": b["Two"]}, gold, resamples=300)
    assert part.tasks["Two"].metrics == whole.tasks["Two"].metrics
    assert compare(a, b, gold, resamples=300, seed=1).overall.low != whole.overall.low


def test_a_task_that_one_lacks_is_left_out_and_said(several):
    gold, a, b = several
    found = compare(a, {"One": b["One"]}, gold, resamples=300)
    assert (found.over, found.left_out) == (("One",), ("Two",))
    assert any("Two is left out" in warning and "B" in warning for warning in found.warnings)
    assert "1 of 2 tasks" in found.conclusion
    assert found.diagnostics == {}


def test_nothing_in_common_is_said(several):
    gold, a, b = several
    found = compare({"One": a["One"]}, {"Two": b["Two"]}, gold, resamples=300)
    assert found.overall is None
    assert "nothing can be compared" in found.conclusion


def test_a_submission_against_itself(several):
    gold, a, _ = several
    found = compare(a, a, gold, resamples=300)
    assert found.overall.p == 1.0
    assert found.overall.low < 0 < found.overall.high, "other examples may show a difference"
    assert found.overall.withheld is None
    assert found.conclusion == "The two submissions give the same answers."
    assert found.tasks["One"].words == "On One the two give the same answers."


def test_where_two_agree_throughout_the_average_still_has_its_interval(several):
    """Half of a mean whose other half is a difference of 0 is little more than half as wide."""
    gold, a, b = several
    one = compare(
        {"One": a["One"], "Two": a["Two"]}, {"One": b["One"], "Two": a["Two"]}, gold, resamples=2000
    )
    assert one.tasks["Two"].score.withheld is None
    score, average = one.tasks["One"].score, one.overall
    assert average.withheld is None
    assert average.difference == pytest.approx(score.difference / 2)
    assert average.high - average.low == pytest.approx((score.high - score.low) / 2, rel=0.1)


def test_words_say_who_is_better_and_where_nothing_can_be_told(several):
    gold, a, b = several
    found = compare(a, b, gold, resamples=2000)
    one = found.tasks["One"].score
    assert found.tasks["One"].words == (
        f"On One A is better by {percent(one.difference)} points of accuracy "
        f"(95 % interval {percent(one.low)} to {percent(one.high)}, {p_words(one.adjusted)} after Holm): "
        f"{one.alone.net} more of 150 rows right for A."
    )
    assert "its score, the mean of accuracy and F1" in found.tasks["Two"].words
    assert "points of R2" in found.diagnostics["Probe"].words
    assert found.conclusion.startswith("On average over all 2 tasks, A is better by")
    turned = compare(b, a, gold, resamples=2000)
    assert "B is better by" in turned.conclusion
    assert f"interval {percent(one.low)} to {percent(one.high)}" in turned.tasks["One"].words
    near = compare({"One": a["One"]}, {"One": [*a["One"][:-1], "0"]}, gold, resamples=300)
    assert "there is no significant difference" in near.conclusion or near.overall.same


@pytest.mark.parametrize(
    ("p", "said"), [(0.0002, "p < .001"), (0.0421, "p = .042"), (0.5, "p = .500"), (1.0, "p = 1")]
)
def test_p_values_in_words(p, said):
    assert p_words(p) == said


def test_what_cannot_be_graded_cannot_be_compared(several, make):
    gold, a, b = several
    with pytest.raises(SubmissionError, match="maybe"):
        compare({"One": ["maybe"] * 150}, b, gold)
    (Path(gold.folder) / "Two.tsv").unlink()
    lacking = read_gold(gold.folder, gold.benchmark)
    with pytest.raises(GoldError, match="Two"):
        compare(a, b, lacking)


def test_the_json_is_whole_and_plain(several):
    gold, a, b = several
    data = json.loads(json.dumps(compare(a, b, gold, resamples=300).as_dict(), allow_nan=False))
    assert data["schema"] == data["provenance"]["schema"] == "gluebench.comparison/1"
    assert set(data["tasks"]["Two"]["metrics"]) == {"accuracy", "f1"}
    always = {"a", "b", "difference", "low", "high", "error", "p", "test", "n", "same"}
    assert set(data["overall"]) == {*always, "detectable"}
    assert set(data["tasks"]["One"]["score"]) == {*always, "adjusted", "only_a", "only_b", "detectable"}
    assert data["over"] == ["One", "Two"]


def test_a_metric_from_elsewhere_is_tested_by_calling_it(make, monkeypatch):
    """Accuracy under another name, of which nothing is known, against accuracy from its counts."""

    def share(gold, predicted):
        return sum(map(str.__eq__, gold, predicted)) / len(gold)

    monkeypatch.setitem(sys.modules, "elsewhere", SimpleNamespace(share=share))
    offered = EntryPoints([EntryPoint("elsewhere", "elsewhere:share", "gluebench.metrics")])
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: {"gluebench.metrics": offered}.get(group, ())
    )
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 80)
    mine = '{name = "share", function = "elsewhere", title = "share"}'
    gold = make([task("T", 80, metrics=f"{ACCURACY}, {mine}")], {"T": words(truth)})
    a, b = words(noisy(rng, truth, 0.8)), words(noisy(rng, truth, 0.5))
    found = compare({"T": a}, {"T": b}, gold, resamples=1500).tasks["T"].metrics
    known, unknown = found["accuracy"], found["share"]
    assert (unknown.a, unknown.b) == (known.a, known.b)
    assert (unknown.low, unknown.high) == pytest.approx((known.low, known.high), abs=0.02)
    assert unknown.test == "paired exchange"
    assert unknown.p == pytest.approx(known.p, abs=0.03)


TWO_FILES = """
[[tasks.T.files]]
name = "T-m"
test = "test_m"
[[tasks.T.files]]
name = "T-mm"
test = "test_mm"
"""


@pytest.fixture
def halves(make):
    """A task of two test files, as MNLI is one."""
    metrics = ", ".join(
        f'{{name = "{name}_accuracy", function = "accuracy", file = "{file}", title = "{name} acc."}}'
        for name, file in (("matched", "T-m"), ("mismatched", "T-mm"))
    )
    text = task("T", 0, metrics=metrics).replace(
        'test = {file = "test.tsv", size = 0}',
        'test_m = {file = "test_m.tsv", size = 40}\ntest_mm = {file = "test_mm.tsv", size = 60}',
    )
    rng = np.random.default_rng(9)
    columns = {"T-m": rng.integers(0, 2, 40), "T-mm": rng.integers(0, 2, 60)}
    gold = make([text, TWO_FILES], {name: words(column) for name, column in columns.items()})
    a, b = (
        {name: words(noisy(rng, column, right)) for name, column in columns.items()} for right in (0.9, 0.2)
    )
    return gold, a, b


def test_the_two_halves_of_a_task_are_resampled_apart_and_count_alike(halves):
    gold, a, b = halves
    found = compare(a, b, gold, resamples=1000).tasks["T"]
    differences = [metric.difference for metric in found.metrics.values()]
    assert found.score.difference == pytest.approx(np.mean(differences))
    assert found.score.n == 100
    assert [metric.n for metric in found.metrics.values()] == [40, 60]
    assert found.score.test == "paired exchange"


def test_half_a_task_is_no_task_score(halves):
    gold, a, b = halves
    found = compare({"T-m": a["T-m"]}, {"T-m": b["T-m"]}, gold, resamples=300)
    assert found.overall is None
    assert found.tasks["T"].score is None
    assert list(found.tasks["T"].metrics) == ["matched_accuracy"]
    assert "no task score" in found.tasks["T"].words


def test_two_equal_systems_are_told_apart_no_more_often_than_promised(make):
    """Both right with the same chance on every example: p < .05 in about one in twenty of 400 worlds."""
    gold = make([task("T", 60, metrics=f"{ACCURACY}, {F1}")], {"T": words(np.arange(60) % 2)})
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    found = [
        compare(
            {"T": words(noisy(rng, truth, 0.6))}, {"T": words(noisy(rng, truth, 0.6))}, gold, resamples=100
        )
        for _ in range(400)
    ]
    share = np.mean([each.tasks["T"].score.p < 0.05 for each in found])
    exact = np.mean([each.tasks["T"].metrics["accuracy"].p < 0.05 for each in found])
    assert 0.02 <= share <= 0.08
    assert exact <= 0.07


def test_two_equal_correlations_are_told_apart_no_more_often_than_promised(make):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=80)
    gold = make([task("T", 80, metrics=CORRELATIONS, numbers=True)], {"T": truth})
    found = [
        compare({"T": truth + rng.normal(size=80)}, {"T": truth + rng.normal(size=80)}, gold, resamples=100)
        for _ in range(250)
    ]
    for metric in ("pearson", "spearman"):
        assert 0.015 <= np.mean([each.tasks["T"].metrics[metric].p < 0.05 for each in found]) <= 0.09


LONG = "x" * 60


@pytest.mark.parametrize(
    ("a", "b", "names"),
    [
        (["ours.zip"], ["folder/theirs.zip"], ("ours", "theirs")),
        (["runs/1/sub.zip"], ["runs/2/sub.zip"], ("1/sub", "2/sub")),
        (["runs/2/"], ["runs/3"], ("runs/2", "runs/3")),
        (["1.zip"], ["2.zip"], ("“1”", "“2”")),
        (["same.zip"], ["same.zip"], ("A", "B")),
        (["A.zip"], ["bert.zip"], ("“A”", "bert")),
        (["x/run1.zip", "x/run2.zip"], ["y/run1.zip"], ("run (2 runs)", "run1")),
        (["x/run1.zip", "x/run2.zip"], ["y/run1.zip", "y/run3.zip"], ("x/run (2 runs)", "y/run (2 runs)")),
        (["bert is better; see.zip"], ["esim.zip"], ("“bert is better; see”", "esim")),
        ([f"{LONG}1.zip"], [f"{LONG}2.zip"], (f"{LONG[:24]}…{LONG[:14]}1", f"{LONG[:24]}…{LONG[:14]}2")),
    ],
)  # fmt: skip
def test_sentences_name_the_systems_shortly_and_apart(
    a: list[str], b: list[str], names: tuple[str, str]
) -> None:
    assert short_names(a, b) == names
