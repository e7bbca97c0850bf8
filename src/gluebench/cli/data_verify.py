"""`gluebench data verify`: whether the data on disk are the published ones, and what they are like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.errors import WRONG_FILE
from gluebench.cli.options import Form, output_options

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task


@click.command
@click.argument("benchmark", metavar="[NAME|FILE]", default="glue")
@click.option("--task", "tasks", metavar="TASK", multiple=True, help="Only this one; may be given again.")
@click.option(
    "--data", metavar="DIR", type=click.Path(file_okay=False), help="Data folder [$GLUEBENCH_DATA]."
)
@click.option(
    "--against",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Compare with this data folder instead of with what was published.",
)
@output_options
def verify(benchmark: str, tasks: tuple[str, ...], data: str | None, against: str | None, form: Form) -> None:
    """Compare the data on disk with the published, row by row.

    Also told: rows that repeat or contradict each other, texts that splits share, and texts that stand once
    under each label. Exits with 1 when something differs from the published data.

    \b
    Example:
      gluebench data verify glue --data data/
      gluebench data verify --task MNLI --against other-copy/
    """
    from gluebench.analysis.lint import lint_rows
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.output import emit
    from gluebench.cli.verify_view import verify_output
    from gluebench.data import load_split
    from gluebench.data.home import data_folder
    from gluebench.data.verify.check import check_task, reference

    suite = load_benchmark(benchmark)
    chosen = [suite.dataset(name) for name in tasks] or [*suite.tasks]
    folder = data_folder(data)
    compared = reference(suite, Path(against) if against else None)
    checks, lints = [], []
    for task in chosen:
        found = list(check_task(folder, suite, task, compared))
        checks += found
        there = [each.split for each in found if each.state != "absent"]
        rows = {name: load_split(folder, suite, task.name, name) for name in there}
        lints.append(lint_rows(task, rows))
    if all(each.state == "absent" for each in checks):
        raise click.ClickException(_nothing(suite, chosen, folder))
    emit(verify_output(checks, lints, folder), form)
    if any(each.state == "differs" for each in checks):
        raise click.exceptions.Exit(WRONG_FILE)


def _nothing(suite: Benchmark, chosen: list[Task], folder: Path) -> str:
    named = "".join(f" --task {task.name}" for task in chosen) if len(chosen) < len(suite.tasks) else ""
    command = f"gluebench data get {suite.name}{named}"
    return f"There are no data of {suite.name} in {folder}. Get them with: {command}"
