"""Beside the p-values of a comparison: effects in examples, least differences, categories, withholding."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from compared import CORRELATIONS, F1, R_K, noisy, task, words
from scipy import stats

from gluebench.analysis.compare import compare
from gluebench.benchmark.tables import Paper, to_text
from gluebench.cli import main
from gluebench.cli.analysis.compare import comparison_output
from gluebench.scoring import grade
from gluebench.scoring.intervals import DiscordantCounts

PHENOMENA = """
[tasks.Probe.phenomena."Logic"]
Negation = []
Conditionals = []
[tasks.Probe.phenomena."Knowledge"]
"Common Sense" = []
"""


@pytest.mark.parametrize("examples", [15, 24, 25, 60])
def test_correlations_of_few_examples_get_an_interval_where_grade_gives_one(make, examples):
    rng = np.random.default_rng(3)
    truth = rng.random(examples) * 5
    gold = make([task("T", examples, metrics=CORRELATIONS, numbers=True)], {"T": truth})
    a, b = {"T": truth + rng.normal(size=examples)}, {"T": truth + rng.normal(size=examples)}
    found, graded = compare(a, b, gold, resamples=200).tasks["T"], grade(a, gold).tasks["T"]
    for metric, score in graded.metrics.items():
        assert found.metrics[metric].withheld == score.withheld
        assert (found.metrics[metric].low is None) == (score.low is None)
    assert (found.score.withheld is None) == (graded.score.withheld is None) == (examples >= 25)
    assert found.score.detectable is None or examples >= 25
    assert ("interval withheld, too few to say" in found.words) == (examples < 25)


def test_answers_that_hardly_differ_get_a_test_and_an_interval(make):
    gold = make([task("T", 100)], {"T": words([1] * 100)})
    a, b = [1] * 90 + [0] * 10, [1] * 88 + [0] * 12
    score = compare({"T": words(a)}, {"T": words(b)}, gold, resamples=200).tasks["T"].score
    assert (score.withheld, score.p, score.alone) == (None, 0.25, DiscordantCounts(2, 0))
    half = 1.959964 * ((5 / 103 - (2 / 103) ** 2) / 103) ** 0.5
    assert (score.low, score.high) == pytest.approx((2 / 103 - half, 2 / 103 + half), abs=1e-6)


def test_the_smallest_difference_is_that_of_the_test(make):
    """1.96 and .84 standard errors for a large test set."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 2000)
    a, b = words(noisy(rng, truth, 0.8)), words(noisy(rng, truth, 0.8))
    metrics = f'{{name = "accuracy", title = "acc."}}, {F1}'
    found = compare(
        {"T": a}, {"T": b}, make([task("T", 2000, metrics=metrics)], {"T": words(truth)}), resamples=4000
    )
    accuracy, f1 = (found.tasks["T"].metrics[name] for name in ("accuracy", "f1"))
    apart = sum(accuracy.alone) / 2000
    assert accuracy.detectable == pytest.approx(2.8016 * accuracy.error, rel=0.01)
    assert accuracy.detectable == pytest.approx(2.8016 * (apart / 2000) ** 0.5, rel=0.03)
    assert f1.detectable == pytest.approx(accuracy.detectable, rel=0.25)


