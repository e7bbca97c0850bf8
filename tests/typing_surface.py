"""What a user's editor and type checker see of gluebench; `test_typing.py` runs mypy over this file.

A comment `type: ignore` marks a call that must be an error: mypy says so if it is none.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import gluebench


def scores(labels: list[int]) -> None:
    report = gluebench.grade("x.zip", "gold/", benchmark="sample")
    assert_type(report, gluebench.Report)
    assert_type(gluebench.grade({"RTE": labels, "CoLA": np.array(labels)}, {"RTE": labels}), gluebench.Report)
    assert_type(report.score, gluebench.Score | None)
    assert_type(report.tasks["RTE"].metrics["accuracy"].value, float | None)
    assert_type(report.to_json(), str)
    assert_type(report.as_dict(), dict[str, Any])
    assert_type(report.provenance["version"], Any)
    assert_type(gluebench.metrics.f1(labels, np.array(labels), positive=1), float)
    gluebench.grade(3, "gold/")  # type: ignore[arg-type]
    gluebench.grade("x.zip", "gold/", interval=False)  # type: ignore[call-arg]
    gluebench.metrics.f1(labels, labels)  # type: ignore[call-arg]
    _ = report.score.value  # type: ignore[union-attr]


def comparisons(a: gluebench.Submission, gold: gluebench.Gold) -> None:
    comparison = gluebench.compare(a, [Path("run-1"), Path("run-2")], gold, equivalence=0.01)
    assert_type(comparison, gluebench.Comparison)
    assert_type(comparison.words, tuple[str, ...])
    ranking = gluebench.rank({"ours": a, "theirs": ["b.zip", "c.zip"]}, gold, by="borda")
    assert_type(ranking, gluebench.Ranking)
    assert_type(ranking.systems[0].rank, int | None)
    diagnosis = gluebench.diagnose({"ours": a}, "gold/")
    assert_type(diagnosis, gluebench.Diagnosis)
    reports, summary = gluebench.grade_runs([a, a], gold)
    assert_type(reports, list[gluebench.Report])
    assert_type(summary, gluebench.Summary)
    for result in (comparison, ranking, diagnosis, reports[0]):
        assert_type(result._repr_html_(), str)
        result.plot()
    gluebench.rank({"ours": a}, gold, by="best")  # type: ignore[arg-type]
    gluebench.compare(a, a, gold, equivalence="1")  # type: ignore[arg-type]


def files(folder: Path) -> None:
    submission = gluebench.check(folder / "x.zip", "glue", role="dev")
    assert_type(submission, gluebench.Submission)
    assert_type(submission.predictions["RTE"].words(), list[str])
    assert_type(submission.problems[0].line, int | None)
    assert_type(gluebench.read_gold({"RTE": ["entailment"]}, "glue"), gluebench.Gold)
    assert_type(gluebench.benchmarks(), tuple[str, ...])
    assert_type(gluebench.load_benchmark("glue").task("RTE"), gluebench.Task)
    gluebench.check(folder, "glue", role="train")  # type: ignore[arg-type]


def data() -> None:
    table = gluebench.load("RTE", "dev")
    assert_type(table, gluebench.Table)
    assert_type(table[0], gluebench.Example)
    assert_type(table[:5], list[gluebench.Example])
    assert_type(table[0].inputs["premise"], str)
    assert_type([example.index for example in table], list[int])
    _ = gluebench.load("RTE")[0].lable  # type: ignore[attr-defined]
