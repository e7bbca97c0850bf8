"""Beside the p-values of a comparison: effects in examples, least differences, categories, withholding."""

from __future__ import annotations

import re

import numpy as np
import pytest
from click.testing import CliRunner
from compared import CORRELATIONS, F1, R_K, noisy, task, words
from scipy import stats

from gluebench.analysis import compare
from gluebench.analysis.differences import Alone
from gluebench.analysis.power import smallest_difference
from gluebench.cli import main
from gluebench.cli.compare_view import comparison_output
from gluebench.cli.tables import Paper, as_text
from gluebench.scoring import grade
from gluebench.scoring.intervals import TOO_FEW

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
    found, graded = compare(a, b, gold, resamples=200).tasks["T"], grade(a, gold, resamples=100).tasks["T"]
    for metric, score in graded.metrics.items():
        assert found.metrics[metric].withheld == score.withheld
        assert (found.metrics[metric].low is None) == (score.low is None)
    assert found.score.withheld == graded.score.withheld == (TOO_FEW if examples < 25 else None)
    assert found.score.detectable is None or examples >= 25
    assert ("interval withheld, too few to say" in found.words) == (examples < 25)


def test_answers_that_hardly_differ_get_a_test_and_no_interval(make):
    gold = make([task("T", 100)], {"T": words([1] * 100)})
    a, b = [1] * 90 + [0] * 10, [1] * 88 + [0] * 12
    score = compare({"T": words(a)}, {"T": words(b)}, gold, resamples=200).tasks["T"].score
    assert (score.withheld, score.low, score.p) == (TOO_FEW, None, 0.5)
    assert score.alone == Alone(2, 0)


def test_the_smallest_difference_of_an_accuracy_is_mcnemars_and_of_the_rest_from_their_spread(make):
    """For accuracy itself the two agree to a few hundredths, so the general one can be held against it."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 2000)
    a, b = words(noisy(rng, truth, 0.8)), words(noisy(rng, truth, 0.8))
    metrics = f'{{name = "accuracy", title = "acc."}}, {F1}'
    found = compare(
        {"T": a}, {"T": b}, make([task("T", 2000, metrics=metrics)], {"T": words(truth)}), resamples=4000
    )
    accuracy, f1 = (found.tasks["T"].metrics[name] for name in ("accuracy", "f1"))
    apart = sum(accuracy.alone) / 2000
    assert accuracy.detectable == smallest_difference(2000, apart)
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
    apart = np.sum((columns[1] != columns[2]).any(axis=1))
    share = 100 * stats.norm.cdf(-stats.t.ppf(0.975, apart - 1) * np.sqrt(apart / (apart - 1)))
    assert (found.low, found.high) == pytest.approx(np.percentile(drawn, [share, 100 - share]), abs=0.035)


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
    text = "".join(as_text(table, Paper(width=width)) for table in output.tables)
    assert all(len(line) <= width for line in text.splitlines())
    cells = [line for line in text.splitlines() if "[" in line and "%" not in line]
    assert len(cells) == 5, "the whole set, two coarse categories and two fine ones"
    assert all(re.search(r"\[-?[\d.]+, -?[\d.]+\]", line) for line in cells)
