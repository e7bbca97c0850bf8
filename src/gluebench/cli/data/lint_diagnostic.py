"""`gluebench data lint-diagnostic`: find errors in a diagnostic set before it is used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import counted
from gluebench.benchmark.tables import Section, Table, names_and_numbers, numeric
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import Form, Output, emit, plain

if TYPE_CHECKING:
    from gluebench.data.lint_diagnostic import Counts, Lint

FIELDS = ("severity", "line", "code", "message")
COLUMNS = ("severity", numeric("line"), "code", "message")


@click.command
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@option.text("--task TASK", "name", help="The diagnostic set that FILE is; needed if there are several.")
@option.text(
    "--symmetric LABEL",
    help='The label that holds in both directions or in none; "contradiction" or the last of three.',
)
@option.number("--fewest", default=10, least=1, help="Warn of a phenomenon with fewer pairs.")
@option.benchmark
@option.output
def lint_diagnostic(
    file: str, name: str | None, symmetric: str | None, fewest: int, suite: Benchmark, form: Form
) -> None:
    """Check a diagnostic set that you are writing.

    FILE has a row for each pair (domain, phenomena, sentence1, sentence2, forward, backward, set), or is laid
    out as GLUE's diagnostic-full.tsv. Labels and phenomena are those of the benchmark's manifest.

    \b
    Example:
      gluebench data lint-diagnostic diagnostic.tsv --benchmark mine.toml
    """
    from gluebench.data.lint_diagnostic import lint, read_diagnostic, symmetric_label

    task = option.diagnostic_task(suite, name)
    if not task.phenomena or not task.labels or len(task.columns) != 2:
        raise click.UsageError(f"{task.name} of {suite.name} has no labeled pairs with phenomena.")
    if symmetric is not None and symmetric not in task.words:
        raise click.BadParameter(
            f"{symmetric!r} is none of {', '.join(task.words)}.", param_hint="'--symmetric'"
        )
    mirrored = symmetric_label(task) if symmetric is None else symmetric
    result = lint(read_diagnostic(file, task), task, symmetric=mirrored, fewest=fewest)
    if form is None:
        for finding in result.findings:
            place = file if finding.line is None else f"{file}:{finding.line}"
            click.echo(f"{finding.severity}: {place}: {finding.code}: {finding.message}")
        click.echo()
    emit(_output(file, result, listed=form is not None), form)
    if any(finding.severity == "error" for finding in result.findings):
        raise click.exceptions.Exit(WRONG_FILE)


def _output(file: str, result: Lint, *, listed: bool) -> Output:
    rows = [(finding.severity, finding.line, finding.code, finding.message) for finding in result.findings]
    tables = [_figures(result)]
    if listed and rows:
        tables.insert(0, Table(COLUMNS, rows))
    counts = Counter(finding.severity for finding in result.findings)
    data = {"file": file, **result._asdict()}
    words = [f"{file}: {counted(counts['error'], 'error')}, {counted(counts['warning'], 'warning')}."]
    return Output(plain(data), tables, FIELDS, rows, words)


def _figures(result: Lint) -> Table:
    """Pairs and labels of every phenomenon."""
    columns = names_and_numbers("phenomenon", ["pairs", *result.total.labels])
    phenomena = Section([_row_of_counts(counts) for counts in result.phenomena])
    total = Section([_row_of_counts(result.total)])
    note = f"Median overlap {result.median_overlap:.2f}."
    if result.sets:
        note += f" Minimal sets: {result.sets}."
    domains = ", ".join(f"{name or '(none)'} {count}" for name, count in result.domains.items())
    note += f" Pairs by domain: {domains}."
    return Table(columns, sections=[phenomena, total], notes=[note])


def _row_of_counts(counts: Counts) -> tuple[str, ...]:
    row = [counts.name, str(counts.pairs)]
    row += map(str, counts.labels.values())
    return tuple(row)