@pytest.fixture
def divided(make):
    """A diagnostic set of 80 pairs: 60 tagged Negation, on which A alone is any good, 20 Common Sense."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 160)
    groups = np.repeat(np.arange(80), 2)
    tags = ["Logic\tNegation" if group < 60 else "Knowledge\tCommon Sense" for group in groups]
    text = task("Probe", 160, metrics=R_K, scored=False) + PHENOMENA
    gold = make(
        [task("One", 9), text], {"Probe": words(truth)}, groups={"Probe": groups}, tags={"Probe": tags}
    )
    a = np.where(groups < 60, noisy(rng, truth, 0.9), noisy(rng, truth, 0.5))
    return gold, {"Probe": words(a)}, {"Probe": words(noisy(rng, truth, 0.1))}, truth


def test_a_diagnostic_set_is_compared_by_category(divided):
    gold, a, b, truth = divided
    found = compare(a, b, gold, resamples=1000).diagnostics["Probe"]
    by_name = {(each.kind, each.name): each.difference for each in found.categories}
    assert list(by_name) == [
        ("coarse", "Logic"), ("coarse", "Knowledge"), ("fine", "Negation"), ("fine", "Common Sense"),
    ]  # fmt: skip
    negation = by_name["fine", "Negation"]
    ours, theirs = (np.array(each["Probe"][:120], int) for each in (a, b))
    expected = np.corrcoef(truth[:120], ours)[0, 1] - np.corrcoef(truth[:120], theirs)[0, 1]
    assert negation.difference == pytest.approx(expected)
    assert negation.n == 120
    assert negation.alone.net == np.sum(ours == truth[:120]) - np.sum(theirs == truth[:120])
    assert negation.adjusted == pytest.approx(min(1, 2 * negation.p))
    assert "Of its 2 fine categories, after Holm, A is better on Negation" in found.words


def test_without_categories_all_else_is_equal(divided):
    gold, a, b, _ = divided
    full = compare(a, b, gold, resamples=500)
    wholes = compare(a, b, gold, resamples=500, categories=False)
    probe = wholes.diagnostics["Probe"]
    assert probe.categories == ()
    assert probe.score == full.diagnostics["Probe"].score
    assert full.diagnostics["Probe"].words.startswith(probe.words + " Of its 2 coarse categories")
    assert (wholes.tasks, wholes.conclusion) == (full.tasks, full.conclusion)


def test_a_category_is_resampled_as_if_it_stood_alone(divided):
    """Rows resampled by pair, with nothing of this project: the interval of the Negation category."""
    gold, a, b, truth = divided
    found = compare(a, b, gold, resamples=4000).diagnostics["Probe"].categories[2].difference
    rng = np.random.default_rng(0)
    columns = [np.array(each[:120], int).reshape(60, 2) for each in (truth, a["Probe"], b["Probe"])]
    drawn = []
    for _ in range(1500):
        at = rng.integers(0, 60, 60)
        g, x, y = (column[at].ravel() for column in columns)
        drawn.append(np.corrcoef(g, x)[0, 1] - np.corrcoef(g, y)[0, 1])
    assert (found.low, found.high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.035)


def test_more_than_two_are_sent_to_rank(tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
    answer = CliRunner().invoke(main, ["compare", *(str(tmp_path / name) for name in "abc")])
    assert answer.exit_code == 2
    assert f"gluebench rank {tmp_path / 'a'}" in answer.output
    assert CliRunner().invoke(main, ["compare", str(tmp_path / "a")]).exit_code == 2


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_breaks_no_interval(divided, width):
    gold, a, b, _ = divided
    output = comparison_output(compare(a, b, gold, resamples=200), gold.benchmark)
    text = "".join(to_text(table, Paper(width=width)) for table in output.tables)
    assert all(len(line) <= width for line in text.splitlines())
    cells = [line for line in text.splitlines() if "[" in line and "%" not in line]
    assert len(cells) == 5, "the whole set, two coarse categories and two fine ones"
    assert all(re.search(r"\[-?[\d.]+, -?[\d.]+\]", line) for line in cells)


def runs_of(rng, truth, right, number):
    return [{"T": words(noisy(rng, truth, right + shift))} for shift in rng.normal(0, 0.05, number)]


def test_several_runs_are_compared_by_their_means(make):
    """The mean over runs, and Student's t on them: with very many rows only the runs matter."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 20_000)
    gold = make([task("T", 20_000)], {"T": words(truth)})
    ours, theirs = runs_of(rng, truth, 0.8, 4), runs_of(rng, truth, 0.7, 3)
    compared = compare(ours, theirs, gold)
    score = compared.tasks["T"].score
    a, b = ([np.mean(np.array(run["T"]) == truth.astype(str)) for run in side] for side in (ours, theirs))
    assert (score.a, score.b) == pytest.approx((np.mean(a), np.mean(b)))
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert score.p == pytest.approx(welch.pvalue, abs=0.02)
    assert (score.low, score.high) == pytest.approx(tuple(welch.confidence_interval()), abs=0.02)
    assert score.seeds > 0.9
    assert (compared.runs, score.test) == ((4, 3), "t over runs")
    assert compared.as_dict()["runs"] == [4, 3]
    turned = compare(theirs, ours, gold)
    assert turned.tasks["T"].score.low == pytest.approx(-score.high)
    half = compare(ours, theirs[0], gold)
    assert any("B is a single run" in warning for warning in half.warnings)


def test_runs_that_do_not_differ_are_as_one(make):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 900)
    gold = make([task("T", 900, metrics=F1)], {"T": words(truth)})
    a, b = ({"T": words(noisy(rng, truth, right))} for right in (0.7, 0.65))
    single, several = compare(a, b, gold, resamples=4000).overall, compare([a, a, a], [b, b], gold).overall
    assert several.difference == pytest.approx(single.difference)
    assert several.error == pytest.approx(single.error, rel=0.02)
    assert several.p == pytest.approx(single.p, abs=0.02)
    assert several.seeds == 0


