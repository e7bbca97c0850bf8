"""`gluebench data croissant`: prepared data described for catalogues of data sets."""

from __future__ import annotations

from pathlib import Path

import click

from gluebench.benchmark import Benchmark
from gluebench.cli.common import option
from gluebench.cli.common.errors import reading_data
from gluebench.cli.common.output import notices


@click.command
@click.argument("suite", metavar="[NAME|FILE|URL]", type=option.LoadedBenchmark(), default="glue")
@option.data_folder("--data", help="Data folder [$GLUEBENCH_DATA].")
def croissant(suite: Benchmark, data: Path) -> None:
    """Describe a data folder as Croissant 1.1, in its croissant.json.

    License, version, date, creators and answers on responsible use come from [benchmark.card] of the
    manifest; what is missing there is named, and left out.

    \b
    Example:
      gluebench data croissant sample --data data/
    """
    from gluebench.benchmark.atomic import write_json
    from gluebench.data.croissant import croissant as describe
    from gluebench.data.croissant import prepared_files, unstated

    with reading_data():
        files = [*prepared_files(data, suite)]
    if not files:
        raise click.ClickException(f"There are no data of {suite.name} in {data}.")
    path = data / "croissant.json"
    write_json(path, describe(suite, files))
    if missing := unstated(suite):
        notices([f"not stated in the manifest: {', '.join(missing)} (keys of [benchmark])"])
    notices([f"written: {path}: {len(files)} files"])
