"""`gluebench challenge predict | score`: a model's answers to a challenge set, and what they are worth."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import (
    Form,
    Output,
    Records,
    Section,
    Table,
    emit,
    interval,
    notices,
    percent,
)
from gluebench.cli.systems.run_options import model_options

if TYPE_CHECKING:
    from gluebench.analysis.challenge.item import CaseScore, Item, Scored
    from gluebench.benchmark import Benchmark, Task
    from gluebench.systems.adapters.resolve import Model


@click.command
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("model", metavar="MODEL")
@option.new_file("--out", required=True, help="Where to write.")
@option.data("Folder of the data it is trained on")
@option.benchmark
@model_options
@click.pass_context
def predict(
    context: click.Context, /, file: str, model: str, out: str, data: Path, suite: Benchmark, **options: Any
) -> None:
    """Ask a model about a challenge set.

    MODEL is what gluebench run takes (docs/how-to/run.md); one that learns is first trained on FILE's task.
    The answers, index and prediction, are a file like those of a submission: another program may write it.

    \b
    Example:
      gluebench challenge predict shortcuts.tsv system:bag-of-words --data data/ --out answers.tsv
    """
    from gluebench.analysis.challenge.item import read_items
    from gluebench.cli.systems.run import installed
    from gluebench.cli.systems.run_options import wishes
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.encoders.corpus import Corpus

    items = read_items(file, suite)
    task = suite.task(items[0].task)
    settings = wishes(context, model, options)
    with installed(), tempfile.TemporaryDirectory() as scratch:
        made = resolve(model, Corpus(suite, data, [task]), Path(scratch), settings)
        answers = _answers(made, suite, task, items=items, home=data)
    lines = ["index\tprediction", *(f"{number}\t{answer}" for number, answer in enumerate(answers))]
    Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")
    click.echo(f"{out}: {len(answers):,} answers.")


def _answers(made: Model, suite: Benchmark, task: Task, *, items: Sequence[Item], home: Path) -> list[str]:
    """Fit the systems that learn, then predict. Raises DataError, PredictionError."""
    from gluebench.data import Example
    from gluebench.systems.run import PredictionError, column, fit

    for learnt in suite.tasks if made.together else [task]:
        if learnt.predict_with is None:
            fit(made.system, suite, learnt, home, say=lambda line: notices([line]))
    examples = [
        Example(number, dict(zip(task.columns, item.inputs, strict=True)), None)
        for number, item in enumerate(items)
    ]
    predictions = list(made.system.predict(task, examples))
    if len(predictions) != len(examples):
        raise PredictionError(f"{task.name}: {len(predictions)} predictions for {len(examples)} examples")
    return column(task, predictions).words()


SCHEMA = "gluebench.challenge/1"
COLUMNS = ("case", "examples", "right", "share", "low", "high", "original_right", "broken")


@click.command
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("answers", metavar="ANSWERS", type=click.Path(exists=True, dir_okay=False))
@option.new_file("--keep", "kept", help="Write what it fails as a diagnostic set.")
@option.flag("--broken", help="Keep only what it fails though its original is right.")
@option.benchmark
@option.output
def score(file: str, answers: str, kept: str | None, broken: bool, suite: Benchmark, form: Form) -> None:
    """Score answers to a challenge set by case, and keep what fails.

    ANSWERS has the columns index and prediction, as a file of a submission.

    \b
    Example:
      gluebench challenge score changed.tsv answers.tsv --keep diagnostic.tsv
      gluebench data lint-diagnostic diagnostic.tsv
    """
    from gluebench.analysis.challenge.item import read_items
    from gluebench.analysis.challenge.item import score as scored

    if broken and kept is None:
        raise click.UsageError("--broken says what to keep; name the file with --keep.")
    items = read_items(file, suite)
    result = scored(items, _read(answers, suite.task(items[0].task), len(items)))
    emit(_output(file, result), form)
    if kept is not None:
        _keep(kept, items, result.broken if broken else result.failed)


def _read(path: str, task: Task, size: int) -> list[str]:
    """The answers in order; prints what is wrong with the file and exits if it has errors."""
    from gluebench.submission.problems import listed
    from gluebench.submission.tables import Layout, read_table

    words = {other: code for code, label in enumerate(task.labels) for other in label.synonyms}
    table = read_table(Path(path).name, Path(path).read_bytes(), Layout(task.words, size, words))
    if table.problems:
        notices(listed(table.problems))
    if table.column is None or any(problem.severity == "error" for problem in table.problems):
        raise click.exceptions.Exit(WRONG_FILE)
    return table.column.words()


def _keep(path: str, items: list[Item], failed: tuple[int, ...]) -> None:
    from gluebench.analysis.challenge.item import keep

    if not failed:
        notices([f"{path}: not written, since there is nothing to keep."])
        return
    kept = keep(path, items, failed)
    blank = f"; {kept.unlabelled:,} need a label for the other direction" if kept.unlabelled else ""
    notices([f"{path}: {kept.pairs:,} pairs{blank}. Check it with: gluebench data lint-diagnostic {path}"])


def _output(file: str, result: Scored) -> Output:

    sections = [Section(tuple(map(_cells, result.cases)))]
    if result.groups:
        sections.insert(0, Section(tuple(map(_cells, result.groups))))
    columns = ("", "examples", "right %", "broken")
    originals = any(case.sound for case in result.cases)
    notes = (
        ("Broken: wrong now, of those whose original is right.",)
        if originals
        else ('A system that always says yes has every "yes" case right, and every "no" case wrong.',)
        if result.groups
        else ()
    )
    table = Table(columns, tuple(sections), f"Challenge set {Path(file).name}", frozenset({1, 2, 3}), notes)
    everything = [*result.groups, *result.cases]
    data = {
        "schema": SCHEMA,
        "groups": [_data(group) for group in result.groups],
        "cases": [_data(case) for case in result.cases],
        "failed": list(result.failed),
    }
    return Output(data, (table,), Records(COLUMNS, tuple(tuple(_data(row).values()) for row in everything)))


def _cells(row: CaseScore) -> tuple[str, ...]:

    broken = f"{row.broken:,} of {row.sound:,}" if row.sound else "-"
    shown = f"{percent(row.share)}{interval(row.bar.low, row.bar.high)}"
    return row.case, f"{row.n:,}", shown, broken


def _data(row: CaseScore) -> dict[str, object]:
    values = (row.case, row.n, row.right, row.share, row.bar.low, row.bar.high, row.sound, row.broken)
    return dict(zip(COLUMNS, values, strict=True))
