"""`gluebench submit`: a submission to a leaderboard, from the terminal."""

from __future__ import annotations

from pathlib import Path

import click

from gluebench.cli.errors import WRONG_FILE
from gluebench.cli.options import Form, output_options
from gluebench.cli.sending import (
    Destination,
    benchmark_there,
    connect,
    destination_options,
    insist_on_scopes,
    print_findings,
    send,
)


@click.command
@click.argument("sub", metavar="SUB", type=click.Path(exists=True, path_type=Path))
@click.option("--benchmark", metavar="NAME", help="Where the leaderboard has several.")
@click.option("--check-only", is_flag=True, help="The leaderboard's free check: nothing is submitted.")
@destination_options(required=True)
@output_options
def submit(sub: Path, benchmark: str | None, check_only: bool, form: Form, to: Destination) -> None:
    """Send a submission to a leaderboard and print its scores.

    SUB is a zip. It is checked here first, and private there until it is published. An upload that breaks
    off is sent again; the same command twice makes one submission. The token is read from GLUEBENCH_TOKEN.

    \b
    Example:
      gluebench submit submission.zip --to https://board.example.org --name "My system" --model BiLSTM
      gluebench submit submission.zip --to http://127.0.0.1:8000 --check-only
    """
    if sub.is_dir():
        raise click.UsageError(
            f"{sub} is a folder, and a submission is sent as one zip. "
            f"This makes it: gluebench check {sub} --fix submission.zip"
        )
    client = connect(to)
    suite = benchmark_there(client, benchmark)
    if check_only:
        found = client.check(suite.name, sub)
        print_findings(found, suite, source=str(sub), form=form)
        if found["verdict"] == "invalid":
            raise click.exceptions.Exit(WRONG_FILE)
        return
    insist_on_scopes(client, to)
    name = to.details.get("name", sub.stem)
    send(sub, to, client, suite, form=form, defaults={"name": name, "model": name})
