"""The two real submissions against each other on public gold, each test made again by scipy."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from real import REAL, needs_real
from scipy import stats

from gluebench.analysis.compare import compare
from gluebench.benchmark import load_benchmark
from gluebench.scoring import read_gold
from gluebench.submission import check

pytestmark = needs_real


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    glue = load_benchmark("glue")
    folder = shutil.copytree(
        REAL / "gold", tmp_path_factory.mktemp("real") / "gold"
    )  # a key is left beside it
    gold = read_gold(folder, glue, partial=True)
    a, b = (check(REAL / "submissions" / name, glue) for name in ("bert4keras", "fastmtl"))
    return compare(a, b, gold, resamples=2000)


def column(path: Path) -> list[str]:
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return [value for _, value in sorted((int(index), value.strip()) for index, value in rows)]


@pytest.mark.parametrize("name", ["SST-2", "MRPC", "QNLI"])
def test_mcnemar_on_the_real_pair(comparison, name):
    gold, a, b = (
        np.array(column(REAL / part / f"{name}.tsv"))
        for part in ("gold", "submissions/bert4keras", "submissions/fastmtl")
    )
    only_a, only_b = int(np.sum((a == gold) & (b != gold))), int(np.sum((b == gold) & (a != gold)))
    found = comparison.tasks[name].metrics["accuracy"]
    smaller, total = min(only_a, only_b), only_a + only_b
    expected = 2 * stats.binom.cdf(smaller - 1, total, 0.5) + stats.binom.pmf(smaller, total, 0.5)
    assert found.p == pytest.approx(expected, rel=1e-10)
    assert found.difference == pytest.approx((only_a - only_b) / len(gold), abs=1e-12)


def test_the_conclusion_in_words(comparison):
    assert comparison.over == ("SST-2", "MRPC", "STS-B", "QNLI")
    mrpc = comparison.tasks["MRPC"].words
    assert mrpc.startswith("On MRPC bert4keras is better by 3.4 points of its score")
    for name in ("SST-2", "STS-B", "QNLI"):
        assert comparison.tasks[name].words.startswith(f"On {name} there is no significant difference")
    assert comparison.conclusion.startswith(
        "On average over the 4 of 9 tasks that can be compared, bert4keras is better by 1.1 points"
    )


def test_the_effect_in_examples_and_what_the_test_set_could_show(comparison):
    assert comparison.tasks["MRPC"].words.endswith("69 more of 1,725 rows right for bert4keras.")
    sst = comparison.tasks["SST-2"]
    assert sst.score.alone == (42, 55)
    assert "13 more of 1,821 rows right for fastmtl. " in sst.words
    assert "A true difference of 1.5 points would be found" in sst.words


def test_the_diagnostic_set_by_phenomenon(comparison):
    parts = {(each.kind, each.name): each.difference for each in comparison.diagnostics["AX"].categories}
    assert [sum(kind == wanted for kind, _ in parts) for wanted in ("coarse", "fine")] == [4, 33]
    assert parts["fine", "Double Negation"].withheld == "too few to say"
    assert parts["coarse", "Logic"].n == 364
    assert all(part.adjusted >= part.p for part in parts.values())


def test_the_diagnostic_set_stands_apart(comparison):
    found = comparison.diagnostics["AX"].score
    assert (round(found.a, 3), found.b) == (0.361, 0.0)
    assert found.adjusted is None
    assert any("AX" in warning for warning in comparison.warnings)
