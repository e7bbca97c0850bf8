"""Two real submissions on real gold: the numbers of a second, independent scorer."""

from __future__ import annotations

import shutil

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.scoring import grade, read_gold
from gluebench.submission import check


@pytest.fixture(scope="module")
def gold(real, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")
    for path in [*(real / "gold").glob("*.tsv"), real / "gold" / "partial" / "RTE.tsv"]:
        shutil.copyfile(path, folder / path.name)
    return read_gold(folder, load_benchmark("glue"), partial=True)


def percent(report) -> dict[str, list[float]]:
    return {
        name: [round(100 * score.value, 1) for score in task.metrics.values()]
        for name, task in report.tasks.items()
        if task.metrics
    }


def test_bert4keras(real, gold) -> None:
    report = grade(check(real / "submissions" / "bert4keras", load_benchmark("glue")), gold)
    assert percent(report) == {
        "SST-2": [92.5], "MRPC": [84.8, 89.0], "STS-B": [83.7, 82.3], "QNLI": [90.9], "RTE": [65.1]
    }  # fmt: skip
    probe = report.diagnostics["AX"]
    assert round(100 * probe.overall.value, 1) == 36.1
    assert {name: (round(score.value, 3), score.n) for name, score in probe.coarse.items()} == {
        "Lexical Semantics": (0.394, 368),
        "Predicate-Argument Structure": (0.404, 424),
        "Logic": (0.277, 364),
        "Knowledge": (0.259, 284),
    }
    assert len(probe.fine) == 33
    assert probe.fine["Universal"].n == 18
    assert probe.metadata["direction"]["forward"].n == 552
    assert [name for name, score in probe.fine.items() if score.withheld]
    assert report.tasks["RTE"].score.covered == 0.8
    assert report.score is None
    for score in [probe.overall, *probe.coarse.values(), report.tasks["STS-B"].score]:
        assert score.low < score.value < score.high


def test_fastmtl_whose_diagnostic_answers_are_all_the_same(real, gold) -> None:
    report = grade(check(real / "submissions" / "fastmtl" / "submission.zip", load_benchmark("glue")), gold)
    assert percent(report) == {
        "SST-2": [93.2], "MRPC": [80.8, 86.2], "STS-B": [82.6, 80.9], "QNLI": [90.4], "RTE": [60.9]
    }  # fmt: skip
    assert report.diagnostics["AX"].overall.value == 0.0
    assert report.diagnostics["AX"].overall.withheld == "constant predictions"
    assert sum("AX" in warning for warning in report.warnings) == 1
