"""`gluebench challenge shortcuts`: sentences that try three known shortcuts of inference models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gluebench.cli.options import benchmark_option

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task


@click.command
@click.option("--out", metavar="FILE", required=True, type=click.Path(dir_okay=False), help="Where to write.")
@click.option("--task", "name", metavar="TASK", help="The inference task whose model is to be asked.")
@click.option(
    "--each",
    metavar="N",
    type=click.IntRange(1, 300),
    default=50,
    show_default=True,
    help="Examples of each case.",
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the words."
)
@benchmark_option
def shortcuts(out: str, name: str | None, each: int, seed: int, benchmark: str) -> None:
    """Write pairs that try lexical overlap, subsequence and constituent.

    Without --task, they are for the task that answers the benchmark's diagnostic set (GLUE's: MNLI).

    \b
    Example:
      gluebench challenge shortcuts --out shortcuts.tsv
    """
    from gluebench.analysis.challenge import shortcuts as made
    from gluebench.analysis.challenge import write_items
    from gluebench.benchmark import load_benchmark

    manifest = load_benchmark(benchmark)
    task = _task(manifest, name)
    items = made(task, each=each, seed=seed)
    write_items(out, items, task)
    cases = len({item.case for item in items})
    click.echo(f"{out}: {len(items):,} examples of {cases} cases, for a model of {task.name}.")


def _task(manifest: Benchmark, name: str | None) -> Task:
    if name is not None:
        return manifest.task(name)
    answering = {task.predict_with for task in manifest.diagnostics if task.predict_with}
    if len(answering) != 1:
        raise click.UsageError("Name the inference task with --task.")
    return manifest.task(answering.pop() or "")
