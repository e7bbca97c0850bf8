"""`gluebench data get`: a benchmark's examples, from the hub, the official archives or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.errors import WRONG_FILE, needs_extra
from gluebench.cli.options import Form, output_options

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task
    from gluebench.data.get import Got, Wishes
    from gluebench.data.sources.plan import SourceName

PACKAGES = {"pyarrow", "urllib3", "tqdm", "numpy"}


@click.command
@click.argument("benchmark", metavar="[BENCHMARK|FILE]", default="glue")
@click.option("--task", "tasks", metavar="TASK", multiple=True, help="This task alone; may be repeated.")
@click.option(
    "--from",
    "folder",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False),
    help="Take the files of this folder; nothing is downloaded.",
)
@click.option(
    "--to", metavar="FOLDER", type=click.Path(file_okay=False), help="Data folder [$GLUEBENCH_DATA]."
)
@click.option(
    "--source",
    type=click.Choice(["hub", "archives"]),
    help="The Hugging Face hub's files, or the official archives [hub; archives for what it has not].",
)
@click.option(
    "--mirror",
    metavar="URL",
    envvar="GLUEBENCH_MIRROR",
    default="",
    help="Stands for scheme and host of every address; also from GLUEBENCH_MIRROR.",
)
@click.option("--partial", is_flag=True, help="Take the splits that are there, and do without the others.")
@click.option("--keep-going", is_flag=True, help="List every row that cannot be read, not the first 20.")
@click.option("--again", is_flag=True, help="Get what is already there anew.")
@click.option(
    "--retries",
    metavar="N",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="How often to try again when no more comes.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=30,
    show_default=True,
    help="How long to wait for an answer.",
)
@output_options
def get(
    benchmark: str,
    tasks: tuple[str, ...],
    folder: str | None,
    to: str | None,
    source: SourceName | None,
    mirror: str,
    partial: bool,
    keep_going: bool,
    again: bool,
    retries: int,
    timeout: float,
    form: Form,
) -> None:
    """Download or read a benchmark's examples and store them as Parquet.

    Without --task, all tasks of the benchmark; auxiliary data such as SNLI only when named.
    Without --from, this is the one command that downloads anything.

    \b
    Example:
      gluebench data get glue --task CoLA --task RTE --to data/
      gluebench data get glue --from glue_data/ --to data/
      gluebench data get sample --to data/
    """
    if folder and source:
        raise click.UsageError("--from and --source exclude each other: a folder, or a download.")
    try:
        from gluebench.benchmark import load_benchmark
        from gluebench.cli.data_get_view import output, problem_lines
        from gluebench.cli.output import emit, notices
        from gluebench.data.get import Wishes
        from gluebench.data.home import data_folder
        from gluebench.data.sources.fetch import Patience

        suite = load_benchmark(benchmark)
        chosen = _chosen(suite, tasks)
        wishes = Wishes(source, mirror, partial, keep_going, again, Patience(retries, timeout))
        found = _got(benchmark, suite, chosen, folder=folder, to=data_folder(to), wishes=wishes)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in PACKAGES:
            raise
        raise needs_extra("data", "Getting data") from None
    if form or any(got.dataset for got in found):
        emit(output(suite, found), form)
    if problems := problem_lines(found):
        notices(problems)
        raise click.exceptions.Exit(WRONG_FILE)


def _chosen(suite: Benchmark, names: tuple[str, ...]) -> list[Task]:
    """The tasks named, each once; all but the auxiliary data where none is."""
    found = [suite.dataset(name) for name in names] or suite.tasks
    return list({task.name: task for task in found}.values())


def _got(
    benchmark: str, suite: Benchmark, tasks: list[Task], *, folder: str | None, to: Path, wishes: Wishes
) -> list[Got]:
    """Whatever way was asked for; the embedded benchmark comes out of the package."""
    import pyarrow  # noqa: F401 - wanted in the end, so better missed before anything is downloaded

    from gluebench.benchmark import load_benchmark
    from gluebench.cli.meter import meter
    from gluebench.data.embedded import NAME, get_sample
    from gluebench.data.get import Getter
    from gluebench.data.sources.release import load_release

    if folder is None and suite == load_benchmark(NAME):
        if wishes.source:
            raise click.UsageError(f"{NAME} comes out of the package; leave --source out.")
        return get_sample(tasks, to)
    getter = Getter(suite, load_release(benchmark), to, wishes=wishes, meter=meter())
    if folder is not None:
        return getter.from_folder(tasks, Path(folder))
    try:
        return getter.download(tasks)
    except KeyboardInterrupt:
        click.echo("\nStopped. What has come is kept: the same command goes on from here.", err=True)
        raise
