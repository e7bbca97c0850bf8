"""`gluebench audit`: what can be told of a pair's label from a part of the pair."""

from __future__ import annotations

import click

from gluebench.cli.errors import reading_data
from gluebench.cli.options import Form, benchmark_option, output_options

EPOCHS, SMOOTHING, SHOWN = 5, 100.0, 5
"""As in gluebench.analysis.audit, which a call for help does not import."""


@click.command
@click.option(
    "--train",
    "learnt",
    metavar="NAME|FILE",
    multiple=True,
    required=True,
    help="What to learn from: a task's train split, NAME:SPLIT, or a table; may be repeated.",
)
@click.option(
    "--test",
    "tests",
    metavar="NAME|FILE",
    multiple=True,
    required=True,
    help="What to test on: a task's other labelled splits, NAME:SPLIT, or a table; may be repeated.",
)
@click.option("--data", metavar="DIR", type=click.Path(), help="Folder of the data [$GLUEBENCH_DATA].")
@click.option(
    "--gold",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder of labels, for test splits that have none in the data.",
)
@click.option(
    "--see",
    metavar="PART",
    multiple=True,
    help="What is seen of a pair: hypothesis, premise, length or overlap; may be repeated [all].",
)
@click.option(
    "--epochs",
    metavar="N",
    type=click.IntRange(min=1),
    default=EPOCHS,
    show_default=True,
    help="Passes over the training pairs.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the order in which training pairs are taken.",
)
@click.option(
    "--words",
    "shown",
    metavar="N",
    type=click.IntRange(min=0),
    default=SHOWN,
    show_default=True,
    help="Words listed for each class; 0 for none.",
)
@click.option(
    "--smoothing",
    metavar="X",
    type=click.FloatRange(min=0),
    default=SMOOTHING,
    show_default=True,
    help="Added to the count of each word with each class.",
)
@click.option(
    "--like",
    metavar="TASK",
    default="MNLI",
    show_default=True,
    help="The task whose columns and label words a table has.",
)
@benchmark_option
@output_options
def audit(
    learnt: tuple[str, ...],
    tests: tuple[str, ...],
    data: str | None,
    gold: str | None,
    see: tuple[str, ...],
    epochs: int,
    seed: int,
    shown: int,
    smoothing: float,
    like: str,
    benchmark: str,
    form: Form,
) -> None:
    """Test whether labels can be told from the hypothesis alone.

    Classifiers that see one text, its length or the words in common, and the words that go with a class.

    \b
    Example:
      gluebench audit --train SNLI --train MNLI --test SNLI --test MNLI --test AX --data data/
      gluebench audit --train snli.tsv --test AX --see hypothesis
    """
    from gluebench.analysis import audit as audits
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.audit_view import audit_output
    from gluebench.cli.output import emit, notices
    from gluebench.scoring import read_gold

    suite = load_benchmark(benchmark)
    labels = read_gold(gold, suite) if gold is not None else None
    named = audits.Sources(suite, data, labels, like)
    with reading_data():
        sources = [named.train(name) for name in dict.fromkeys(learnt)]
        asked = [each for name in dict.fromkeys(tests) for each in named.tests(name)]
    found = audits.audit(
        sources,
        asked,
        see=see,
        epochs=epochs,
        seed=seed,
        smoothing=smoothing,
        shown=shown,
        printed=audits.PRINTED.get(suite.name),
        progress=lambda line: notices([line]),
    )
    emit(audit_output(found), form)
