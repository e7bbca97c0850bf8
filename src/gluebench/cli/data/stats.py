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
from gluebench.benchmark.tables import Column, Section, Table, names_and_numbers, numeric
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
    tasks = _describe_tasks(suite, names, data)
    emit(stats_output(suite, tasks), form)
    if plot is None:
        return
    if not any(any(task.splits.values()) for task in tasks):
        raise click.ClickException("Nothing was drawn: none of the splits is on disk.")
    from gluebench.data.stats.plot import draw

    draw(tasks, suite, plot)
    notices([f"drawn: {plot}"])


def _describe_tasks(suite: Benchmark, names: tuple[str, ...], folder: Path) -> list[TaskStats]:
    """The named tasks, else all of the benchmark and the auxiliary data on disk. Raises DataError."""
    from gluebench.data.errors import DataError
    from gluebench.data.home import task_folder
    from gluebench.data.stats.describe import describe, on_disk

    if names:
        named = dict.fromkeys(suite.dataset(name).name for name in names)
        tasks = [suite.dataset(name) for name in named]
        return [describe(task, on_disk(folder, suite, task)) for task in tasks]
    there = set()
    for task in suite.tasks + suite.auxiliary:
        with suppress(DataError):  # raised if the task has no folder
            task_folder(folder, suite, task)
            there.add(task.name)
    if not there:
        message = f"no data of {suite.name} at {folder}; get them with: gluebench data get {suite.name}, "
        raise DataError(message + "or name the folder that has them (--data or $GLUEBENCH_DATA)")
    described = []
    for task in suite.tasks:
        splits = on_disk(folder, suite, task) if task.name in there else dict.fromkeys(task.splits)
        described.append(describe(task, splits))
    for task in suite.auxiliary:
        if task.name in there:
            described.append(describe(task, on_disk(folder, suite, task)))
    return described


ABSENT = "-"
DIFFERS = "*"
"""Mark of a printed figure that differs from the files'."""
CUT = "+"
"""Mark of a printed figure that is truncated instead of rounded."""
_FIELDS = ("task", "split", "measure", "item", "value", "printed")


def stats_output(suite: Benchmark, stats: Sequence[TaskStats]) -> Output:
    """Sizes as in Table 1, diagnostic categories as in Table 7, then labels, lengths and words by split."""
    by_task = [(suite.dataset(task.task), task) for task in stats]
    tables = [_size_table(by_task)]
    rows: list[tuple[object, ...]] = []
    for task in stats:
        rows += _records(task)
        for split, categories in task.categories.items():
            tables.append(_category_table(f"{task.task} {split}", categories))
    tables += [_label_table(by_task), _length_table(stats), _vocabulary_table(stats)]
    with_rows = [table for table in tables if table.sections]
    return Output({"benchmark": suite.name, "tasks": plain(stats)}, with_rows, _FIELDS, rows)


# ---------------------------------------------------------------- Table 1


def _size_table(stats: Sequence[tuple[Task, TaskStats]]) -> Table:
    printed = any(counted.sizes for _, counted in stats)
    titles = ["Train", "Dev", "Test"]
    title = "Examples on disk"
    if printed:
        titles = ["Train", "printed", "Dev", "Test", "printed"]
        title += ", and the sizes printed in Table 1"
    sections = []
    for heading, group in groupby(stats, lambda entry: entry[0].section):
        rows = [_size_row(task, counted, printed=printed) for task, counted in group]
        sections.append(Section(rows, heading))

    notes = []
    any_cut = False
    for task, counted in stats:
        for size in counted.sizes:
            any_cut = any_cut or size.agreement == "cut"
            if size.agreement == "differs":
                note = f"{task.name}: {size.name} has {size.size:,} examples, printed is {size.printed}."
                notes.append(" ".join((DIFFERS, note) + size.notes))
    if any_cut:
        notes.append(f"{CUT} Printed with its last digits cut off, not rounded.")
    return Table(names_and_numbers("Corpus", titles), sections=sections, title=title, notes=notes)


def _size_row(task: Task, stats: TaskStats, *, printed: bool) -> tuple[str, ...]:
    from gluebench.data.stats.describe import splits_called

    marks = {"differs": DIFFERS, "cut": CUT}
    figures = {size.name: size.printed + marks.get(size.agreement or "", "") for size in stats.sizes}
    cells = [stats.task]
    for part in ("train", "dev", "test"):
        splits = [stats.splits[name] for name in splits_called(task, part)]
        cell = ABSENT if splits else ""
        if any(splits):  # "9,796 + 9,847" for the test set of MNLI
            cell = " + ".join(ABSENT if split is None else f"{split.examples:,}" for split in splits)
        cells.append(cell)
        if printed and part != "dev":
            cells.append(figures.get(part, ""))
    return tuple(cells)


# ---------------------------------------------------------------- Table 7


