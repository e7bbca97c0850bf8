"""Planning a benchmark from an organizer's folder: what to write, and what was assumed."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from gluebench.benchmark.metrics import takes
from gluebench.data.errors import DataError, gather, gathered, refuse
from gluebench.data.organize.detect import Choices, ColumnPlan, LabelPlan, number, plan_columns, plan_labels
from gluebench.data.organize.read import DIAGNOSTIC, RawTable, TaskFiles, find_tasks, read_split
from gluebench.data.tsv import Example

NOT_STATED = "not stated"
NUMBERED = "none: rows are numbered from 0"
PHENOMENA = "phenomena"
"""The column of a diagnostic set that has the phenomena of each row."""
_BREAKS = re.compile(r"[\t\r\n]+")


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task, ready to be written."""

    name: str
    columns: ColumnPlan
    labels: LabelPlan
    license: str
    formats: Mapping[str, str]
    """Split to the format of its file."""
    splits: Mapping[str, list[Example]]
    """Split to its examples; a label is None only in a test split without labels."""
    ids: Mapping[str, Sequence[str]]
    """Split to the ids of its examples by index; a split whose indices are 0 to n - 1 has none."""
    notes: tuple[str, ...]
    """What was assumed or changed."""
    given: frozenset[str]
    """The options that the organizer gave; the others were detected."""
    phenomena: Sequence[Sequence[tuple[str, str]]] = ()
    """Of a diagnostic set: the coarse and the fine phenomenon of each tag of each row."""

    @property
    def labeled(self) -> bool:
        """Whether the test split has labels."""
        return self.splits["test"][0].label is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """A benchmark, ready to be written."""

    name: str
    title: str
    tasks: tuple[TaskPlan, ...]


def make_plan(folders: Sequence[str | os.PathLike[str]], name: str, choices: Choices) -> Plan:
    """Read an organizer's folders. Raises DataError with the problems of all tasks."""
    task_files = find_tasks(folders, name)
    tasks, problems = gather(lambda files: _task(files, choices), task_files)
    if problems := [*choices.unknown_tasks([files.name for files in task_files]), *problems]:
        raise DataError(problems)
    return Plan(name, choices.title or name, tuple(chain.from_iterable(map(_apart, tasks))))


def _apart(task: TaskPlan) -> Iterator[TaskPlan]:
    """The task and, if it has one, its diagnostic set as a task of its own."""
    yield replace(_part(task, {split: split for split in task.splits if split != DIAGNOSTIC}), phenomena=())
    if task.phenomena:
        own, labels = _part(task, {"test": DIAGNOSTIC}), task.labels
        labels = labels._replace(metrics=labels.metrics[:1])
        yield replace(own, name=f"{task.name}-{DIAGNOSTIC}", labels=labels, notes=())


def _part(task: TaskPlan, names: Mapping[str, str]) -> TaskPlan:
    """The task with some of its splits: new name to name."""
    formats = {new: task.formats[name] for new, name in names.items()}
    splits = {new: task.splits[name] for new, name in names.items()}
    return replace(task, formats=formats, splits=splits, ids={new: task.ids[at] for new, at in names.items()})


def _task(files: TaskFiles, choices: Choices) -> TaskPlan:
    chosen = choices.of(files.name)
    tables = gathered(lambda _, path: read_split(path, encoding=choices.encoding), files.files)
    splits_only = {split: table for split, table in tables.items() if split != DIAGNOSTIC}
    columns = plan_columns(files.name, splits_only, chosen)
    own = tables.get(DIAGNOSTIC)
    needed = (*columns.inputs, columns.label, PHENOMENA)
    refuse([f'{own.path}:1: has no column "{name}"' for name in needed if own and name not in own.header])
    labels = plan_labels(files.name, tables, columns.label, chosen)
    splits: dict[str, list[Example]] = {}
    ids: dict[str, Sequence[str]] = {}
    notes: list[str] = []
    problems: list[str] = []
    for split, table in tables.items():
        replacing = choices.replace_whitespace
        ids[split], changed = _ids(table, columns), list[str]()
        indices = range(len(table.rows)) if ids[split] else _indices(table, columns, changed)
        splits[split] = _examples(
            table, columns, labels, indices, changed, replacing=replacing, problems=problems
        )
        notes += [f"{split}: {note}" for note in changed]
    refuse(problems)
    license = chosen.get("license")
    declared = next((table.declared for table in tables.values() if table.declared), None)
    if declared is not None:
        if recipe := declared.origin.recipe:
            notes.append(f"Built by the recipe {recipe} from {declared.origin.location}.")
        license = license or declared.license
    formats = {split: table.format for split, table in tables.items()}
    stated = license or NOT_STATED
    tags = [[*_tags(cell)] for cell in own.column(PHENOMENA)] if own else ()
    plan = TaskPlan(files.name, columns, labels, stated, formats, splits, ids, (), frozenset(chosen), tags)
    return replace(plan, notes=(*notes, *_assumed(plan)))


