"""`gluebench annotate`: a human baseline, from the drawing of examples to the agreement of the annotators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import percent
from gluebench.benchmark.tables import Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.inputs import labels_option, read_labels
from gluebench.cli.common.lazy import LazyGroup
from gluebench.cli.common.output import Form, Output, emit
from gluebench.cli.scoring.grade import score_cell

if TYPE_CHECKING:
    from gluebench.analysis.human.score import Agreement
    from gluebench.scoring import Score


@click.group(cls=LazyGroup)
def annotate() -> None:
    """Make a human baseline on a diagnostic set."""


@annotate.command
@option.folder("--data", help="Folder of prepared data; $GLUEBENCH_DATA if left out.")
@option.new_folder("--out", required=True, help="A new folder.")
@option.number("--seed", default=0, help="Seed of the draw.")
@option.number("--pairs", default=50, least=1, help="Sentence pairs to draw; each gives two examples.")
@option.number("--annotators", default=6, least=2, help="Sheets to write.")
@option.text("--task TASK", "name", help="The diagnostic set; needed if there are several.")
@option.benchmark
def draw(
    data: str | None, out: str, seed: int, pairs: int, annotators: int, name: str | None, suite: Benchmark
) -> None:
    """Draw examples for people to label.

    As section 4 of the paper: six annotators, 50 sentence pairs in both directions. Sheets show texts alone,
    not tags, labels or direction, and keep the two directions of a pair apart.

    \b
    Example:
      gluebench annotate draw --data data/ --out human/ --seed 1
    """
    from gluebench.analysis.human.sheets import draw as drawn_from
    from gluebench.analysis.human.sheets import write_sheets
    from gluebench.data import load

    task = option.diagnostic_task(suite, name)
    if not task.labels or len(task.columns) != 2:
        raise click.UsageError(f"{task.name} of {suite.name} has no labeled pairs of sentences.")
    split = task.file(task.metrics[0].file).splits["test"].name
    table = load(task.name, split, data, benchmark=suite)
    drawn = drawn_from(table, benchmark=suite.name, pairs=pairs, annotators=annotators, seed=seed)
    write_sheets(Path(out), drawn, table)
    click.echo(
        f"{out}: {annotators} sheets of {len(drawn.items)} examples of {task.name}, and instructions.md. "
        "Keep draw.json to yourself: it says which example is which."
    )


FIELDS = ("row", "value", "low", "high", "n", "withheld", "published")


@annotate.command
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@labels_option
@option.benchmark
@option.output
def score(folder: str, gold: str | None, data: str | None, suite: Benchmark, form: Form) -> None:
    """Score the sheets that annotators gave back.

    Each annotator's score, their mean, and Fleiss' kappa with intervals, beside the figures of the paper. DIR
    is what `annotate draw` wrote, the sheets filled in.

    \b
    Example:
      gluebench annotate score human/ --data data/
    """
    from gluebench.analysis.human.score import score_sheets
    from gluebench.analysis.human.sheets import read_draw, read_sheets

    drawn = read_draw(Path(folder))
    if drawn.benchmark != suite.name:
        raise click.UsageError(f"{folder} was drawn from {drawn.benchmark}; give --benchmark for it.")
    task = suite.task(drawn.task)
    sheets = read_sheets(Path(folder), drawn, task)
    labels = read_labels(gold, data, suite, role="test", partial=True)
    emit(_output(score_sheets(drawn, sheets, labels), task, folder), form)


def _output(result: Agreement, task: Task, folder: str) -> Output:
    title = task.metrics[0].title
    annotators = [_score_row(name, score, None) for name, score in result.annotators.items()]
    mean = _score_row("mean", result.mean, result.human)
    table = Table(
        ("annotator", f"{title} [95 % interval]", numeric("n"), numeric("published")),
        sections=[Section(annotators), Section([mean, _kappa_row(result.kappa, result.published_kappa)])],
        title=f"{task.name}: {folder}",
        notes=[
            f"{title} in percent, kappa as it is; published as printed. "
            "Intervals are for other sentence pairs, not for other people.",
            _blanks(result),
        ],
    )
    records = [_record(name, score, None) for name, score in result.annotators.items()]
    records.append(_record("mean", result.mean, result.human))
    records.append(_record("kappa", result.kappa, result.published_kappa))
    conclusion = f"The annotators' mean {title} is {percent(result.mean.value)}"
    if result.human is not None:
        conclusion += f" (published: {percent(result.human)})"
    return Output(result.as_dict(), [table], FIELDS, records, ["", f"{conclusion}."])


def _score_row(name: str, score: Score, published: float | None) -> tuple[str, ...]:
    return name, score_cell(score), str(score.n), _published_cell(published)


def _published_cell(published: float | None) -> str:
    if published is None:
        return ""
    return f"{published:.2f}"


def _record(name: str, score: Score, published: float | None) -> dict[str, object]:
    return {"row": name, **score._asdict(), "published": published}


def _blanks(agreement: Agreement) -> str:
    """Blank items by annotator."""
    if not agreement.blanks:
        return "No item was left blank."
    items_by_annotator: dict[str, list[str]] = {}
    for blank in agreement.blanks:
        items_by_annotator.setdefault(blank.annotator, []).append(str(blank.item))
    texts = [f"{name}: items {', '.join(items)}" for name, items in items_by_annotator.items()]
    return f"Left blank, and left out of that annotator's score and of kappa: {'; '.join(texts)}."


def _kappa_row(kappa: Score, published: float | None) -> tuple[str, ...]:
    """Kappa with two decimals."""
    if kappa.low is None or kappa.high is None:
        interval = f"({kappa.withheld})"
    else:
        interval = f"[{kappa.low:.2f}, {kappa.high:.2f}]"
    return ("Fleiss' kappa", f"{kappa.value:>5.2f} {interval}", str(kappa.n), _published_cell(published))