def test_the_same_within_a_margin_better_or_neither(make):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 4000)
    metrics = '{name = "accuracy", title = "acc."}'
    gold = make([task("T", 4000, metrics=metrics)], {"T": words(truth)})
    a = noisy(rng, truth, 0.8)
    near, far = a.copy(), noisy(rng, truth, 0.6)
    near[:40] = 1 - near[:40]
    verdicts = {}
    for name, other, margin in (("near", near, 0.02), ("far", far, 0.02), ("narrow", near, 0.001)):
        compared = compare({"T": words(a)}, {"T": words(other)}, gold, equivalence=margin, resamples=2000)
        verdicts[name] = (compared.overall.verdict, compared.conclusion)
        record = compared.as_dict()["overall"]
        assert (record["margin"], record["verdict"]) == (margin, compared.overall.verdict)
    assert verdicts["near"][0] == "same"
    assert "the two are the same within 2.0 points" in verdicts["near"][1]
    assert verdicts["far"][0] == "A"
    assert verdicts["narrow"][0] in ("undecided", "A", "B")
    with pytest.raises(ValueError, match="expected a fraction above 0"):
        compare({"T": words(a)}, {"T": words(far)}, gold, equivalence=0)


@pytest.fixture
def files(make, tmp_path):
    """A gold folder and five submissions as folders."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 300)
    gold = make([task("T", 300)], {"T": words(truth)})
    for name, right in (("a1", 0.8), ("a2", 0.82), ("a3", 0.78), ("b1", 0.7), ("b2", 0.68)):
        rows = "".join(f"{at}\t{word}\n" for at, word in enumerate(words(noisy(rng, truth, right))))
        (tmp_path / name).mkdir()
        (tmp_path / name / "T.tsv").write_text(f"index\tprediction\n{rows}")
    return gold, tmp_path


def test_the_command_takes_runs_as_a_shell_writes_them_out(files, monkeypatch):
    gold, folder = files
    monkeypatch.chdir(folder)
    manifest = next(folder.rglob("*.toml"))
    words_ = ["compare", "a1", "a2", "a3", "--against", "b1", "b2", "--gold", gold.folder, "--json"]
    answer = CliRunner().invoke(main, [*words_, "--benchmark", str(manifest), "--equivalence", "1.5"])
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)
    assert data["runs"] == [3, 2]
    assert data["overall"]["margin"] == 0.015
    assert 0 <= data["overall"]["seeds"] <= 1
    options = ["--benchmark", str(manifest), "--equivalence", "1.5", "--details"]
    text = CliRunner().invoke(main, [*words_[:-1], *options]).stdout
    assert "same within 1.5" in text
    assert "seeds" in text
    empty = CliRunner().invoke(main, ["compare", "a1", "--against", "--gold", gold.folder])
    assert (empty.exit_code, "--against needs" in empty.output) == (2, True)


def test_grade_of_several_runs_has_an_interval_over_runs(files, monkeypatch):
    gold, folder = files
    monkeypatch.chdir(folder)
    manifest = next(folder.rglob("*.toml"))
    words_ = ["grade", "a1", "a2", "a3", "--gold", gold.folder, "--benchmark", str(manifest)]
    answer = CliRunner().invoke(main, [*words_, "--json"])
    score = json.loads(answer.stdout)["summary"]["score"]
    assert score["low"] < score["mean"] < score["high"]
    assert 0 <= score["seeds"] <= 1
    assert "mean [95 % interval]" in CliRunner().invoke(main, words_).stdout
    assert "Two runs are too few" not in CliRunner().invoke(main, words_).stdout
    assert "Two runs are too few" in CliRunner().invoke(main, [words_[0], *words_[2:]]).stdout
    without = json.loads(CliRunner().invoke(main, [*words_, "--json", "--no-intervals"]).stdout)
    assert "low" not in without["summary"]["score"]


def test_systems_given_from_python_have_the_names_they_are_given(make) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    gold = make([task("T", 300)], {"T": words(truth)})
    a, b = ({"T": words(noisy(rng, truth, right))} for right in (0.8, 0.7))
    plain, named = compare(a, b, gold), compare(a, b, gold, names=("old", "new"))
    assert (plain.a, plain.b, named.a, named.b) == ("A", "B", "old", "new")
    assert "given from Python" not in plain._repr_html_()
    assert "test split.</caption>" in plain._repr_html_()
    assert "A: old. B: new." in named._repr_html_()
    title = comparison_output(named, gold.benchmark).tables[0].title
    assert title.endswith("A: old. B: new.")


def test_identical_answers_are_printed_as_such_with_their_interval(make) -> None:
    truth = np.arange(1200) % 2
    gold = make([task("T", 1200)], {"T": words(truth)})
    compared = compare({"T": words(truth)}, {"T": words(truth)}, gold, equivalence=0.02)
    tables = comparison_output(compared, gold.benchmark).tables
    text = "".join(to_text(table, Paper(width=110)) for table in tables)
    assert "0.0 [-0.3, 0.3] (same answers)" in text
    assert "too few to say" not in text
    assert "two families of tests" in " ".join(text.split())
    assert "one pair, named before" in " ".join(text.split())
    assert "two families" not in "".join(
        to_text(table, Paper(width=110))
        for table in comparison_output(
            compare({"T": words(truth)}, {"T": words(truth)}, gold), gold.benchmark
        ).tables
    )
