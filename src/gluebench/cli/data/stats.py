"""`gluebench data stats`: sizes, labels, lengths and words, compared with the paper's Tables 1 and 7."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import percent
from gluebench.benchmark.tables import Column, Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.output import Form, Output, emit, notices, plain

if TYPE_CHECKING:
    from gluebench.data.stats.describe import Category, Labels, SplitStats, TaskStats


@click.command
@click.argument("suite", metavar="[BENCHMARK|FILE|URL]", type=option.LoadedBenchmark(), default="glue")
@option.tasks("--task", "names", help="These tasks only; may be repeated.")
@option.data()
@option.plot("sizes, labels and lengths too")
@option.output
def stats(suite: Benchmark, names: tuple[str, ...], data: Path, plot: str | None, form: Form) -> None:
    """Describe the examples on disk: sizes, labels, lengths, words.

    Sizes stand beside those of the paper's Table 1, a diagnostic set's categories beside its Table 7.

    \b
    Example:
      gluebench data stats glue --data data/
      gluebench data stats --task RTE --task AX --plot stats.pdf
    """
    tasks = _described(suite, names, data)
    emit(stats_output(suite, tasks), form)
    if plot is None:
        return
    if not any(split for task in tasks for split in task.splits.values()):
        raise click.ClickException("Nothing was drawn: none of the splits is on disk.")
    from gluebench.data.stats.plot import draw

    draw(tasks, suite, plot)
    notices([f"drawn: {plot}"])


def _described(suite: Benchmark, names: tuple[str, ...], folder: Path) -> list[TaskStats]:
    """The named tasks, else all of the benchmark and the auxiliary data on disk. Raises DataError."""
    from gluebench.data.errors import DataError
    from gluebench.data.home import task_folder
    from gluebench.data.stats.describe import describe, on_disk

    if names:
        named = dict.fromkeys(suite.dataset(name).name for name in names)
        tasks = [suite.dataset(name) for name in named]
        return [describe(task, on_disk(folder, suite, task)) for task in tasks]
    there = set()
    for task in (*suite.tasks, *suite.auxiliary):
        with suppress(DataError):  # raised if the task has no folder
            task_folder(folder, suite, task)
            there.add(task.name)
    if not there:
        message = f"no data of {suite.name} at {folder}; get them with: gluebench data get {suite.name}, "
        raise DataError(message + "or name the folder that has them (--data or $GLUEBENCH_DATA)")
    shown = [*suite.tasks, *(task for task in suite.auxiliary if task.name in there)]
    return [
        describe(task, on_disk(folder, suite, task) if task.name in there else dict.fromkeys(task.splits))
        for task in shown
    ]


ABSENT = "-"
DIFFERS, CUT = "*", "+"
"""Marks of printed figures that differ from the files', or that are truncated instead of rounded."""
_FIELDS = ("task", "split", "measure", "item", "value", "printed")


def stats_output(suite: Benchmark, stats: Sequence[TaskStats]) -> Output:
    """Sizes as in Table 1, diagnostic categories as in Table 7, then labels, lengths and words by split."""
    by_task = [(suite.dataset(task.task), task) for task in stats]
    tables = [
        _sizes(by_task),
        *(
            _category_table(f"{task.task} {split}", categories)
            for task in stats
            for split, categories in task.categories.items()
        ),
        _labels(by_task),
        _lengths(stats),
        _words(stats),
    ]
    return Output(
        {"benchmark": suite.name, "tasks": plain(stats)},
        [table for table in tables if table.sections],
        _FIELDS,
        [row for task in stats for row in _records(task)],
    )


# ---------------------------------------------------------------- Table 1


def _sizes(stats: Sequence[tuple[Task, TaskStats]]) -> Table:
    beside = [(task, size) for task, counted in stats for size in counted.sizes]
    titles = ["Train", "Dev", "Test"]
    if beside:
        titles = ["Train", "printed", "Dev", "Test", "printed"]
    sections = [
        Section([_size_row(*entry, printed=bool(beside)) for entry in group], title)
        for title, group in groupby(stats, lambda entry: entry[0].section)
    ]
    notes = [
        f"{DIFFERS} {task.name}: {size.name} has {size.size:,} examples, printed is {size.printed}."
        + "".join(f" {note}" for note in size.notes)
        for task, size in beside
        if size.agreement == "differs"
    ]
    if any(size.agreement == "cut" for _, size in beside):
        notes.append(f"{CUT} Printed with its last digits cut off, not rounded.")
    return Table(
        ["Corpus"] + [numeric(title) for title in titles],
        sections=sections,
        title="Examples on disk" + ", and the sizes printed in Table 1" * bool(beside),
        notes=notes,
    )


def _size_row(task: Task, stats: TaskStats, *, printed: bool) -> tuple[str, ...]:
    from gluebench.data.stats.describe import splits_called

    parts = []
    for part in ("train", "dev", "test"):  # "9,796 + 9,847" for the test set of MNLI
        splits = [stats.splits[name] for name in splits_called(task, part)]
        rows = [ABSENT if split is None else f"{split.examples:,}" for split in splits]
        parts.append(" + ".join(rows) if any(splits) else ABSENT * bool(splits))
    if not printed:
        return (stats.task, *parts)
    marks = {"differs": DIFFERS, "cut": CUT}
    figures = {size.name: size.printed + marks.get(size.agreement or "", "") for size in stats.sizes}
    return (stats.task, parts[0], figures.get("train", ""), *parts[1:], figures.get("test", ""))


# ---------------------------------------------------------------- Table 7


