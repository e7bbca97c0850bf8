"""`gluebench read`: results of other harnesses as one scored table."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark.figures import percent
from gluebench.benchmark.tables import Table, numeric, show_count
from gluebench.cli.common import option
from gluebench.cli.common.output import Form, Output, emit, notices

if TYPE_CHECKING:
    from gluebench.data.results import ScoredTable


@click.command
@click.argument("files", metavar="[NAME=]FILE...", nargs=-1, required=True)
@option.new_file("--out", help="Write the table: .csv, .tsv or .parquet.")
@option.text("--metric NAME", help="The metric to read, if the files have several.")
@option.settings("--only COLUMN=CATEGORY", help="Keep the items of one category only.")
@option.file("--gold", help="Gold labels, for files of predictions: CSV, TSV or JSON lines.")
@option.settings("--synonym LABEL=LABEL", "synonyms", help="Count a predicted label as another.")
@option.file("--ids", help="The ids of all items, for results that name only the solved ones.")
@option.choice(
    "--over",
    of="items tasks",
    default="items",
    help="What the rows are. Tasks: mean scores, compared over tasks.",
)
@option.positive("--scale N", default=1.0, help="Divide scores by it; 100 for percentages.")
@option.output
def read(files: tuple[str, ...], out: str | None, form: Form, **settings: Any) -> None:
    """Read results of other harnesses into one table of items x systems.

    lm-evaluation-harness, inspect_ai, HELM, SWE-bench, MTEB, Every Eval Ever, predictions with gold labels
    (SuperGLUE, Kaggle), and plain tables. Items are joined by id and text; what does not match is counted and
    named. Then: gluebench compare A B --table OUT, and rank, diagnose and grade alike.

    \b
    Example:
      gluebench read base/samples_cola_*.jsonl ours/samples_cola_*.jsonl --out scores.csv
      gluebench read base=base.jsonl ours=ours.jsonl --gold val.jsonl --out scores.csv
    """
    from gluebench.data.results import read_results, write_table

    table = read_results(_sources(files), **settings)
    if out is not None:
        write_table(table, out)
    notices(table.notes)
    if out is not None:
        written = f"written: {out}"
        if len(table.scores) > 1:
            written += f"; next: gluebench rank --table {shlex.quote(out)}"
        notices([written])
    emit(_output(table), form)


def _sources(files: tuple[str, ...]) -> tuple[str, ...] | dict[str, str]:
    """The paths, by name if they have names. Raises UsageError."""
    if len(set(files)) < len(files):
        raise click.UsageError("a file is named twice.")
    named = {}
    for file in files:
        if os.path.exists(file) or "=" not in file:
            continue
        name, _, path = file.partition("=")
        if not os.path.exists(path):
            raise click.UsageError(f"Path {path!r} does not exist.")
        named[name] = path
    if not named:
        return files
    if len(named) < len(files):
        raise click.UsageError("give each file a name of its own (NAME=FILE), or none.")
    return named


def _output(table: ScoredTable) -> Output:
    """The mean of each system, task by task, in every form."""
    from gluebench.scoring.tags import places_of

    tasks = places_of(table.tasks or [""] * len(table.items))
    rows = []
    for task, places in tasks.items():
        for system, scores in table.scores.items():
            rows.append((system, task, len(places), sum(scores[at] for at in places) / len(places)))
    clusters = None
    about = []
    if table.clusters is not None:
        clusters = len(set(table.clusters))
        about.append(f"In {clusters:,} clusters.")
    if table.categories:
        about.append(f"Categories: {', '.join(table.categories)}.")
    columns = ("system", "task", numeric(table.unit, show_count, name="rows"), numeric("score", percent))
    shown = Table(columns, rows, title=table.name, notes=about)
    data = {
        "schema": "gluebench.scores/1",
        "name": table.name,
        "unit": table.unit,
        "rows": len(table.items),
        "clusters": clusters,
        "categories": {name: sorted(set(values)) for name, values in table.categories.items()},
        "systems": shown.records(),
        "notes": list(table.notes),
    }
    return Output(data, [shown], words=["", table.gold.scope])
