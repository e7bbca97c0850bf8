"""The paper's systems as references on boards, against Table 4 as copied by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.paper_tables import ROWS

from gluebench.benchmark import load_benchmark
from gluebench.systems.reproduce.references import SOURCE, with_paper_systems

TABLE4 = {row.system: row for row in ROWS if row.table == "Table 4"}


def test_every_number_of_table_4_is_a_reference() -> None:
    glue = with_paper_systems(load_benchmark("glue"))
    averages = {row.name: row.scores["score"] for row in glue.references if row.source == SOURCE}
    assert averages == {name: pytest.approx(row.average / 100) for name, row in TABLE4.items()}
    for task in glue.scored:
        own = {row.name: row.scores for row in task.references if row.source == SOURCE}
        assert own.keys() == TABLE4.keys()
        for name, scores in own.items():
            printed = [number / 100 for number in TABLE4[name].tasks[task.name]]
            assert [scores[metric.name] for metric in task.metrics] == pytest.approx(printed)


def test_what_was_there_stays_first_and_other_benchmarks_are_unchanged() -> None:
    glue, sample = load_benchmark("glue"), load_benchmark("sample")
    enriched = with_paper_systems(glue)
    assert enriched.references[: len(glue.references)] == glue.references
    for task in glue.tasks:
        assert enriched.task(task.name).references[: len(task.references)] == task.references
    assert enriched.task("AX") == glue.task("AX")
    assert with_paper_systems(sample) is sample


@pytest.mark.parametrize(
    "rest",
    [
        'tasks = ["RTE", "WNLI"]\n',
        '[tasks.Mine]\nlabels = ["a", "b"]\nmetrics = [{ name = "accuracy" }]\nsplits.test.size = 2\n',
    ],
)
def test_an_average_over_other_tasks_has_none(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "other.toml"
    path.write_text(f'[benchmark]\nname = "other"\nextends = "glue"\n{rest}')
    other = with_paper_systems(load_benchmark(path))
    assert other.references == ()
    assert {row.name for row in other.task("RTE").references} >= TABLE4.keys()
    assert all(not task.references for task in other.tasks if task.name == "Mine")
