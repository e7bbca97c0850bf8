"""`gluebench annotate draw`: the examples that people label, as a sheet for each of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.errors import reading_data
from gluebench.cli.options import benchmark_option

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task


@click.command
@click.option("--data", metavar="DIR", type=click.Path(exists=True, file_okay=False),
              help="Folder of prepared data; $GLUEBENCH_DATA if left out.")  # fmt: skip
@click.option("--out", metavar="DIR", required=True, type=click.Path(file_okay=False), help="A new folder.")
@click.option("--seed", metavar="N", type=click.IntRange(min=0), default=0, show_default=True,
              help="Seed of the draw.")  # fmt: skip
@click.option("--pairs", metavar="N", type=click.IntRange(min=1), default=50, show_default=True,
              help="Sentence pairs to draw; each gives two examples.")  # fmt: skip
@click.option("--annotators", metavar="N", type=click.IntRange(min=2), default=6, show_default=True,
              help="Sheets to write.")  # fmt: skip
@click.option("--task", "name", metavar="TASK", help="The diagnostic set; needed if there are several.")
@benchmark_option
def draw(
    data: str | None, out: str, seed: int, pairs: int, annotators: int, name: str | None, benchmark: str
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
    from gluebench.benchmark import load_benchmark
    from gluebench.data import load

    manifest = load_benchmark(benchmark)
    task = diagnostic_task(manifest, name)
    with reading_data():
        table = load(task.name, _split(task), data, benchmark=manifest)
        drawn = drawn_from(table, benchmark=manifest.name, pairs=pairs, annotators=annotators, seed=seed)
        write_sheets(Path(out), drawn, table)
    click.echo(
        f"{out}: {annotators} sheets of {len(drawn.items)} examples of {task.name}, and instructions.md. "
        "Keep draw.json to yourself: it says which example is which."
    )


def _split(task: Task) -> str:
    """The split that the task's first metric is of."""
    return task.file(task.metrics[0].file).splits["test"].name


def diagnostic_task(manifest: Benchmark, name: str | None) -> Task:
    """The task of that name, or the one diagnostic set of the benchmark."""
    if name is not None:
        task = manifest.task(name)
    elif len(manifest.diagnostics) == 1:
        task = manifest.diagnostics[0]
    else:
        names = ", ".join(task.name for task in manifest.diagnostics) or "none"
        raise click.UsageError(f"Name the diagnostic set with --task; those of {manifest.name}: {names}.")
    if not task.labels or len(task.columns) != 2:
        raise click.UsageError(f"{task.name} of {manifest.name} has no labelled pairs of sentences.")
    return task
