"""The two real submissions ranked on public gold: the same conclusion as their comparison."""

from __future__ import annotations

import shutil

import pytest
from real import REAL, needs_real

from gluebench.analysis.compare import compare
from gluebench.analysis.rank import rank
from gluebench.benchmark import load_benchmark
from gluebench.scoring import read_gold
from gluebench.submission import check

pytestmark = needs_real


def test_a_pair_that_compare_separates_has_separate_rank_sets(tmp_path):
    glue = load_benchmark("glue")
    folder = shutil.copytree(REAL / "gold", tmp_path / "gold")  # a key is left beside it
    gold = read_gold(folder, glue, partial=True)
    names = ("bert4keras", "fastmtl")
    systems = {name: check(REAL / "submissions" / name, glue) for name in names}
    ranking = rank(systems, gold)
    overall = compare(*systems.values(), gold, resamples=500).overall
    assert [(each.name, each.rank, each.rank_low, each.rank_high) for each in ranking.systems] == [
        ("bert4keras", 1, 1, 1),
        ("fastmtl", 2, 2, 2),
    ]
    assert ranking.tasks == ("SST-2", "MRPC", "STS-B", "QNLI")
    (pair,) = ranking.pairs
    assert pair.difference == pytest.approx(overall.difference, abs=1e-11)
    assert pair.p == pair.adjusted < 0.001
    assert ranking.may_be_best == ("bert4keras",)
    assert len(ranking.survival.holds) == 1
