"""`gluebench data`: get, build, check and read the examples of a benchmark."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import counted
from gluebench.benchmark.tables import Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.lazy import LazyGroup
from gluebench.cli.common.output import Form, Output, emit, notices, plain

if TYPE_CHECKING:
    from gluebench.analysis.lint import TaskLint
    from gluebench.data.recipes import Recipe
    from gluebench.data.verify.check import SplitCheck

COMMANDS: dict[str, str] = {
    "get": "gluebench.cli.data.get:get",
    "lint-diagnostic": "gluebench.cli.data.lint_diagnostic:lint_diagnostic",
    "show": "gluebench.cli.data.show:show",
    "stats": "gluebench.cli.data.stats:stats",
}
"""Commands in separate modules, imported when they are used."""


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def data() -> None:
    """Get, build, check and read the examples of a benchmark."""


@data.command
@click.argument("suite", metavar="[NAME|FILE|URL]", type=option.LoadedBenchmark(), default="glue")
@option.tasks("--task", "tasks", help="These tasks only; may be repeated.")
@option.data_folder("--data", help="Data folder [$GLUEBENCH_DATA].")
@option.folder("--against", help="Compare with this data folder instead of with what was published.")
@option.output
def verify(suite: Benchmark, tasks: tuple[str, ...], data: Path, against: str | None, form: Form) -> None:
    """Compare the data on disk with the published, row by row.

    Also lists rows that repeat or contradict each other, texts that splits share, and texts that occur
    once under each label. Exits with 1 when something differs from the published data.

    \b
    Example:
      gluebench data verify glue --data data/
      gluebench data verify --task MNLI --against other-copy/
    """
    from gluebench.analysis.lint import lint_rows
    from gluebench.data import load_split
    from gluebench.data.verify.check import check_task, reference

    chosen = [suite.dataset(name) for name in tasks] or list(suite.tasks)
    compared = reference(suite, Path(against) if against else None)
    checks = []
    lints = []
    for task in chosen:
        task_checks = list(check_task(data, suite, task, compared))
        checks += task_checks
        there = [check.split for check in task_checks if check.state != "absent"]
        rows = {name: load_split(data, suite, task.name, name) for name in there}
        lints.append(lint_rows(task, rows))
    if all(check.state == "absent" for check in checks):
        command = f"gluebench data get {suite.name}"
        if len(chosen) < len(suite.tasks):
            for task in chosen:
                command += f" --task {task.name}"
        raise click.ClickException(f"There are no data of {suite.name} in {data}. Get them with: {command}")
    emit(verify_output(checks, lints, data), form)
    if any(check.state == "differs" for check in checks):
        raise click.exceptions.Exit(WRONG_FILE)


FIELDS = ("task", "split", "rows", "published", "state", "fingerprint", "reason", "kind", "row", "detail")
ROWS_SHOWN = 5


def verify_output(checks: Sequence[SplitCheck], lints: Sequence[TaskLint], folder: Path) -> Output:
    """The checks in every form, and what the rows themselves have."""
    columns = ("task", "split", numeric("rows"), numeric("published"), "content", "why")
    sections = []
    for _, of_task in groupby(checks, lambda check: check.task):
        sections.append(Section([_row_of_check(check) for check in of_task]))
    table = Table(columns, sections=sections, title=f"Data in {folder}")
    words: list[str] = []
    records: list[tuple[object, ...]] = []
    for check in checks:
        words += _explain_differences(check)
        records += _records(check)
    for lint in lints:
        for finding in lint.findings:
            rows = f": {'; '.join(finding.rows)}" if finding.rows else ""
            words.append(f"{lint.task}, {finding.where}: {finding.text}{rows}")
    data = {
        "schema": "gluebench.verify/1",
        "splits": [_data(check) for check in checks],
        "findings": {lint.task: plain(lint.findings) for lint in lints},
    }
    if words:
        words.insert(0, "")
    return Output(data, [table], FIELDS, records, words=words)


def _row_of_check(check: SplitCheck) -> tuple[str, ...]:
    rows = "-" if check.rows is None else f"{check.rows:,}"
    return (check.task, check.split, rows, f"{check.size:,}", check.state, check.reason)


def _explain_differences(check: SplitCheck) -> Iterator[str]:
    """A sentence for each kind of difference, with the first rows."""
    from gluebench.data.verify.check import summary

    for kind, count in summary(check.differences).items():
        rows = [difference for difference in check.differences if difference.kind == kind]
        places = [f"{row.row} ({row.detail})" if row.detail else f"{row.row}" for row in rows[:ROWS_SHOWN]]
        more = f" and {count - ROWS_SHOWN:,} more" if count > ROWS_SHOWN else ""
        where = f"{check.task}, {check.split}"
        yield f"{where}: {counted(count, 'row')}: {kind}: {', '.join(places)}{more}"


def _records(check: SplitCheck) -> Iterator[tuple[object, ...]]:
    start = (check.task, check.split, check.rows, check.size, check.state, check.fingerprint, check.reason)
    if not check.differences:
        yield start + (None, None, None)
    for difference in check.differences:
        yield start + (difference.kind, difference.row, difference.detail or None)


def _data(check: SplitCheck) -> dict[str, Any]:
    from gluebench.data.verify.check import summary

    return {
        "task": check.task,
        "split": check.split,
        "state": check.state,
        "rows": check.rows,
        "published": check.size,
        "fingerprint": check.fingerprint or None,
        "reason": check.reason,
        "kinds": summary(check.differences),
        "differences": [difference._asdict() for difference in check.differences],
    }


_KINDS = {str: "TEXT", int: "N", float: "NUMBER", Path: "FILE"}


@data.command(context_settings={"ignore_unknown_options": True})
@click.argument("task", metavar="TASK")
@click.argument("rest", metavar="[RECIPE OPTIONS]", nargs=-1, type=click.UNPROCESSED)
@option.text("--from DIR", "corpus", type=click.Path(), help="Folder of the original corpus.")
@option.data_folder("--to", help="Data folder [$GLUEBENCH_DATA].")
@option.text("--recipe NAME", help="Another recipe than the manifest names.")
@option.flag("--explain", help="Describe the recipe, its inputs and its options; build nothing.")
@option.benchmark
def build(
    task: str,
    rest: tuple[str, ...],
    corpus: str | None,
    to: Path,
    recipe: str | None,
    explain: bool,
    suite: Benchmark,
) -> None:
    """Build a task's data anew from its original corpus.

    Each recipe has options of its own, given as --NAME VALUE; --explain lists them.

    \b
    Example:
      gluebench data build QNLI --explain
      gluebench data build RTE --from rte-challenges/ --to data/ --seed 7
    """
    from gluebench.data.recipes import recipe_of

    record = suite.dataset(task)
    if explain:
        click.echo(_recipe_text(recipe_of(record, recipe)))
        return
    if corpus is None:
        raise click.UsageError(
            "name the folder of the original corpus: --from DIR; --explain says what it holds."
        )
    from gluebench.data.get import build as build_task

    made = build_task(Path(corpus), to, suite, record, _options(rest), named=recipe)
    for name, split in made.splits.items():
        click.echo(f"{made.task}: {name}, {split.rows:,} examples")
    for note in made.notes:
        click.echo(f"note: {note}")
    click.echo(f"written to {to / suite.name / record.name}")


def _options(rest: Sequence[str]) -> dict[str, str]:
    """Parse `--name value` and `--name=value`; the recipe checks the names later."""
    options: dict[str, str] = {}
    words = list(rest)
    while words:
        word = words.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            raise click.UsageError(f"{word!r} is not expected here; options of a recipe are --NAME VALUE.")
        if not equals:
            if not words:
                raise click.UsageError(f"--{name} has no value; options of a recipe are --NAME VALUE.")
            value = words.pop(0)
        options[name] = value
    return options


def _recipe_text(recipe: Recipe) -> str:
    """Describe the recipe: procedure, files that it reads, options."""
    procedure = recipe.procedure or inspect.getdoc(sys.modules[recipe.build.__module__]) or ""
    lines = [procedure, "", f"Reads: {recipe.corpus}", ""]
    if recipe.options:
        lines.append("Options:")
    for setting in recipe.options:
        default = "no default" if setting.default is None else f"default {setting.default}"
        kind = "|".join(setting.choices) or _KINDS[setting.type]
        lines.append(f"  --{setting.name} {kind}  {setting.help} [{default}]")
    return "\n".join(lines).rstrip()


@data.command("croissant")
@click.argument("suite", metavar="[NAME|FILE|URL]", type=option.LoadedBenchmark(), default="glue")
@option.data_folder("--data", help="Data folder [$GLUEBENCH_DATA].")
def describe(suite: Benchmark, data: Path) -> None:
    """Describe a data folder as Croissant 1.1, in its croissant.json.

    License, version, date, creators and answers on responsible use come from [benchmark.card] of the
    manifest; what is missing there is named, and left out.

    \b
    Example:
      gluebench data croissant sample --data data/
    """
    from gluebench.benchmark.atomic import write_json
    from gluebench.data.croissant import croissant, missing_card_keys, prepared_files

    files = list(prepared_files(data, suite))
    if not files:
        raise click.ClickException(f"There are no data of {suite.name} in {data}.")
    path = data / "croissant.json"
    write_json(path, croissant(suite, files))
    if missing := missing_card_keys(suite):
        notices([f"not stated in the manifest: {', '.join(missing)} (keys of [benchmark])"])
    notices([f"written: {path}: {len(files)} files"])
