"""Rankings of items with scores: equal scores are in trec_eval's order, whatever the order of the lines."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.scoring import grade
from gluebench.submission import check

MANIFEST = """[benchmark]
name = "run"
[tasks.Check]
form = "ranking"
metrics = [{ name = "map" }, { name = "ndcg3", function = "ndcg_at", positive = "3" }]
splits.test = { size = 2, ids = ["q1", "q2"] }
files = [{ name = "check", member = "run.tsv", column = "doc", parts = "score" }]
"""
EQUAL = [("q1", "d3", "1"), ("q1", "d1", "1.0"), ("q1", "d2", "1"), ("q2", "d2", "2"), ("q2", "d3", "1e0")]


@pytest.fixture
def benchmark(tmp_path: Path):
    (tmp_path / "run.toml").write_text(MANIFEST)
    return load_benchmark(tmp_path / "run.toml")


def checked(folder: Path, rows: list[tuple[str, ...]], benchmark):
    folder.mkdir(exist_ok=True)
    (folder / "run.tsv").write_text("qid\tdoc\tscore\n" + "".join("\t".join(row) + "\n" for row in rows))
    return check(folder, benchmark)


def test_equal_scores_are_ordered_by_id_the_greatest_first(tmp_path: Path, benchmark) -> None:
    for seed in range(5):
        rows = random.Random(seed).sample(EQUAL, len(EQUAL))
        submission = checked(tmp_path / "s", rows, benchmark)
        assert submission.predictions["check"].cells == (("d3", "d2", "d1"), ("d2", "d3"))
        (warning,) = submission.problems
        assert (warning.code, warning.severity) == ("equal-scores", "warning")
        assert "items of 1 of 2 have equal ones" in warning.expected
        report = grade(submission, {"Check": [{"d2": 1}, {"d3": 1}]}, benchmark=benchmark)
        metrics = report.tasks["Check"].metrics
        assert metrics["map"].value == pytest.approx(1 / 2)
        assert metrics["ndcg3"].value == pytest.approx(0.6309297535714575)  # 1 / log2(3)


def test_different_scores_give_no_warning(tmp_path: Path, benchmark) -> None:
    rows = [(query, item, f"{at}.5") for at, (query, item, _) in enumerate(EQUAL)]
    submission = checked(tmp_path / "s", rows, benchmark)
    assert submission.problems == ()
    assert submission.predictions["check"].cells == (("d2", "d1", "d3"), ("d3", "d2"))
