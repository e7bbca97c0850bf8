"""The predictions that the demonstration ships belong to the sample benchmark of this version."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench import check, compare, grade, read_gold
from gluebench.leaderboard.demo import ENTRIES, SHIPPED
from gluebench.systems import SYSTEMS, run


def test_every_entry_has_a_system() -> None:
    assert {entry.system for entry in ENTRIES} <= {*SYSTEMS, *SHIPPED}


def test_the_bilstm_scores_what_the_docs_say_and_more_than_the_majority(sample, sample_folder: Path) -> None:
    """A new sample file needs new predictions: scored against other labels these would be at chance."""
    gold = read_gold(sample_folder / "gold", sample)
    bilstm = check(SHIPPED["bilstm"].predictions, sample)
    assert (bilstm.verdict, len(bilstm.errors)) == ("valid", 0)
    report = grade(bilstm, gold)
    docs = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "results.md").read_text()
    low, value, high = (
        f"{100 * end:.1f}" for end in (report.score.low, report.score.value, report.score.high)
    )
    assert f"| BiLSTM, single-task | {value} [{low}, {high}] |" in docs
    majority = run(SYSTEMS["majority"].make(), sample, sample_folder)
    found = compare(bilstm, majority, gold, resamples=1000)
    assert found.overall.difference == pytest.approx(0.247, abs=0.002)
    assert found.overall.better == "A"
