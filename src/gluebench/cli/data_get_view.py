"""What `gluebench data get` prints: a row for each task, and all that went wrong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gluebench.benchmark import Benchmark
from gluebench.cli.formats import Records
from gluebench.cli.output import Output
from gluebench.cli.plain import plain
from gluebench.cli.tables import Section, Table
from gluebench.data.dataset import Dataset, Origin
from gluebench.data.get import Got
from gluebench.data.published import State, state
from gluebench.data.sources.address import host

COLUMNS = ("task", "examples", "from", "content")
FIELDS = ("task", "split", "rows", "kind", "location", "revision", "content", "fingerprint", "file")


def output(suite: Benchmark, found: Sequence[Got]) -> Output:
    """The outcome in all its forms."""
    rows = tuple(_row(got) for got in found)
    table = Table(COLUMNS, (Section(rows),), notes=tuple(_notes(suite, found)))
    return Output(
        {"benchmark": suite.name, "tasks": [_data(got) for got in found]}, (table,), _records(found)
    )


def problem_lines(found: Sequence[Got]) -> list[str]:
    """Every problem with its task; one that befell several tasks once."""
    tasks: dict[str, list[str]] = {}
    for got in found:
        for problem in got.problems:
            tasks.setdefault(problem, []).append(got.task.name)
    return [f"{', '.join(names)}: {problem}" for problem, names in tasks.items()]


def _row(got: Got) -> tuple[str, ...]:
    if got.dataset is None:
        return (got.task.name, "not got", "", "")
    examples = ", ".join(f"{name} {split.rows:,}" for name, split in got.dataset.splits.items())
    return (got.task.name, examples, _source(got.dataset.origin), _content(got))


def _source(origin: Origin) -> str:
    if origin.kind in ("hub", "archive"):
        revision = f" at {origin.revision[:7]}" if origin.revision else ""
        return f"{host(origin.location)}{revision}"
    return "the package" if origin.kind == "sample" else f"folder {origin.location}"


def _states(got: Got, dataset: Dataset) -> dict[str, State]:
    return {
        name: state(record, got.task.splits[name], dataset.origin) for name, record in dataset.splits.items()
    }


def _content(got: Got) -> str:
    """The state of all splits in a word, or of each where they differ."""
    if got.dataset is None:
        return ""
    splits: dict[State, list[str]] = {}
    for name, found in _states(got, got.dataset).items():
        splits.setdefault(found, []).append(name)
    if len(splits) == 1:
        return next(iter(splits))
    return "; ".join(f"{', '.join(names)}: {found}" for found, names in splits.items())


def _notes(suite: Benchmark, found: Sequence[Got]) -> Iterator[str]:
    had = [got for got in found if got.dataset is not None]
    if had:
        yield f"In {had[0].place.parent}, a folder for each task."
    if any(got.dataset and got.dataset.origin.kind == "archive" for got in had):
        yield "No checksums of archives are published: examples were counted and compared by fingerprint."
    for got in had:
        yield from (f"{got.task.name}: {note}" for note in (got.dataset.notes if got.dataset else ()))


def _data(got: Got) -> object:
    dataset = got.dataset
    splits = {
        name: {"rows": dataset.splits[name].rows, "content": found}
        for name, found in (_states(got, dataset) if dataset else {}).items()
        if dataset
    }
    return {
        "task": got.task.name,
        "folder": str(got.place) if dataset else None,
        "already_there": got.there,
        "origin": plain(dataset.origin) if dataset else None,
        "splits": splits,
        "problems": list(got.problems),
    }


def _records(found: Sequence[Got]) -> Records:
    rows = []
    for got in found:
        if (dataset := got.dataset) is None:
            continue
        origin = dataset.origin
        for name, found_state in _states(got, dataset).items():
            split = dataset.splits[name]
            source = (origin.kind, origin.location, origin.revision)
            file = str(got.place / split.file)
            rows.append((got.task.name, name, split.rows, *source, found_state, split.fingerprint, file))
    return Records(FIELDS, tuple(rows))
