"""The tables of a report: each phenomenon under its own coarse category."""

from __future__ import annotations

from pathlib import Path

import pytest
from scoring.material import TASKS, manifest_text, predicted_values, write_gold

from gluebench.benchmark import load_benchmark
from gluebench.cli.scoring.grade import report_output
from gluebench.leaderboard.apps.submissions.report import report_tables
from gluebench.scoring import Report, grade, read_gold

UNDER = {"Logic": ["Negation", "Double Negation"], "Knowledge": ["World Knowledge"]}
"""As the manifest of the scoring tests has them."""


@pytest.fixture
def benchmark(tmp_path: Path):
    path = tmp_path / "small.toml"
    path.write_text(manifest_text(TASKS))
    return load_benchmark(path)


@pytest.fixture
def report(tmp_path: Path, benchmark) -> Report:
    gold = read_gold(write_gold(tmp_path / "gold"), benchmark)
    return grade(predicted_values(), gold)


def test_on_the_site(benchmark, report: Report) -> None:
    (section,) = report_tables(benchmark, report.as_dict())["diagnostics"]
    found = {each["title"]: [part["title"] for part in each["parts"]] for each in section["categories"]}
    assert found == {**UNDER, "Direction": ["forward", "backward"]}


def test_in_the_terminal(benchmark, report: Report) -> None:
    table = report_output(report, benchmark, source="x").tables[1]
    found = [[row[0].strip() for row in section.rows] for section in table.sections]
    divided = ["direction: forward", "direction: backward"]
    assert found == [["overall"], *([coarse, *fine] for coarse, fine in UNDER.items()), divided]


def test_what_is_not_known_of_the_provenance_is_left_out() -> None:
    from gluebench.leaderboard.apps.submissions.report import flat

    values = {"labels": "abc", "datasets": {"CoLA": None, "RTE": "0f"}, "small_files": 0}
    assert flat(values) == [("labels", "abc"), ("datasets, RTE", "0f"), ("small files", "0")]