def _category_table(where: str, categories: Sequence[Category]) -> Table:
    printed = any(category.printed for category in categories)
    words = list(categories[0].labels or ())
    order = list(categories[0].printed)
    if set(words) <= set(order):
        words.sort(key=order.index)
    titles = []
    for title in ["Count"] + [f"% {word}" for word in words]:
        titles.append(title)
        if printed:
            titles.append("printed")
    rows = [_category_row(category, words, printed=printed) for category in categories]
    agree = [category.agrees for category in categories if category.agrees is not None]
    notes = ["An example with several phenomena of one category counts once in it."]
    if agree and all(agree):
        notes.append("Every figure is the one printed.")
    elif agree:
        notes.append(f"{DIFFERS} Not the figure that is printed.")
    title = f"{where} by category"
    if printed:
        title += ", and the figures printed in Table 7"
    return Table(names_and_numbers("Category", titles), rows, title=title, notes=notes)


def _category_row(category: Category, words: Sequence[str], *, printed: bool) -> tuple[str, ...]:
    row = [category.name, f"{category.examples:,}"]
    if printed:
        row.append(_printed_figure(category, "count", category.examples))
    for word in words:
        percentage = category.percentage(word)
        row.append(ABSENT if percentage is None else f"{percentage:.1f}")
        if printed:
            row.append(_printed_figure(category, word, percentage))
    return tuple(row)


def _printed_figure(category: Category, name: str, value: float | None) -> str:
    """The figure that Table 7 prints, with a mark if it is not this value."""
    figure = category.printed.get(name)
    if figure is None:
        return ""
    text = f"{figure:g}" if name == "count" else f"{figure:.1f}"
    return text if figure == value else text + DIFFERS


# ---------------------------------------------------------------- each split


def _label_table(stats: Sequence[tuple[Task, TaskStats]]) -> Table:
    sections = []
    for task, counted in stats:
        rows = []
        for split in _present(counted):
            rows.append((f"  {split.split}", f"{split.examples:,}", _balance(split.labels)))
        short = [label for label in task.labels if len(label.word) < 3 and label.gloss]
        heading = task.name
        if short:
            glosses = ", ".join(f"{label.word} {label.gloss}" for label in short)
            heading = f"{task.name} ({glosses})"
        if rows:
            sections.append(Section(rows, heading))
    columns = ("Split", numeric("Examples"), "Labels, % of the split")
    return Table(columns, sections=sections, title="Label balance")


def _balance(labels: Labels | None) -> str:
    if labels is None:
        return "hidden"
    if not labels.parts:
        return "given"
    balance = ", ".join(f"{part.name}: {percent(part.share)}" for part in labels.parts)
    if labels.mean is not None:
        balance += f"; mean {labels.mean:.2f}"
    return balance


def _length_table(tasks: Sequence[TaskStats]) -> Table:
    sections = []
    for stats in tasks:
        rows = []
        for split in _present(stats):
            for column, lengths in split.lengths.items():
                row = (
                    f"  {split.split}",
                    column,
                    f"{lengths.mean:.1f}",
                    f"{lengths.median:g}",
                    f"{lengths.p95:,}",
                    f"{lengths.longest:,}",
                )
                rows.append(row)
        if rows:
            sections.append(Section(rows, stats.task))
    columns: list[Column | str] = ["Split", "Text"]
    columns += [numeric(title) for title in ("Mean", "Median", "95th percentile", "Longest")]
    title = "Lengths in tokens (words and marks of punctuation)"
    return Table(columns, sections=sections, title=title)


def _vocabulary_table(tasks: Sequence[TaskStats]) -> Table:
    sections = []
    for stats in tasks:
        rows = []
        for split in _present(stats):
            words = split.vocabulary
            row = (
                f"  {split.split}",
                f"{words.tokens:,}",
                f"{words.types:,}",
                percent(words.unseen_types),
                percent(words.unseen_tokens),
                percent(split.overlap),
            )
            rows.append(row)
        if rows:
            sections.append(Section(rows, stats.task))
    notes = [
        "Types are the different tokens, letter case aside; unseen are those that train does not have.",
        "Overlap is the mean share of the words of two texts that stand in both (Jaccard).",
    ]
    titles = ("Tokens", "Types", "% types unseen", "% tokens unseen", "% overlap")
    columns = names_and_numbers("Split", titles)
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
            for measure, item, value in _split_records(split):
                yield stats.task, name, measure, item, value, None
    for name, categories in stats.categories.items():
        for category in categories:
            for measure, item, value, figure in _category_records(category):
                yield stats.task, name, measure, item, value, figure


def _split_records(split: SplitStats) -> Iterator[tuple[str, str | None, object]]:
    """Measure, item and value of each figure of a split but its number of examples."""
    if split.labels is not None:
        for part in split.labels.parts:
            yield "label share", part.name, part.share
        if split.labels.mean is not None:
            yield "mean label", None, split.labels.mean
    for column, lengths in split.lengths.items():
        for name, value in lengths._asdict().items():
            yield f"{name} length", column, value
    if split.overlap is not None:
        yield "overlap", None, split.overlap
    for name, value in split.vocabulary._asdict().items():
        yield name, None, value


def _category_records(category: Category) -> Iterator[tuple[str, str, object, float | None]]:
    """Measure, category, value and printed figure."""
    yield "category examples", category.name, category.examples, category.printed.get("count")
    for word, examples in (category.labels or {}).items():
        share = examples / category.examples if category.examples else None
        printed = category.printed.get(word)
        if printed is not None:
            printed = round(printed / 100, 3)
        yield f"category share of {word}", category.name, share, printed
