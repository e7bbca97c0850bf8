"""Building a task anew from its original corpus: a recipe's rows, checked and written like any other data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from gluebench.benchmark import Benchmark, Split, Task, UnknownNameError
from gluebench.benchmark.lookup import closest
from gluebench.data.dataset import INDEX, LABEL, Dataset, Origin, SourceFile, source_file
from gluebench.data.errors import DataError
from gluebench.data.prepared import ROW_GROUP, prepare
from gluebench.data.recipes import Built, Columns, OptionError, Recipe, recipe_of


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
    chosen = recipe_of(task, named)
    if not corpus.is_dir():
        raise DataError(f"{corpus}: no such folder; expected {chosen.corpus}")
    built = chosen.build(corpus, task, _values(chosen, options or {}))
    strange = built.splits.keys() - task.splits.keys()
    if strange:
        raise UnknownNameError(min(strange), list(task.splits), what=f"split of {task.name}")
    if not built.splits:
        raise DataError(f"{corpus}: nothing to build {task.name} from; expected {chosen.corpus}")

    def record(path: Path) -> SourceFile:
        inside = path.is_relative_to(corpus)
        return source_file(path, str(path.relative_to(corpus)) if inside else path.name)

    source = origin or Origin("recipe", corpus.resolve().name)
    return prepare(
        to,
        benchmark,
        task,
        {name: _batches(task, task.splits[name], columns) for name, columns in built.splits.items()},
        origin=source._replace(
            files=source.files or tuple(map(record, built.files)),
            recipe=chosen.name,
            options=built.options,
        ),
        notes=(*built.notes, *_sizes(task, built)),
        sized=False,
    )


def _values(chosen: Recipe, texts: Mapping[str, str]) -> dict[str, Any]:
    """Every option's value, as its type; those not given at their defaults."""
    values: dict[str, Any] = {option.name: option.default for option in chosen.options}
    unknown = next((name for name in texts if name not in values), None)
    if unknown is not None:
        close = closest(unknown, values)
        hint = f" Did you mean --{' or --'.join(close)}?" if close else ""
        listing = ", ".join(f"--{option}" for option in values) or "none"
        raise OptionError(
            f"the recipe {chosen.name} has no option --{unknown}.{hint} Its options: {listing}."
        )
    for option in chosen.options:
        if option.name in texts:
            text = texts[option.name]
            try:
                values[option.name] = option.type(text)
            except ValueError:
                kind = {int: "a whole number", float: "a number"}.get(option.type, "text")
                raise OptionError(f"--{option.name} is {text!r}; expected {kind}: {option.help}") from None
    return values


def _sizes(task: Task, built: Built) -> Iterator[str]:
    for name, columns in built.splits.items():
        size, rows = task.splits[name].size, len(columns[task.columns[0]])
        if rows != size:
            yield f"{name}: {rows:,} examples were built; the released split has {size:,}"
    yield from (f"{name}: not built" for name in task.splits if name not in built.splits)


def _batches(task: Task, split: Split, columns: Columns) -> Iterator[pa.RecordBatch]:
    """A recipe's columns as Arrow: index first, then inputs, label and the rest. Raises DataError."""
    rows = len(columns[task.columns[0]])
    uneven = [name for name, values in columns.items() if len(values) != rows]
    if uneven:
        problem = f"the columns {', '.join(uneven)} have not the {rows:,} rows of the others"
        raise DataError(f"{task.name}, {split.name}: {problem}")
    types = dict.fromkeys(task.columns, pa.string()) | {LABEL: pa.string() if task.labels else pa.float64()}
    names = [*task.columns, LABEL, *(name for name in columns if name not in types)]
    ordered = {INDEX: pa.array(range(rows), pa.int64())}
    ordered |= {name: pa.array(columns[name], types.get(name)) for name in names if name in columns}
    yield from pa.table(ordered).to_batches(max_chunksize=ROW_GROUP)
