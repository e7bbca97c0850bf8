"""`gluebench data stats`: what the examples are like, beside the paper's Tables 1 and 7."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.common import option
from gluebench.cli.common.errors import reading_data
from gluebench.cli.common.output import Form, emit, notices

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task
    from gluebench.data.stats.describe import TaskStats


@click.command
@click.argument("suite", metavar="[BENCHMARK|FILE|URL]", type=option.LoadedBenchmark(), default="glue")
@option.repeated("--task", "names", metavar="TASK", help="This task only; may be repeated.")
@option.data()
@option.plot("sizes, labels and lengths too")
@option.output
def stats(suite: Benchmark, names: tuple[str, ...], data: Path, plot: str | None, form: Form) -> None:
    """Describe the examples on disk: sizes, labels, lengths, words.

    Sizes stand beside those of the paper's Table 1, a diagnostic set's categories beside its Table 7.

    \b
    Example:
      gluebench data stats glue --data data/
      gluebench data stats --task RTE --task AX --plot stats.pdf
    """
    from gluebench.cli.data.stats_view import stats_output

    with reading_data():
        tasks = _described(suite, names, data)
    emit(stats_output(suite, tasks), form)
    if plot is None:
        return
    if not any(split for task in tasks for split in task.splits.values()):
        raise click.ClickException("Nothing was drawn: none of the splits is on disk.")
    from gluebench.data.stats.plot import draw

    draw(tasks, suite, plot)
    notices([f"drawn: {plot}"])


def _described(suite: Benchmark, names: tuple[str, ...], folder: Path) -> list[TaskStats]:
    """Every task that was named; else those of the benchmark, and what auxiliary data there are."""
    from gluebench.data.errors import DataError
    from gluebench.data.stats.describe import describe, on_disk

    if names:
        named = dict.fromkeys(suite.dataset(name).name for name in names)
        tasks = [suite.dataset(name) for name in named]
        return [describe(task, on_disk(folder, suite, task)) for task in tasks]
    absent = [task.name for task in _tasks(suite) if not _has_folder(folder, suite, task)]
    if len(absent) == len(_tasks(suite)):
        raise DataError(
            [
                f"no data of {suite.name} at {folder}; get them with: gluebench data get {suite.name}, "
                "or name the folder that has them (--data or $GLUEBENCH_DATA)"
            ]
        )
    return [
        describe(task, dict.fromkeys(task.splits) if task.name in absent else on_disk(folder, suite, task))
        for task in _tasks(suite)
        if task in suite.tasks or task.name not in absent
    ]


def _tasks(suite: Benchmark) -> tuple[Task, ...]:
    return (*suite.tasks, *suite.auxiliary)


def _has_folder(folder: Path, suite: Benchmark, task: Task) -> bool:
    from gluebench.data.errors import DataError
    from gluebench.data.home import task_folder

    try:
        task_folder(folder, suite, task)
    except DataError:  # raised for that alone
        return False
    return True
