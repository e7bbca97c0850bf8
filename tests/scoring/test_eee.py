"""Records of Every Eval Ever: valid by its own validator, and with the numbers of the report."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from official import validate_records
from scoring.material import TASKS, gold_values, manifest_text, predicted_values, table, write_gold

from gluebench import Report, check, grade, load_benchmark, read_gold
from gluebench.benchmark import Benchmark
from gluebench.scoring import exports
from gluebench.scoring.exports import Evaluated, aggregate, instances, write_records
from gluebench.scoring.metrics import function_of

ABOUT = Evaluated(
    "acme/tiny", "Acme", "first_party", source="The Small leaderboard", deployment="self_deployed"
)
TIME = 1_795_000_000.0


@pytest.fixture
def public(tmp_path: Path) -> Benchmark:
    """A benchmark with public labels of two of its tasks."""
    public = ("Pairs", "Halves")
    tasks = {name: "private = false\n" * (name in public) + text for name, text in TASKS.items()}
    path = tmp_path / "public.toml"
    path.write_text(manifest_text(tasks))
    return load_benchmark(path)


@pytest.fixture
def system(tmp_path: Path) -> Path:
    folder = tmp_path / "system"
    folder.mkdir()
    for name, values in predicted_values().items():
        (folder / f"{name}.tsv").write_text(table(values, "prediction"))
    return folder


def written(report: Report, benchmark: Benchmark, folder: Path) -> tuple[Path, dict[str, Any]]:
    path = write_records(folder, aggregate(report, benchmark, ABOUT, at=TIME), [])
    return path, json.loads(path.read_text())


def test_both_files_are_valid_and_fit_each_other(public: Benchmark, system: Path, tmp_path: Path) -> None:
    gold = read_gold(write_gold(tmp_path / "gold"), public)
    submission = check(system, public)
    record = aggregate(grade(submission, gold), public, ABOUT, at=TIME)
    home = tmp_path / "out"
    path = write_records(home, record, instances(record, submission, gold))
    assert validate_records(home) is None
    assert path.relative_to(home).parts[:4] == ("data", "small", "acme", "tiny")

    path.write_text(path.read_text().replace('"first_party"', '"nobody"'))
    assert "first_party" in (validate_records(home) or "")


def test_the_record_has_every_score_with_its_interval(small: Benchmark, folder: Path, system: Path) -> None:
    report = grade(system, folder, benchmark=small)
    record = aggregate(report, small, ABOUT, at=TIME)
    results = {result["evaluation_result_id"]: result for result in record["evaluation_results"]}
    values = report.as_dict()
    expected = {"score": values["score"], "Probe.r_k": values["diagnostics"]["Probe"]["overall"]}
    for task, part in values["tasks"].items():
        expected |= {f"{task}.{metric}": score for metric, score in part["metrics"].items()}
        if len(part["metrics"]) > 1:
            expected[f"{task}.score"] = part["score"]
    assert results.keys() == expected.keys()
    for name, score in expected.items():
        details = results[name]["score_details"]
        assert details["score"] == pytest.approx(score["value"], rel=1e-11)
        ends = details["uncertainty"].get("confidence_interval", {"lower": None, "upper": None})
        assert (ends["lower"], ends["upper"]) == pytest.approx((score["low"], score["high"]), rel=1e-11)
    bounds = {name: result["metric_config"]["min_score"] for name, result in results.items()}
    assert bounds["Pairs.f1"] == 0
    assert bounds["Accept.matthews_correlation"] == -1
    assert bounds["score"] == (-1 + 0 - 1 + 0) / 4, "Accept and Like from -1, Pairs and Halves from 0"
    assert record["evaluation_id"] == "small/acme/tiny/1795000000"


def test_a_metric_without_a_bound_says_so(
    small: Benchmark, folder: Path, system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unbounded = SimpleNamespace(bounds=(-math.inf, math.inf))
    monkeypatch.setattr(
        exports, "function_of", lambda metric: unbounded if metric.name == "f1" else function_of(metric)
    )
    _, record = written(grade(system, folder, benchmark=small), small, tmp_path / "out")
    results = record["evaluation_results"]
    bounds = {result["evaluation_result_id"]: result["metric_config"]["min_score"] for result in results}
    for name, bound in bounds.items():
        assert (bound == "-Infinity") == (name in ("Pairs.f1", "Pairs.score", "score"))
    assert validate_records(tmp_path / "out") is None


def test_rows_are_of_public_tasks_with_right_answers_and_no_text(
    public: Benchmark, system: Path, tmp_path: Path
) -> None:
    gold = read_gold(write_gold(tmp_path / "gold"), public)
    submission = check(system, public)
    record = aggregate(grade(submission, gold), public, ABOUT, at=TIME)
    rows = [*instances(record, submission, gold)]
    assert {row["evaluation_name"] for row in rows} == {"Pairs", "Halves"}
    labels, answers = gold_values(), predicted_values()
    for metric, file in {"Halves.matched_accuracy": "Halves-m", "Pairs.f1": "Pairs"}.items():
        of_metric = [row for row in rows if row["evaluation_result_id"] == metric]
        assert [row["sample_id"] for row in of_metric] == [*map(str, range(len(labels[file])))]
        pairs = zip(labels[file], answers[file], strict=True)
        assert [row["evaluation"]["is_correct"] for row in of_metric] == [
            gold == mine for gold, mine in pairs
        ]
        assert [row["output"]["raw"] for row in of_metric] == [[str(answer)] for answer in answers[file]]
    assert {row["input"]["raw"] for row in rows} == {""}
    every = {row["evaluation_name"] for row in instances(record, submission, gold, public=True)}
    assert every == {"Accept", "Pairs", "Halves", "Probe"}, "numbers are not right or wrong"

    path = write_records(tmp_path / "out", record, rows)
    detailed = json.loads(path.read_text())["detailed_evaluation_results"]
    samples = tmp_path / "out" / detailed["file_path"]
    assert detailed["total_rows"] == len(samples.read_text().splitlines()) == len(rows)
    assert detailed["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()


def test_what_is_missing_is_left_out(small: Benchmark, folder: Path, tmp_path: Path) -> None:
    report = grade({"Pairs": predicted_values()["Pairs"]}, folder, benchmark=small, intervals=False)
    path, record = written(report, small, tmp_path / "out")
    names = [result["evaluation_result_id"] for result in record["evaluation_results"]]
    assert names == ["Pairs.accuracy", "Pairs.f1", "Pairs.score"]
    assert "detailed_evaluation_results" not in record
    assert [*path.parent.iterdir()] == [path]
    assert validate_records(tmp_path / "out") is None


@pytest.mark.parametrize("model", ["tiny", "acme/", "/tiny", "acme/tiny/2", "../tiny", "acme/.."])
def test_a_model_needs_a_developer_and_a_name(
    model: str, small: Benchmark, folder: Path, system: Path
) -> None:
    report = grade(system, folder, benchmark=small, intervals=False)
    with pytest.raises(ValueError, match="developer/model"):
        aggregate(report, small, ABOUT._replace(model=model), at=TIME)
