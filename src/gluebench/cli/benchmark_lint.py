"""`gluebench benchmark lint`: what is wrong with a benchmark's data, or should be known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gluebench.cli.errors import WRONG_FILE
from gluebench.cli.options import Form, output_options

if TYPE_CHECKING:
    from gluebench.analysis.lint import TaskLint


@click.command
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--data",
    metavar="DIR",
    required=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder of the examples: <Task>/train.tsv and so on.",
)
@click.option(
    "--gold",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Gold folder of the test splits, whose labels are hidden otherwise.",
)
@output_options
def lint(name: str, data: str, gold: str | None, form: Form) -> None:
    """Look for leaks, duplicates, shortcuts and tests that are too small.

    Exits with 1 where something is an error.

    \b
    Example:
      gluebench benchmark lint ./mine.toml --data data/ --gold gold/
    """
    from gluebench.analysis.lint import lint_task, read_splits
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.lint_view import lint_output
    from gluebench.cli.output import emit, notices

    manifest = load_benchmark(name)
    lints = []
    for task, splits in read_splits(data, manifest, gold).items():
        notices([f"looking at {task}"])
        lints.append(lint_task(manifest.task(task), splits))
    emit(lint_output(manifest.name, lints), form)
    if has_errors(lints):
        raise click.exceptions.Exit(WRONG_FILE)


def has_errors(lints: list[TaskLint]) -> bool:
    """Whether any finding is an error."""
    return any(finding.severity == "error" for each in lints for finding in each.findings)
