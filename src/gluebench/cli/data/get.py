"""`gluebench data get`: get a benchmark's examples from the hub, the official archives or a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.benchmark.tables import Column, Table
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import Form, Output, emit, notices, plain

if TYPE_CHECKING:
    from gluebench.data.dataset import Origin, Outcome, State

SAMPLE = "sample"
"""The benchmark that the package holds with its data."""


@click.command
@click.argument("benchmark", metavar="[BENCHMARK|FILE|URL]", default="glue")
@option.tasks("--task", "tasks", help="These tasks only; may be repeated.")
@option.folder("--from FOLDER", "folder", help="Take the files of this folder; nothing is downloaded.")
@option.data_folder("--to FOLDER", help="Data folder [$GLUEBENCH_DATA].")
@option.choice(
    "--source",
    of="hub archives",
    help="The Hugging Face hub's files, or the official archives [hub; archives for what it has not].",
)
@option.text(
    "--mirror URL",
    envvar="GLUEBENCH_MIRROR",
    default="",
    help="Stands for scheme and host of publishers' addresses; also from GLUEBENCH_MIRROR.",
)
@option.flag("--partial", help="Take the splits that are there, and do without the others.")
@option.flag("--keep-going", help="List every row that cannot be read, not the first 20.")
@option.flag("--again", help="Get what is already there anew.")
@option.number("--retries", default=5, help="How often to try again when no more comes.")
@option.positive("--timeout SECONDS", default=30, help="How long to wait for an answer.")
@option.output
def get(
    benchmark: str, tasks: tuple[str, ...], folder: str | None, to: Path, form: Form, **options: Any
) -> None:
    """Download or read a benchmark's examples and store them as Parquet.

    Without --task, all tasks of the benchmark; auxiliary data such as SNLI only when named. Of an address on
    a leaderboard, all files of its Data page as they are, each verified by its SHA-256. If it is for its
    participants alone, the token in GLUEBENCH_TOKEN is sent.

    \b
    Example:
      gluebench data get glue --task CoLA --task RTE --to data/
      gluebench data get glue --from glue_data/ --to data/
      gluebench data get sample --to data/
      gluebench data get https://board.example.org/benchmarks/hotels --to data/
    """
    retry = {name: options.pop(name) for name in ("retries", "timeout")}
    if "://" in benchmark:
        others = [value for name, value in options.items() if name != "mirror"]
        if tasks or folder or any(others):
            raise click.UsageError("An address takes --to, --retries, --timeout and no other option.")
        _get_site(benchmark, to, retry, form=form)
        return
    if folder and options["source"]:
        raise click.UsageError("--from and --source exclude each other: a folder, or a download.")
    suite = load_benchmark(benchmark)
    named = [suite.dataset(name) for name in tasks] or suite.tasks  # auxiliary data only when named
    chosen = list({task.name: task for task in named}.values())
    if folder is None and suite == load_benchmark(SAMPLE):
        outcomes = _get_sample(chosen, to, options)
    else:
        outcomes = _get(benchmark, suite, chosen, folder=folder, to=to, options={**options, "retry": retry})
    if form or any(outcome.dataset for outcome in outcomes):
        emit(output(suite, outcomes), form)
    if problems := problem_lines(outcomes):
        notices(problems)
        raise click.exceptions.Exit(WRONG_FILE)


def _get_sample(tasks: list[Task], to: Path, options: Mapping[str, Any]) -> list[Outcome]:
    """Copy the sample benchmark from the package, which needs no extra."""
    from gluebench.data.sample.prepare import get_sample

    if options["source"]:
        raise click.UsageError(f"{SAMPLE} comes out of the package; leave --source out.")
    return get_sample(tasks, to)


def _get(
    benchmark: str,
    suite: Benchmark,
    tasks: list[Task],
    *,
    folder: str | None,
    to: Path,
    options: Mapping[str, Any],
) -> list[Outcome]:
    """Read a folder or download."""
    from gluebench.data.get import Downloader, Options
    from gluebench.data.sources.fetch import DownloadProgress, RetrySettings
    from gluebench.data.sources.release import load_release

    settings = Options(**{**options, "retry": RetrySettings(**options["retry"])})
    progress = DownloadProgress(shown=True)
    downloader = Downloader(suite, load_release(benchmark), to, options=settings, meter=progress)
    if folder is not None:
        return downloader.from_folder(tasks, Path(folder))
    try:
        return downloader.download(tasks)
    except KeyboardInterrupt:
        click.echo("\nStopped. What has come is kept: the same command goes on from here.", err=True)
        raise


FIELDS = ("task", "split", "rows", "kind", "location", "revision", "content", "fingerprint", "file")


def output(suite: Benchmark, outcomes: Sequence[Outcome]) -> Output:
    """The outcomes in all forms."""
    columns = ("task", "examples", "from", "content")
    table = Table(columns, map(_row_of_outcome, outcomes), notes=_notes(outcomes))
    data = {"benchmark": suite.name, "tasks": [_data(outcome) for outcome in outcomes]}
    return Output(data, [table], FIELDS, list(_records(outcomes)))


def problem_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Every problem with its tasks; a problem of several tasks is listed once."""
    tasks: dict[str, list[str]] = {}
    for outcome in outcomes:
        for problem in outcome.problems:
            tasks.setdefault(problem, []).append(outcome.task.name)
    return [f"{', '.join(names)}: {problem}" for problem, names in tasks.items()]


