"""`gluebench annotate score`: what people answered, scored, and how far they agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.options import (
    Form,
    benchmark_option,
    labels_option,
    output_options,
    read_labels,
)

if TYPE_CHECKING:
    from gluebench.analysis.human.score import Agreement
    from gluebench.benchmark import Task
    from gluebench.cli.output import Output
    from gluebench.scoring import Score

FIELDS = ("row", "value", "low", "high", "n", "withheld", "published")


@click.command
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@labels_option
@benchmark_option
@output_options
def score(folder: str, gold: str | None, data: str | None, benchmark: str, form: Form) -> None:
    """Score the sheets that annotators gave back.

    Each annotator's score, their mean, and Fleiss' kappa with intervals, beside the figures of the paper. DIR
    is what `annotate draw` wrote, the sheets filled in.

    \b
    Example:
      gluebench annotate score human/ --data data/
    """
    from gluebench.analysis.human.score import score_sheets
    from gluebench.analysis.human.sheets import read_draw, read_sheets
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.output import emit

    manifest = load_benchmark(benchmark)
    drawn = read_draw(Path(folder))
    if drawn.benchmark != manifest.name:
        raise click.UsageError(f"{folder} was drawn from {drawn.benchmark}; give --benchmark for it.")
    task = manifest.task(drawn.task)
    sheets = read_sheets(Path(folder), drawn, task)
    labels = read_labels(gold, data, manifest, role="test", partial=True)
    emit(_output(score_sheets(drawn, sheets, labels), task, folder), form)


def _output(found: Agreement, task: Task, folder: str) -> Output:
    from gluebench.cli.formats import Records
    from gluebench.cli.output import Output, percent
    from gluebench.cli.report_view import score_cell
    from gluebench.cli.tables import Section, Table

    rows = tuple((name, score_cell(each), str(each.n), "") for name, each in found.annotators.items())
    whole = (
        ("mean", score_cell(found.mean), str(found.mean.n), _published(found.human)),
        ("Fleiss' kappa", _decimals(found.kappa), str(found.kappa.n), _published(found.published_kappa)),
    )
    title = task.metrics[0].title
    table = Table(
        columns=("annotator", f"{title} [95 % interval]", "n", "published"),
        sections=(Section(rows), Section(whole)),
        title=f"{task.name}: {folder}",
        right=frozenset({2, 3}),
        notes=(
            f"{title} in percent, kappa as it is; published as printed. "
            "Intervals are for other sentence pairs, not for other people.",
            _blanks(found),
        ),
    )
    records = [_record(name, each, None) for name, each in found.annotators.items()]
    records.append(_record("mean", found.mean, found.human))
    records.append(_record("kappa", found.kappa, found.published_kappa))
    human = "" if found.human is None else f" (published: {percent(found.human)})"
    words = f"The annotators' mean {title} is {percent(found.mean.value)}{human}."
    return Output(found.as_dict(), (table,), Records(FIELDS, tuple(records)), ("", words))


def _blanks(found: Agreement) -> str:
    """Which items were left blank, by annotator."""
    if not found.blanks:
        return "No item was left blank."
    by_name = {
        name: ", ".join(str(each.item) for each in found.blanks if each.annotator == name)
        for name in dict.fromkeys(each.annotator for each in found.blanks)
    }
    listed = "; ".join(f"{name}: items {items}" for name, items in by_name.items())
    return f"Left blank, and left out of that annotator's score and of kappa: {listed}."


def _published(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _decimals(score: Score) -> str:
    """Kappa with two decimals, as it is read."""
    if score.low is None or score.high is None:
        return f"{score.value:>5.2f} ({score.withheld})"
    return f"{score.value:>5.2f} [{score.low:.2f}, {score.high:.2f}]"


def _record(row: str, score: Score, published: float | None) -> tuple[object, ...]:
    return (row, score.value, score.low, score.high, score.n, score.withheld, published)
