"""`gluebench challenge predict`: a model's answers to a challenge set."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.cli.options import benchmark_option
from gluebench.cli.run_options import model_options

if TYPE_CHECKING:
    from gluebench.analysis.challenge import Item
    from gluebench.benchmark import Benchmark, Task
    from gluebench.systems.adapters.resolve import Model


@click.command
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("model", metavar="MODEL")
@click.option("--out", metavar="FILE", required=True, type=click.Path(dir_okay=False), help="Where to write.")
@click.option(
    "--data", metavar="DIR", type=click.Path(), help="Folder of the data it is trained on [$GLUEBENCH_DATA]."
)
@benchmark_option
@model_options
@click.pass_context
def predict(
    context: click.Context,
    /,
    file: str,
    model: str,
    out: str,
    data: str | None,
    benchmark: str,
    **options: Any,
) -> None:
    """Ask a model about a challenge set.

    MODEL is whatever gluebench run takes (docs/run.md); one that learns is trained on the task of FILE first.
    The answers, index and prediction, are a file like those of a submission: another program may write it.

    \b
    Example:
      gluebench challenge predict shortcuts.tsv system:bag-of-words --data data/ --out answers.tsv
    """
    from gluebench.analysis.challenge import read_items
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.run import installed
    from gluebench.cli.run_options import wishes
    from gluebench.data.home import data_folder
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.encoders.corpus import Corpus

    suite = load_benchmark(benchmark)
    items = read_items(file, suite)
    task = suite.task(items[0].task)
    home = data_folder(data)
    asked = wishes(context, model, options)
    with installed(), tempfile.TemporaryDirectory() as scratch:
        made = resolve(model, Corpus(suite, home, [task]), Path(scratch), asked)
        answers = _answers(made, suite, task, items=items, home=home)
    lines = ["index\tprediction", *(f"{number}\t{answer}" for number, answer in enumerate(answers))]
    Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")
    click.echo(f"{out}: {len(answers):,} answers.")


def _answers(made: Model, suite: Benchmark, task: Task, *, items: Sequence[Item], home: Path) -> list[str]:
    """Fit what learns, then ask. Raises DataError, PredictionError."""
    from gluebench.cli.output import notices
    from gluebench.data import Example
    from gluebench.systems.run import PredictionError, column, fit

    for learnt in suite.tasks if made.together else [task]:
        if learnt.predict_with is None:
            fit(made.system, suite, learnt, home, say=lambda line: notices([line]))
    examples = [
        Example(number, dict(zip(task.columns, item.inputs, strict=True)), None)
        for number, item in enumerate(items)
    ]
    found = list(made.system.predict(task, examples))
    if len(found) != len(examples):
        raise PredictionError(f"{task.name}: {len(found)} predictions for {len(examples)} examples")
    return column(task, found).words()
