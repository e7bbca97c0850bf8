"""Building a task anew from its original corpus: a recipe's rows, checked and written like any other data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.benchmark import Benchmark, Split, Task, UnknownNameError
from gluebench.benchmark.lookup import closest
from gluebench.data.dataset import Dataset, Origin, SourceFile
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import LABEL
from gluebench.data.prepared import INDEX, ROW_GROUP, prepare
from gluebench.data.recipes import Built, Columns, Option, Recipe, recipe

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 20


class OptionError(ValueError):
    """An option of a recipe that it does not have, or whose value it cannot take."""


def recipe_of(task: Task, named: str | None = None) -> Recipe:
    """The recipe named, else the manifest's. Raises UnknownNameError, OptionError."""
    name = named or task.recipe
    if name is None:
        raise OptionError(
            f"the manifest names no recipe for {task.name}; name one (--recipe), or write recipe = ... there"
        )
    return recipe(name)


def build(
    corpus: Path,
    to: Path,
    benchmark: Benchmark,
    task: Task,
    options: Mapping[str, str] | None = None,
    *,
    named: str | None = None,
    origin: Origin | None = None,
) -> Dataset:
    """Build a task from the folder of its original corpus, as `<to>/<benchmark>/<Task>`.

    `options` are the recipe's, as text; `named` is a recipe other than the manifest's. A split whose size is
    not the manifest's is written all the same, with a note: what can be built need not be what was released.
    Raises DataError, OptionError, UnknownNameError.
    """
    found = recipe_of(task, named)
    if not corpus.is_dir():
        raise DataError([f"{corpus}: no such folder; expected {found.corpus}"])
    built = found.build(corpus, task, _values(found, options or {}))
    strange = built.splits.keys() - task.splits.keys()
    if strange:
        raise UnknownNameError(min(strange), list(task.splits), what=f"split of {task.name}")
    if not built.splits:
        raise DataError([f"{corpus}: nothing to build {task.name} from; expected {found.corpus}"])
    source = origin or Origin("recipe", corpus.resolve().name)
    return prepare(
        to,
        benchmark,
        task,
        {name: _batches(task, task.splits[name], columns) for name, columns in built.splits.items()},
        origin=source._replace(
            files=source.files or tuple(_source_file(path, corpus) for path in built.files),
            recipe=found.name,
            options=built.options,
        ),
        notes=(*built.notes, *_sizes(task, built)),
        sized=False,
    )


def _values(found: Recipe, texts: Mapping[str, str]) -> dict[str, Any]:
    """Every option's value, as its type; those not given at their defaults."""
    known = {option.name: option for option in found.options}
    for name in texts:
        if name not in known:
            close = closest(name, known)
            hint = f" Did you mean --{' or --'.join(close)}?" if close else ""
            listing = ", ".join(f"--{each}" for each in known) or "none"
            raise OptionError(
                f"the recipe {found.name} has no option --{name}.{hint} Its options: {listing}."
            )
    return {
        name: _value(option, texts[name]) if name in texts else option.default
        for name, option in known.items()
    }


def _value(option: Option, text: str) -> str | int | float | Path:
    try:
        return option.type(text)
    except ValueError:
        kind = {int: "a whole number", float: "a number"}.get(option.type, "text")
        raise OptionError(f"--{option.name} is {text!r}; expected {kind}: {option.help}") from None


def _sizes(task: Task, built: Built) -> Iterator[str]:
    for name, columns in built.splits.items():
        size, rows = task.splits[name].size, len(columns[task.columns[0]])
        if rows != size:
            yield f"{name}: {rows:,} examples were built; the released split has {size:,}"
    for name in task.splits:
        if name not in built.splits:
            yield f"{name}: not built"


def _batches(task: Task, split: Split, columns: Columns) -> Iterator[pa.RecordBatch]:
    """A recipe's columns as Arrow: index first, then inputs, label and the rest. Raises DataError."""
    import pyarrow as pa

    where = f"{task.name}, {split.name}"
    rows = len(columns[task.columns[0]])
    uneven = [name for name, values in columns.items() if len(values) != rows]
    if uneven:
        raise DataError(
            [f"{where}: the columns {', '.join(uneven)} have not the {rows:,} rows of the others"]
        )
    ordered: dict[str, pa.Array] = {INDEX: pa.array(columns.get(INDEX, range(rows)), pa.int64())}
    for name in task.columns:
        ordered[name] = pa.array(columns[name], pa.string())
    if LABEL in columns:
        ordered[LABEL] = pa.array(columns[LABEL], pa.string() if task.labels else pa.float64())
    for name, values in columns.items():
        if name not in ordered:
            ordered[name] = pa.array(values)
    yield from pa.table(ordered).to_batches(max_chunksize=ROW_GROUP)


def _source_file(path: Path, corpus: Path) -> SourceFile:
    """A file that was read, with what it hashes to."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    inside = path.is_relative_to(corpus)
    return SourceFile(
        str(path.relative_to(corpus)) if inside else path.name, path.stat().st_size, digest.hexdigest()
    )