def _tags(cell: str) -> Iterator[tuple[str, str]]:
    """The phenomena of a cell, as "Logic: Negation; Lexicon: Time"."""
    for tag in filter(None, map(str.strip, cell.split(";"))):
        coarse, _, fine = tag.rpartition(":")
        yield coarse.strip() or "Phenomena", fine.strip()


def _assumed(task: TaskPlan) -> Iterator[str]:
    """Notes on properties that no option gave."""
    columns, labels = task.columns, task.labels
    if columns.ignored:
        yield f"Columns of the source files that were left out: {', '.join(columns.ignored)}."
    if labels.score_range and "score_range" not in task.given:
        low, high = labels.score_range
        yield f"The score range {low:g} to {high:g} was assumed from the scores that occur."
    if "metrics" not in task.given:
        yield f"The metrics were chosen for the labels at hand: {', '.join(labels.metrics)}."
    if labels.positive is not None and "positive" not in task.given:
        yield f'F1 counts "{labels.positive}" as positive because it is the rarer label.'
    if task.license == NOT_STATED:
        yield "The license was not stated."
    if not task.labeled:
        yield "The test labels were not given: the gold folder lacks this task."


def _examples(
    table: RawTable,
    columns: ColumnPlan,
    labels: LabelPlan,
    indices: Sequence[int],
    notes: list[str],
    *,
    replacing: bool,
    problems: list[str],
) -> list[Example]:
    """The rows of one table as examples, in file order; adds notes on what was changed."""
    texts = [_texts(table, name, notes, replacing=replacing, problems=problems) for name in columns.inputs]
    cells = table.column(columns.label) if columns.label in table.header else []
    values: Sequence[str | float | None] = cells
    if not any(cells):
        values = [None] * len(table.rows)
    elif labels.kind == "scores":
        values = [float(cell) for cell in cells]
    rows = zip(indices, zip(*texts, strict=True), values, strict=True)
    return [Example(at, dict(zip(columns.inputs, row, strict=True)), label) for at, row, label in rows]


def _texts(
    table: RawTable, name: str, notes: list[str], *, replacing: bool, problems: list[str]
) -> list[str]:
    """The texts of one column; tabs and line ends are replaced by spaces, or are problems."""
    texts = table.column(name)
    broken = [at for at, text in enumerate(texts) if _BREAKS.search(text)]
    if broken and replacing:
        for at in broken:
            texts[at] = _BREAKS.sub(" ", texts[at])
        notes.append(f"tabs or line ends in {len(broken):,} texts of {name} were made spaces.")
        return texts
    fault = "holds a tab or a line end, which the benchmark's files cannot"
    advice = "fix it, or let --replace-whitespace make it a space"
    problems += [f"{table.path}:{table.lines[at]}: {name} {fault}; {advice}" for at in broken]
    return texts


def _ids(table: RawTable, columns: ColumnPlan) -> Sequence[str]:
    """The values of the index column, if they can be ids and are not 0 to n - 1; else none."""
    name = columns.row_index
    cells = table.column(name) if name is not None and name in table.header else []
    usable = all(cell and cell == cell.strip() and cell.isprintable() for cell in cells)
    if not usable or len(set(cells)) < len(cells) or set(cells) == set(map(str, range(len(cells)))):
        return ()
    return cells


def _indices(table: RawTable, columns: ColumnPlan, notes: list[str]) -> Sequence[int]:
    """The file's indices if they are 0 to n - 1 in any order, else row numbers from 0."""
    rows, name = range(len(table.rows)), columns.row_index
    if name is None or name not in table.header:
        return rows
    values = [number(cell) for cell in table.column(name)]
    indices = [int(value) for value in values if value is not None and value.is_integer()]
    if len(indices) == len(rows) and set(indices) == set(rows):
        return indices
    notes.append(f'"{name}" has no id for every row, each once; rows are numbered from 0 in file order.')
    return rows


def summary(task: TaskPlan) -> Iterator[tuple[str, str, str]]:
    """Every property of a task: name, value, and "told" (by an option) or "detected"."""
    for split, examples in task.splits.items():
        hidden = "" if split != "test" or task.labeled else ", no labels"
        yield split, f"{len(examples):,} rows ({task.formats[split]}){hidden}", "detected"
    columns, labels = task.columns, task.labels
    shares = [f"{word} {100 * labels.shares[word]:.1f} %" for word in labels.words]
    names = [name + (f" of {labels.positive}" if takes(name, "positive") else "") for name in labels.metrics]
    decisions = [
        ("inputs", "input columns", ", ".join(columns.inputs)),
        ("label", "label column", columns.label),
        ("index", "ids" if any(task.ids.values()) else "index column", columns.row_index or NUMBERED),
        ("ignore", "left out", ", ".join(columns.ignored) or "nothing"),
        ("kind", "kind", labels.kind),
        ("score_range", "range", "{:g} to {:g}".format(*labels.score_range))
        if labels.score_range
        else ("words", "labels", ", ".join(shares)),
        ("metrics", "metrics", ", ".join(names)),
    ]
    for option, what, value in decisions:
        yield what, value, "told" if option in task.given else "detected"
    yield "license", task.license, "detected" if task.license == NOT_STATED else "told"
