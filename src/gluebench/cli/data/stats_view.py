"""What `gluebench data stats` found, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from gluebench.benchmark import Benchmark, Task
from gluebench.cli.common.output import Output, Records, Section, Table, percent, plain
from gluebench.data.stats.describe import Category, SizeBeside, TaskStats, splits_called
from gluebench.data.stats.tally import Labels, SplitStats

ABSENT = "-"
DIFFERS, CUT = "*", "+"
"""Marks of printed figures that are not those of the files, or are cut off where they should be rounded."""
_FIELDS = ("task", "split", "measure", "item", "value", "printed")


def stats_output(suite: Benchmark, stats: Sequence[TaskStats]) -> Output:
    """Sizes as Table 1, diagnostic categories as Table 7, then labels, lengths and words of each split."""
    tasks = [suite.dataset(task.task) for task in stats]
    tables = [
        _sizes(tasks, stats),
        *_categories(stats),
        _labels(tasks, stats),
        _lengths(stats),
        _words(stats),
    ]
    data = {"benchmark": suite.name, "tasks": plain(stats)}
    return Output(
        data,
        tuple(table for table in tables if table.sections),
        Records(_FIELDS, tuple(row for task in stats for row in _records(task))),
    )


# ---------------------------------------------------------------- Table 1


def _sizes(tasks: Sequence[Task], stats: Sequence[TaskStats]) -> Table:
    beside = [(task, size) for task, counted in zip(tasks, stats, strict=True) for size in counted.sizes]
    columns = ["Corpus", "Train", "Dev", "Test"]
    if beside:
        columns = ["Corpus", "Train", "printed", "Dev", "Test", "printed"]
    rows = [
        (task.section, _size_row(task, counted, printed=bool(beside)))
        for task, counted in zip(tasks, stats, strict=True)
    ]
    sections = [
        Section(tuple(row for _, row in group), title) for title, group in groupby(rows, lambda row: row[0])
    ]
    return Table(
        tuple(columns),
        tuple(sections),
        title="Examples on disk" + (", and the sizes printed in Table 1" if beside else ""),
        right=frozenset(range(1, len(columns))),
        notes=tuple(_size_notes(beside)),
    )


def _size_row(task: Task, stats: TaskStats, *, printed: bool) -> tuple[str, ...]:
    train, dev, test = (_rows_of(task, stats, part) for part in ("train", "dev", "test"))
    if not printed:
        return (stats.task, train, dev, test)
    figures = {size.name: size.printed + _mark(size) for size in stats.sizes}
    return (stats.task, train, figures.get("train", ""), dev, test, figures.get("test", ""))


def _rows_of(task: Task, stats: TaskStats, part: str) -> str:
    """Rows of the split, or splits, that play a part: "9,796 + 9,847" for the test set of MNLI."""
    splits = [stats.splits[name] for name in splits_called(task, part)]
    if not any(splits):
        return ABSENT if splits else ""
    return " + ".join(ABSENT if split is None else f"{split.examples:,}" for split in splits)


def _mark(size: SizeBeside) -> str:
    return {"differs": DIFFERS, "cut": CUT}.get(size.agreement or "", "")


def _size_notes(beside: Sequence[tuple[Task, SizeBeside]]) -> Iterator[str]:
    for task, size in beside:
        if size.agreement == "differs":
            figures = f"{size.name} has {size.size:,} examples, printed is {size.printed}."
            yield " ".join((f"{DIFFERS} {task.name}: {figures}", *size.notes))
    if any(size.agreement == "cut" for _, size in beside):
        yield f"{CUT} Printed with its last digits cut off, not rounded."


# ---------------------------------------------------------------- Table 7


def _categories(stats: Sequence[TaskStats]) -> Iterator[Table]:
    for task in stats:
        for split, categories in task.categories.items():
            yield _category_table(f"{task.task} {split}", categories)


def _category_table(where: str, categories: Sequence[Category]) -> Table:
    printed = any(category.printed for category in categories)
    words = _words_in_print(categories[0])
    columns = ["Category", "Count"]
    for word in words:
        columns += [f"% {word}", "printed"] if printed else [f"% {word}"]
    columns[2:2] = ["printed"] if printed else []
    rows = tuple(_category_row(category, words, printed=printed) for category in categories)
    agree = [category.agrees for category in categories if category.agrees is not None]
    notes = ["An example with several phenomena of one category counts once in it."]
    if agree:
        notes.append(
            "Every figure is the one printed." if all(agree) else f"{DIFFERS} Not the figure that is printed."
        )
    return Table(
        tuple(columns),
        (Section(rows),),
        title=f"{where} by category" + (", and the figures printed in Table 7" if printed else ""),
        right=frozenset(range(1, len(columns))),
        notes=tuple(notes),
    )


def _words_in_print(category: Category) -> list[str]:
    """The label words, in the order of the printed table where there is one."""
    words = list(category.labels or ())
    printed = list(category.printed)
    return sorted(words, key=printed.index) if set(words) <= set(printed) else words


def _category_row(category: Category, words: Sequence[str], *, printed: bool) -> tuple[str, ...]:
    own = [category.examples, *(category.percentage(word) for word in words)]
    cells = [f"{category.examples:,}", *(_decimal(value) for value in own[1:])]
    if not printed:
        return (category.name, *cells)
    row = [category.name]
    for name, value, cell in zip(("count", *words), own, cells, strict=True):
        figure = category.printed.get(name)
        text = "" if figure is None else f"{figure:g}" if name == "count" else f"{figure:.1f}"
        row += [cell, text + DIFFERS * (figure is not None and figure != value)]
    return tuple(row)


def _decimal(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.1f}"


# ---------------------------------------------------------------- each split


def _labels(tasks: Sequence[Task], stats: Sequence[TaskStats]) -> Table:
    sections = [
        Section(
            tuple((f"  {split.split}", f"{split.examples:,}", _balance(split.labels)) for split in splits),
            name,
        )
        for task, counted in zip(tasks, stats, strict=True)
        if (splits := _present(counted)) and (name := _with_glosses(task))
    ]
    return Table(
        ("Split", "Examples", "Labels, % of the split"),
        tuple(sections),
        title="Label balance",
        right=frozenset({1}),
    )


def _with_glosses(task: Task) -> str:
    glosses = [f"{label.word} {label.gloss}" for label in task.labels if len(label.word) < 3 and label.gloss]
    return f"{task.name} ({', '.join(glosses)})" if glosses else task.name


def _balance(labels: Labels | None) -> str:
    if labels is None:
        return "hidden"
    parts = ", ".join(f"{part.name}: {percent(part.share)}" for part in labels.parts)
    return parts if labels.mean is None else f"{parts}; mean {labels.mean:.2f}"


def _lengths(tasks: Sequence[TaskStats]) -> Table:
    sections = [
        Section(
            tuple(
                (
                    f"  {split.split}",
                    column,
                    f"{lengths.mean:.1f}",
                    f"{lengths.median:g}",
                    f"{lengths.p95:,}",
                    f"{lengths.longest:,}",
                )
                for split in splits
                for column, lengths in split.lengths.items()
            ),
            stats.task,
        )
        for stats in tasks
        if (splits := _present(stats))
    ]
    return Table(
        ("Split", "Text", "Mean", "Median", "95th percentile", "Longest"),
        tuple(sections),
        title="Lengths in tokens (words and marks of punctuation)",
        right=frozenset({2, 3, 4, 5}),
    )


def _words(tasks: Sequence[TaskStats]) -> Table:
    sections = [
        Section(tuple(_word_row(split) for split in splits), stats.task)
        for stats in tasks
        if (splits := _present(stats))
    ]
    return Table(
        ("Split", "Tokens", "Types", "% types unseen", "% tokens unseen", "% overlap"),
        tuple(sections),
        title="Words",
        right=frozenset(range(1, 6)),
        notes=(
            "Types are the different tokens, letter case aside; unseen are those that train does not have.",
            "Overlap is the mean share of the words of two texts that stand in both (Jaccard).",
        ),
    )


def _word_row(split: SplitStats) -> tuple[str, ...]:
    words = split.vocabulary
    return (
        f"  {split.split}",
        f"{words.tokens:,}",
        f"{words.types:,}",
        percent(words.unseen_types),
        percent(words.unseen_tokens),
        percent(split.overlap),
    )


def _present(stats: TaskStats) -> list[SplitStats]:
    return [split for split in stats.splits.values() if split is not None]


# ---------------------------------------------------------------- CSV


def _records(stats: TaskStats) -> Iterator[tuple[object, ...]]:
    """Every figure as a row of its own."""
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
        yield (
            f"category share of {word}",
            category.name,
            share,
            None if figure is None else round(figure / 100, 3),
        )
