"""`gluebench benchmark new`: from an organizer's CSV files to a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark
from gluebench.benchmark.atomic import write_text
from gluebench.benchmark.checks import name_finding
from gluebench.benchmark.tables import Paper, Section, Table
from gluebench.cli.common import option
from gluebench.cli.common.output import Output, emit, notices, rendered

if TYPE_CHECKING:
    from gluebench.data.organize import Choices, Plan

_METRICS = "accuracy, f1, macro_f1; for scores pearson, neg_rmse; others in docs/reference/metrics.md."
_PLAN = {
    "label": ("[TASK=]COLUMN", "The column of labels."),
    "inputs": ("[TASK=]COLUMN,...", "The columns of texts, in the order they are to have."),
    "index": ("[TASK=]COLUMN", "The column of indices."),
    "ignore": ("[TASK=]COLUMN,...", "Columns to leave out."),
    "kind": ("[TASK=]labels|scores", "Whether the label column holds words or scores."),
    "words": ("[TASK=]WORD,...", "The label words, in the order of their codes."),
    "range": ("[TASK=]LOW,HIGH", "The lowest and the highest score."),
    "metric": ("[TASK=]METRIC,...", _METRICS),
    "positive": ("[TASK=]WORD", "The label that F1 counts as positive; for f1_from a number."),
    "license": ("[TASK=]TEXT", "The terms of the texts; say whether they may be redistributed."),
}
_FIELDS = {"range": "score_range", "metric": "metrics"}

_plan_options = option.together(
    *(option.repeated(f"--{name}", metavar=form, help=text) for name, (form, text) in _PLAN.items())
)


@click.command
@click.argument("name", metavar="NAME")
@option.folder(
    "--from",
    "source",
    required=True,
    multiple=True,
    help="Folder with train, dev and test as .csv or .tsv, or as `data build` wrote them, or with a "
    "sub-folder of these for each task; may be given again.",
)
@option.new_folder(
    "--to",
    "target",
    required=True,
    help="Where to put the benchmark: a new folder, or one that this command made and that is unchanged.",
)
@_plan_options
@option.text("--title TEXT", default="", help="What pages and tables call it.")
@option.text("--encoding NAME", default="utf-8", help="Of the files read.")
@option.flag("--replace-whitespace", help="Make tabs and line ends within texts a space.")
@option.flag("--dry-run", help="Show what would be made, and write nothing.")
def new(
    name: str,
    source: tuple[str, ...],
    target: str,
    title: str,
    encoding: str,
    replace_whitespace: bool,
    dry_run: bool,
    **options: tuple[str, ...],
) -> None:
    """Make a benchmark from CSV files: manifest, data, gold and lint.

    What the options leave open is found in the files and shown first. Without TASK= an option is for all.

    \b
    Example:
      gluebench benchmark new mine --from csv/ --to mine/ --label Mood=rating
    """
    from gluebench.data.organize import Choices, fresh_folder, make_plan, refuse_changed, write_plan

    for finding in name_finding((), name):
        raise click.UsageError(f"NAME {finding.text}.")
    fields: dict[str, Any] = {_FIELDS.get(option, option): values for option, values in options.items()}
    choices = Choices(title=title, encoding=encoding, replace_whitespace=replace_whitespace, **fields)
    refuse_changed(Path(target))
    plan = make_plan(source, name, choices)
    emit(plan_output(plan, choices), None)
    if dry_run:
        notices(["Nothing was written."])
        return
    with fresh_folder(Path(target)) as folder:
        manifest = write_plan(plan, folder)
        report = _lint(plan, manifest)
        write_text(folder / "lint.md", rendered(report, "markdown", paper=Paper()), mode=0o600)
    click.echo()
    emit(report, None)
    click.echo()
    for line in _next_steps(plan, target):
        click.echo(line)


def plan_output(plan: Plan, choices: Choices) -> Output:
    """The properties of each task, and whether an option gave them or they were detected."""
    from gluebench.data.organize.plan import summary

    sections = [Section(list(summary(task)), task.name) for task in plan.tasks]
    table = Table(
        ("what", "found", "how"), sections=sections, title=f"{plan.name}, read as {choices.encoding}"
    )
    return Output(None, [table])


def _lint(plan: Plan, manifest: Benchmark) -> Output:
    from gluebench.analysis.lint import lint_task
    from gluebench.cli.benchmark import lint_output

    lints = []
    for task in plan.tasks:
        notices([f"looking at {task.name}"])
        lints.append(lint_task(manifest.task(task.name), task.splits))
    return lint_output(plan.name, lints)


def _next_steps(plan: Plan, target: str) -> list[str]:
    manifest = Path(target, f"{plan.name}.toml")
    lines = [f"{target} holds {manifest.name}, data/, gold/ and lint.md. Next:"]
    unlabeled = [task.name for task in plan.tasks if not task.labeled]
    if unlabeled:
        lines.append(f"  put the labels of {', '.join(unlabeled)} into {Path(target, 'gold')}")
    lines.append(f"  edit {manifest}: titles, sources, licenses")
    lines.append(f"  gluebench leaderboard add {manifest} --gold {Path(target, 'gold')}")
    return lines
