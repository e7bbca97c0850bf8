"""What the number of runs allows to say: nothing of one against several, little of two."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from compared import F1, R_K, noisy, task, words

from gluebench.analysis.compare import compare
from gluebench.cli import main


def runs_of(rng, truth, right, number):
    """Runs whose accuracies spread by 5 points, so that half of the variance is theirs."""
    return [
        {name: words(noisy(rng, each, right + shift)) for name, each in truth.items()}
        for shift in rng.normal(0, 0.05, number)
    ]


@pytest.fixture
def world(make):
    rng = np.random.default_rng(5)
    truth = {name: rng.integers(0, 2, 400) for name in ("One", "Two", "Probe")}
    tasks = [task("One", 400), task("Two", 400, metrics=F1), task("Probe", 400, metrics=R_K, scored=False)]
    return rng, make(tasks, {name: words(each) for name, each in truth.items()}), truth


def test_one_run_against_several_has_an_interval_over_examples_and_no_verdict(world) -> None:
    rng, gold, truth = world
    one, several = runs_of(rng, truth, 0.9, 1), runs_of(rng, truth, 0.3, 5)
    found = compare(one[0], several, gold, equivalence=0.02)
    for score in (found.overall, *(part.score for part in found.tasks.values())):
        assert (score.p, score.adjusted, score.better, score.verdict) == (None, None, None, "undecided")
        assert (score.equivalence_p, score.detectable, score.seeds) == (None, None, None)
        assert score.test == "none: one run"
        assert score.low > 0
    assert not any("is better" in sentence or "p =" in sentence for sentence in found.words)
    assert "over examples alone; no test of one run against several" in found.conclusion
    assert any("A is a single run" in warning and "no p-value" in warning for warning in found.warnings)
    json.dumps(found.as_dict(), allow_nan=False)
    assert "no p" in repr(found)
    assert '<td style="text-align:right">-</td>' in found._repr_html_(), "no p-value"
    turned = compare(several, one[0], gold)
    assert turned.overall.low == pytest.approx(-found.overall.high)


def test_the_interval_over_examples_is_that_of_these_runs(world) -> None:
    """With the runs held fixed, it is the paired interval of A's hits minus the share of B's that hit."""
    rng, gold, truth = world
    one, several = runs_of(rng, truth, 0.8, 1), runs_of(rng, truth, 0.6, 4)
    score = compare(one[0], several, gold).tasks["One"].score
    right = [np.array(run["One"]) == truth["One"].astype(str) for run in (*one, *several)]
    differences = right[0] - np.mean(right[1:], axis=0)
    error = differences.std(ddof=1) / 20
    assert score.difference == pytest.approx(differences.mean())
    assert score.error == pytest.approx(error, rel=1e-6)
    assert score.high - score.low == pytest.approx(2 * 1.966 * error, rel=0.01)


def test_the_command_prints_no_p_for_one_run_and_its_warnings_come_last(world, tmp_path) -> None:
    rng, gold, truth = world
    names = []
    for at, run in enumerate([*runs_of(rng, truth, 0.9, 1), *runs_of(rng, truth, 0.3, 3)]):
        folder = tmp_path / f"run{at}"
        folder.mkdir()
        for name, answers in run.items():
            rows = "".join(f"{row}\t{answer}\n" for row, answer in enumerate(answers))
            (folder / f"{name}.tsv").write_text(f"index\tprediction\n{rows}")
        names.append(str(folder))
    manifest = str(tmp_path / "manifest.toml")
    against = ["--against", *names[1:], "--gold", str(gold.folder), "--benchmark", manifest]
    answer = CliRunner().invoke(main, ["compare", names[0], *against, "--equivalence", "2"])
    assert answer.exit_code == 0, answer.output
    assert "p = " not in answer.stdout
    assert answer.output.index("The test is of one pair") < answer.output.index("run0 is a single run")
    assert "one pair, named before its results were seen" in " ".join(answer.stdout.split())
