"""`gluebench write`: a valid submission from a model's predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import notices

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Role


@click.command
@click.argument("predictions", metavar="PREDICTIONS", type=click.Path(exists=True))
@option.zip_file("--out", required=True, help="Where to write the submission.")
@option.split
@option.benchmark
def write(predictions: str, out: str, split: Role, suite: Benchmark) -> None:
    """Write a submission from prediction files.

    PREDICTIONS is a folder or a zip with a file for each test file, named as it is: .tsv or .csv with a
    header that names the columns index and prediction, .json or .jsonl with those keys, or .txt with one
    prediction a line in the order of the examples. Each step on the way to the submission is said.

    \b
    Example:
      gluebench write predictions/ --out submission.zip
    """
    from gluebench.cli.submission.findings import marked
    from gluebench.submission import read_predictions, write_submission

    read = read_predictions(predictions, suite, role=split)
    notices([*read.done, *marked(read.problems)])
    if read.problems:
        click.echo("Nothing was written.", err=True)
        raise click.exceptions.Exit(WRONG_FILE)
    write_submission(out, read.columns, suite, role=split)
    absent = [f"{file.name}.tsv" for file in suite.files(split) if file.name not in read.columns]
    if absent:
        click.echo(f"INCOMPLETE: no predictions for {', '.join(absent)}.", err=True)
    click.echo(f"{out}: {len(read.columns)} file{'s' * (len(read.columns) != 1)}.")
