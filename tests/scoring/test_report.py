"""The JSON of a report: the same bytes as before, and every field of it documented."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scoring.material import gold_values, predicted_values, write_gold

from gluebench.scoring import SCHEMA, Score, grade, read_gold, summarize
from gluebench.scoring.report import report_of
from gluebench.version import __version__

HOME = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).with_name("golden_report.json")
"""Made by this test's own `report`; remake it only when the schema or the resampling is meant to change."""


@pytest.fixture
def report(tmp_path, small):
    """One that has every field: a task in part without gold, a category withheld, one diagnostic set."""
    values = gold_values()
    values["Halves-m"] = values["Halves-m"][:24]
    folder = write_gold(tmp_path / "gold", values)
    (folder / ".label-key").write_bytes(bytes(32))
    predicted = predicted_values() | {"Accept": [1] * 40}
    return grade(predicted, read_gold(folder, small, partial=True))


def test_the_report_is_what_it_was(report) -> None:
    found = report.to_json().replace(f'"version": "{__version__}"', '"version": "any"')
    assert found == GOLDEN.read_text(), "the same input no longer gives the same report"


def paths(value: object, at: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from paths(inner, f"{at}.{key}" if at else key)
    else:
        yield at


def documented(section: str) -> set[str]:
    text = (
        (HOME / "docs" / "reference" / "report.md")
        .read_text()
        .split(f"\n## {section}\n")[1]
        .split("\n## ")[0]
    )
    return {
        field
        for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for field in re.findall(r"`(.+?)`", row)
    }


def generic(path: str) -> str:
    """The path as the manual writes it: names of tasks, metrics and categories by what they are."""
    path = re.sub(r"^tasks\.\w+", "tasks.<task>", path)
    path = re.sub(r"\.metrics\.\w+", ".metrics.<metric>", path)
    path = re.sub(r"^diagnostics\.\w+", "diagnostics.<set>", path)
    path = re.sub(r"\.coarse\.[^.]+", ".coarse.<category>", path)
    path = re.sub(r"\.fine\.[^.]+", ".fine.<phenomenon>", path)
    path = re.sub(r"\.direction\.[^.]+", ".<column>.<value>", path)
    path = re.sub(r"^classes\.[^.]+\.[^.]+", "classes.<file>.<class>", path)
    return re.sub(r"\.datasets\..+", ".datasets.<file>", path)


def test_every_field_is_documented_and_every_documented_field_is_there(report) -> None:
    fields = {generic(path) for path in paths(json.loads(report.to_json()))}
    numbers = documented("A number")
    of_class = documented("A class")
    assert {field.rpartition(".")[2] for field in fields if field.startswith("classes.")} == of_class
    found = {re.sub(rf"\.({'|'.join(sorted(numbers | of_class))})$", "", field) for field in fields}
    found |= {"diagnostics.<set>", "provenance.notes.<task>"}  # the second is of language models
    assert found == documented("Fields")
    assert {field.rpartition(".")[2] for field in fields} >= numbers - {"loss"}  # no metric here is one


def test_every_field_of_a_summary_is_documented(report) -> None:
    summary = summarize([report, report]).as_dict()
    spread = set(summary["score"])
    found = {generic(path) for path in paths(summary)}
    found = {re.sub(rf"\.({'|'.join(sorted(spread))})$", "", field) for field in found}
    found = {re.sub(r"<task>\.\w+", "<task>.<metric>", field) for field in found}
    assert found == documented("Several runs")
    assert spread == {"mean", "deviation", "best", "run", "n"}


def test_the_schema_is_named(report) -> None:
    assert json.loads(report.to_json())["schema"] == SCHEMA == "gluebench.report/1"


def test_twelve_digits() -> None:
    score = Score(1 / 3, 0.1 + 0.2, 1.0, 7)
    assert json.dumps(score.as_dict()) == '{"value": 0.333333333333, "low": 0.3, "high": 1.0, "n": 7}'


def test_a_report_comes_back_from_its_json(folder, report, small) -> None:
    lacking = predicted_values()
    del lacking["Halves-mm"], lacking["Probe"]
    for each in (report, grade(lacking, read_gold(folder, small, partial=True))):
        stored = report_of(json.loads(each.to_json()))
        assert stored.to_json() == each.to_json()
        rounded = {"score": None, "tasks": {}, "diagnostics": {}, "classes": {}, "provenance": {}}
        assert replace(stored, **rounded) == replace(each, **rounded)
    before = {name: value for name, value in report.as_dict().items() if name != "classes"}
    assert report_of(before).classes == {}, "reports of earlier versions have none"
    with pytest.raises(ValueError, match=r"this is not a report .* gluebench\.report/1, but 'other/2'"):
        report_of(report.as_dict() | {"schema": "other/2"})
    with pytest.raises(ValueError, match="but None"):
        report_of({})


def test_a_summary_by_hand(folder, small) -> None:
    gold = read_gold(folder, small)
    runs = []
    for wrong in (0, 4, 8):
        values = [1 - value if index < wrong else value for index, value in enumerate(gold_values()["Pairs"])]
        runs.append(grade(predicted_values() | {"Pairs": values}, gold, intervals=False))
    summary = summarize(runs)
    accuracy = summary.tasks["Pairs"]["accuracy"]
    assert (accuracy.mean, accuracy.best, accuracy.run, accuracy.n) == (pytest.approx(0.9), 1.0, 0, 3)
    assert accuracy.deviation == pytest.approx(0.1)
    assert summary.score.best == runs[0].score.value
    assert summary.diagnostics["Probe"].deviation == 0.0
    assert summarize(runs[:1]).score.deviation is None


def test_a_summary_as_json(report) -> None:
    """Of 1/3 and 2/3 the standard deviation is the root of 1/18."""
    runs = [replace(report, score=Score(value, None, None, 4)) for value in (1 / 3, 2 / 3)]
    found = summarize(runs).as_dict()
    assert json.dumps(found["score"]) == (
        '{"mean": 0.5, "deviation": 0.235702260396, "best": 0.666666666667, "run": 1, "n": 2}'
    )
    assert (found["benchmark"], found["split"], found["runs"]) == ("small", "test", 2)
    assert summarize([replace(report, score=None)]).as_dict()["score"] is None


def test_text_stays_as_it_is_and_no_number_is_beyond_json(report) -> None:
    assert "“naïve”" in replace(report, benchmark="“naïve”").to_json()
    with pytest.raises(ValueError, match="JSON compliant"):
        replace(report, provenance={"seed": float("nan")}).to_json()


def test_runs_that_lack_a_task_are_left_out_of_its_mean(folder, small) -> None:
    gold = read_gold(folder, small)
    whole = grade(predicted_values(), gold, intervals=False)
    part = grade({"Pairs": predicted_values()["Pairs"]}, gold, intervals=False)
    summary = summarize([part, whole])
    assert (summary.score.n, summary.score.run) == (1, 1)
    assert summary.tasks["Pairs"]["score"].n == 2
    accept = summary.tasks["Accept"]
    assert accept["score"].n == accept["matthews_correlation"].n == 1, "whichever run comes first"
    assert summary.diagnostics["Probe"].n == 1
    assert summarize([part]).score is None


def test_what_cannot_be_summarized(folder, small, report) -> None:
    with pytest.raises(ValueError, match=r"^there are no reports to summarize; expected one for each run$"):
        summarize([])
    with pytest.raises(
        ValueError, match=r"^the reports are of different benchmarks or splits; .* one system$"
    ):
        summarize([report, replace(report, split="dev")])


def test_a_metric_or_task_that_is_not_there_is_named(report) -> None:
    for same in (report, report_of(json.loads(report.to_json()))):
        task = next(iter(same.tasks))
        with pytest.raises(KeyError, match=rf"^no metric of {task} is called 'acc'\. .*Valid names: "):
            _ = same.tasks[task].metrics["acc"]
        with pytest.raises(KeyError, match=r"^no task is called 'Nothing'"):
            _ = same.tasks["Nothing"]