def _row_of_outcome(outcome: Outcome) -> tuple[str, ...]:
    dataset = outcome.dataset
    if dataset is None:
        return (outcome.task.name, "not got", "", "")
    examples = ", ".join(f"{name} {split.rows:,}" for name, split in dataset.splits.items())
    splits: dict[State, list[str]] = {}
    for name, state in _states(outcome).items():
        splits.setdefault(state, []).append(name)
    states: list[str] = list(splits)
    if len(splits) > 1:
        states = [f"{', '.join(names)}: {state}" for state, names in splits.items()]
    return (outcome.task.name, examples, _source(dataset.origin), "; ".join(states))


def _source(origin: Origin) -> str:
    if origin.kind in ("hub", "archive"):
        from gluebench.data.sources.http import host

        source = host(origin.location)
        if origin.revision:
            source += f" at {origin.revision[:7]}"
        return source
    if origin.kind == "sample":
        return "the package"
    return f"folder {origin.location}"


def _states(outcome: Outcome) -> dict[str, State]:
    """The state of each prepared split; empty if the task failed."""
    from gluebench.data.dataset import state

    dataset = outcome.dataset
    if dataset is None:
        return {}
    states = {}
    for name, record in dataset.splits.items():
        states[name] = state(record, outcome.task.splits[name], dataset.origin)
    return states


def _notes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    datasets = {outcome.task.name: outcome.dataset for outcome in outcomes if outcome.dataset is not None}
    place = next((outcome.place.parent for outcome in outcomes if outcome.dataset is not None), None)
    if place is not None:
        yield f"In {place}, a folder for each task."
    if any(dataset.origin.kind == "archive" for dataset in datasets.values()):
        yield "No checksums of archives are published: examples were counted and compared by fingerprint."
    for name, dataset in datasets.items():
        for note in dataset.notes:
            yield f"{name}: {note}"


def _data(outcome: Outcome) -> object:
    dataset = outcome.dataset
    splits = {}
    if dataset is not None:
        for name, content in _states(outcome).items():
            splits[name] = {"rows": dataset.splits[name].rows, "content": content}
    return {
        "task": outcome.task.name,
        "folder": str(outcome.place) if dataset else None,
        "already_there": outcome.unchanged,
        "origin": plain(dataset.origin) if dataset else None,
        "splits": splits,
        "problems": list(outcome.problems),
    }


def _records(outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
    for outcome in outcomes:
        dataset = outcome.dataset
        if dataset is None:
            continue
        origin = dataset.origin
        for name, state in _states(outcome).items():
            split = dataset.splits[name]
            yield (
                outcome.task.name,
                name,
                split.rows,
                origin.kind,
                origin.location,
                origin.revision,
                state,
                split.fingerprint,
                str(outcome.place / split.file),
            )


def _get_site(url: str, to: Path, retry: Mapping[str, Any], *, form: Form) -> None:
    """Fetch the files and show the outcome of each. Raises SendError, DataError."""
    from gluebench.data.sources.fetch import DownloadProgress, Fetcher, RetrySettings, readable
    from gluebench.data.sources.plan import fetch_missing, read_listed_files

    board = option.remote_benchmark(url)
    folder = to / board.address.name
    source = board.address._replace(phase=0).page
    if board.token:
        source = board.address.for_programs
    files = read_listed_files(source, board.facts.get("data"), folder)
    progress = DownloadProgress(shown=True)
    fetcher = Fetcher(progress, RetrySettings(**retry), token=board.token)
    fetched = fetch_missing(files, fetcher, progress)
    columns = (
        "file",
        Column("size", show=readable, name="bytes"),
        Column("sha256", for_people=False),
        Column("", show=lambda there: "already there" if there else "fetched", name="already_there"),
    )
    rows = [(file.name, file.bytes or 0, file.sha256, file not in fetched) for file in files]
    note = f"In {folder}; every file has the SHA-256 that the leaderboard gives."
    table = Table(columns, rows, notes=[note])
    emit(Output({"folder": str(folder), "files": table.records()}, [table]), form)