def _category_table(where: str, categories: Sequence[Category]) -> Table:
    printed = any(category.printed for category in categories)
    words = list(categories[0].labels or ())
    order = list(categories[0].printed)
    if set(words) <= set(order):
        words.sort(key=order.index)
    columns: list[Column | str] = ["Category"]
    for title in ["Count"] + [f"% {word}" for word in words]:
        columns.append(numeric(title))
        if printed:
            columns.append(numeric("printed"))
    rows = [_category_row(category, words, printed=printed) for category in categories]
    agree = [category.agrees for category in categories if category.agrees is not None]
    notes = ["An example with several phenomena of one category counts once in it."]
    if agree:
        notes.append(
            "Every figure is the one printed." if all(agree) else f"{DIFFERS} Not the figure that is printed."
        )
    return Table(
        columns,
        rows,
        title=f"{where} by category" + ", and the figures printed in Table 7" * printed,
        notes=notes,
    )


def _category_row(category: Category, words: Sequence[str], *, printed: bool) -> tuple[str, ...]:
    real = [category.examples, *(category.percentage(word) for word in words)]
    cells = [f"{category.examples:,}", *(ABSENT if value is None else f"{value:.1f}" for value in real[1:])]
    if not printed:
        return (category.name, *cells)
    row = [category.name]
    for name, value, cell in zip(("count", *words), real, cells, strict=True):
        figure = category.printed.get(name)
        text = "" if figure is None else f"{figure:g}" if name == "count" else f"{figure:.1f}"
        row += [cell, text + DIFFERS * (figure is not None and figure != value)]
    return tuple(row)


# ---------------------------------------------------------------- each split


def _labels(stats: Sequence[tuple[Task, TaskStats]]) -> Table:
    sections = []
    for task, counted in stats:
        rows = [
            (f"  {split.split}", f"{split.examples:,}", _balance(split.labels)) for split in _present(counted)
        ]
        glosses = [
            f"{entry.word} {entry.gloss}" for entry in task.labels if len(entry.word) < 3 and entry.gloss
        ]
        if rows:
            sections.append(Section(rows, f"{task.name} ({', '.join(glosses)})" if glosses else task.name))
    columns = ("Split", numeric("Examples"), "Labels, % of the split")
    return Table(columns, sections=sections, title="Label balance")


def _balance(labels: Labels | None) -> str:
    if labels is None:
        return "hidden"
    if not labels.parts:
        return "given"
    parts = ", ".join(f"{part.name}: {percent(part.share)}" for part in labels.parts)
    return parts if labels.mean is None else f"{parts}; mean {labels.mean:.2f}"


def _lengths(tasks: Sequence[TaskStats]) -> Table:
    sections = []
    for stats in tasks:
        rows = []
        for split in _present(stats):
            for column, lengths in split.lengths.items():
                center = (f"{lengths.mean:.1f}", f"{lengths.median:g}")
                rows.append((f"  {split.split}", column, *center, f"{lengths.p95:,}", f"{lengths.longest:,}"))
        if rows:
            sections.append(Section(rows, stats.task))
    columns: list[Column | str] = ["Split", "Text"]
    columns += [numeric(title) for title in ("Mean", "Median", "95th percentile", "Longest")]
    title = "Lengths in tokens (words and marks of punctuation)"
    return Table(columns, sections=sections, title=title)


def _words(tasks: Sequence[TaskStats]) -> Table:
    sections = []
    for stats in tasks:
        rows = []
        for split in _present(stats):
            words = split.vocabulary
            shares = map(percent, (words.unseen_types, words.unseen_tokens, split.overlap))
            rows.append((f"  {split.split}", f"{words.tokens:,}", f"{words.types:,}", *shares))
        if rows:
            sections.append(Section(rows, stats.task))
    notes = [
        "Types are the different tokens, letter case aside; unseen are those that train does not have.",
        "Overlap is the mean share of the words of two texts that stand in both (Jaccard).",
    ]
    titles = ("Tokens", "Types", "% types unseen", "% tokens unseen", "% overlap")
    columns: list[Column | str] = ["Split"] + [numeric(title) for title in titles]
    return Table(columns, sections=sections, title="Words", notes=notes)


def _present(stats: TaskStats) -> list[SplitStats]:
    return [split for split in stats.splits.values() if split is not None]


# ---------------------------------------------------------------- CSV


def _records(stats: TaskStats) -> Iterator[tuple[object, ...]]:
    """One row for each figure."""
    printed = {size.name: size.printed for size in stats.sizes}
    for size in stats.sizes:
        if size.name not in stats.splits:
            yield stats.task, size.name, "examples", None, size.size, size.printed
    for name, split in stats.splits.items():
        yield stats.task, name, "examples", None, split and split.examples, printed.get(name)
        if split is not None:
            yield from ((stats.task, *row, None) for row in _split_records(split))
    for name, categories in stats.categories.items():
        for category in categories:
            yield from ((stats.task, name, *row) for row in _category_records(category))


def _split_records(split: SplitStats) -> Iterator[tuple[object, ...]]:
    if split.labels is not None:
        yield from ((split.split, "label share", part.name, part.share) for part in split.labels.parts)
        if split.labels.mean is not None:
            yield split.split, "mean label", None, split.labels.mean
    for column, lengths in split.lengths.items():
        yield from (
            (split.split, f"{name} length", column, value) for name, value in lengths._asdict().items()
        )
    if split.overlap is not None:
        yield split.split, "overlap", None, split.overlap
    yield from ((split.split, name, None, value) for name, value in split.vocabulary._asdict().items())


def _category_records(category: Category) -> Iterator[tuple[object, ...]]:
    yield "category examples", category.name, category.examples, category.printed.get("count")
    for word, examples in (category.labels or {}).items():
        share = examples / category.examples if category.examples else None
        figure = category.printed.get(word)
        printed = None if figure is None else round(figure / 100, 3)
        yield f"category share of {word}", category.name, share, printed
