"""The paper's systems as references on a board: their printed scores, which no submission stands behind."""

from __future__ import annotations

from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.benchmark.records import Reference
from gluebench.systems.reproduce.row import Row, rows

SOURCE = "reported by the paper, Table 4"
PAPER = "glue"
"""The benchmark whose scores the paper prints."""


def with_paper_systems(benchmark: Benchmark) -> Benchmark:
    """The benchmark, with the systems of Table 4 among its references if its tasks are those of GLUE.

    Tasks that are not GLUE's have none, and an average over others than GLUE's nine tasks has none.
    """
    if PAPER not in benchmark.lineage:
        return benchmark
    glue = load_benchmark(PAPER)
    tasks = []
    for task in benchmark.tasks:
        if task in glue.tasks:
            task = task._replace(references=task.references + tuple(_of_task(task)))
        tasks.append(task)
    averages: tuple[Reference, ...] = ()
    if {task.name for task in benchmark.averaged} == {task.name for task in glue.averaged}:
        averages = tuple(_of_average(row) for row in rows())
    return benchmark._replace(tasks=tuple(tasks), references=benchmark.references + averages)


def _of_task(task: Task) -> tuple[Reference, ...]:
    references = []
    for row in rows():
        numbers = row.printed["table4"].columns.get(task.name, ())
        if numbers:
            printed = zip(task.metrics, numbers, strict=True)
            scores = {metric.name: number / 100 for metric, number in printed}
            references.append(Reference(row.full_title, scores, SOURCE))
    return tuple(references)


def _of_average(row: Row) -> Reference:
    average = row.printed["table4"].average
    assert average is not None, "Table 4 prints an average of each system"
    return Reference(row.full_title, {"score": average / 100}, SOURCE)
