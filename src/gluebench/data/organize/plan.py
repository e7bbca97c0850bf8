"""Planning a benchmark from an organizer's folder: what to write, and what was assumed."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gluebench.benchmark.metrics import takes
from gluebench.data.errors import gather, gathered, refuse
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
    tasks, problems_of_tasks = gather(lambda files: _task(files, choices), task_files)
    problems = choices.unknown_tasks([files.name for files in task_files])
    problems += problems_of_tasks
    refuse(problems)
    plans: list[TaskPlan] = []
    for task in tasks:
        plans += _split_off_diagnostic(task)
    return Plan(name, choices.title or name, tuple(plans))


def _split_off_diagnostic(task: TaskPlan) -> Iterator[TaskPlan]:
    """The task and, if it has one, its diagnostic set as a task of its own."""
    splits = {split: split for split in task.splits if split != DIAGNOSTIC}
    yield replace(_with_splits(task, splits), phenomena=())
    if task.phenomena:
        yield replace(
            _with_splits(task, {"test": DIAGNOSTIC}),
            name=f"{task.name}-{DIAGNOSTIC}",
            labels=task.labels._replace(metrics=task.labels.metrics[:1]),
            notes=(),
        )


def _with_splits(task: TaskPlan, names: Mapping[str, str]) -> TaskPlan:
    """The task with some of its splits: new name to name."""
    formats = {new: task.formats[name] for new, name in names.items()}
    splits = {new: task.splits[name] for new, name in names.items()}
    ids = {new: task.ids[name] for new, name in names.items()}
    return replace(task, formats=formats, splits=splits, ids=ids)


def _task(files: TaskFiles, choices: Choices) -> TaskPlan:
    chosen = choices.of(files.name)
    tables = gathered(lambda _, path: read_split(path, encoding=choices.encoding), files.files)
    splits_only = {split: table for split, table in tables.items() if split != DIAGNOSTIC}
    columns = plan_columns(files.name, splits_only, chosen)
    tags = _diagnostic_tags(tables.get(DIAGNOSTIC), columns)
    labels = plan_labels(files.name, tables, columns.label, chosen)
    splits: dict[str, list[Example]] = {}
    ids: dict[str, Sequence[str]] = {}
    notes: list[str] = []
    problems: list[str] = []
    for split, table in tables.items():
        replacing = choices.replace_whitespace
        changes: list[str] = []
        ids[split] = _ids(table, columns)
        indices: Sequence[int] = range(len(table.rows))
        if not ids[split]:
            indices = _indices(table, columns, changes)
        splits[split] = _examples(
            table, columns, labels, indices, changes, replacing=replacing, problems=problems
        )
        notes += [f"{split}: {change}" for change in changes]
    refuse(problems)
    license = chosen.get("license")
    declared = next((table.declared for table in tables.values() if table.declared), None)
    if declared is not None:
        origin = declared.origin
        if origin.recipe:
            notes.append(f"Built by the recipe {origin.recipe} from {origin.location}.")
        license = license or declared.license
    plan = TaskPlan(
        files.name,
        columns,
        labels,
        license=license or NOT_STATED,
        formats={split: table.format for split, table in tables.items()},
        splits=splits,
        ids=ids,
        notes=(),
        given=frozenset(chosen),
        phenomena=tags,
    )
    notes += _assumptions(plan)
    return replace(plan, notes=tuple(notes))


def _diagnostic_tags(table: RawTable | None, columns: ColumnPlan) -> list[list[tuple[str, str]]]:
    """The phenomena of each row of a diagnostic set; none without one. Raises DataError without a column."""
    if table is None:
        return []
    needed = columns.inputs + (columns.label, PHENOMENA)
    refuse([f'{table.path}:1: has no column "{name}"' for name in needed if name not in table.header])
    return [_tags(cell) for cell in table.column(PHENOMENA)]


def _tags(cell: str) -> list[tuple[str, str]]:
    """The phenomena of a cell, as "Logic: Negation; Lexicon: Time"."""
    tags = []
    for tag in cell.split(";"):
        if tag.strip():
            coarse, _, fine = tag.strip().rpartition(":")
            tags.append((coarse.strip() or "Phenomena", fine.strip()))
    return tags


def _assumptions(task: TaskPlan) -> Iterator[str]:
    """Notes on properties that no option gave."""
    columns = task.columns
    labels = task.labels
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
    text_columns = []
    for name in columns.inputs:
        text_columns.append(_read_texts(table, name, notes, replacing=replacing, problems=problems))
    cells = table.column(columns.label) if columns.label in table.header else []
    values: Sequence[str | float | None] = cells
    if not any(cells):
        values = [None] * len(table.rows)
    elif labels.kind == "scores":
        values = [float(cell) for cell in cells]
    examples = []
    for index, texts, label in zip(indices, zip(*text_columns, strict=True), values, strict=True):
        inputs = dict(zip(columns.inputs, texts, strict=True))
        examples.append(Example(index, inputs, label))
    return examples


def _read_texts(
    table: RawTable, name: str, notes: list[str], *, replacing: bool, problems: list[str]
) -> list[str]:
    """The texts of one column; tabs and line ends are replaced by spaces, or are problems."""
    texts = table.column(name)
    with_breaks = [row for row, text in enumerate(texts) if _BREAKS.search(text)]
    if with_breaks and replacing:
        for row in with_breaks:
            texts[row] = _BREAKS.sub(" ", texts[row])
        notes.append(f"tabs or line ends in {len(with_breaks):,} texts of {name} were made spaces.")
        return texts
    fault = "holds a tab or a line end, which the benchmark's files cannot"
    advice = "fix it, or let --replace-whitespace make it a space"
    problems += [f"{table.path}:{table.lines[row]}: {name} {fault}; {advice}" for row in with_breaks]
    return texts


def _ids(table: RawTable, columns: ColumnPlan) -> Sequence[str]:
    """The values of the index column, if they can be ids and are not 0 to n - 1; else none."""
    name = columns.row_index
    if name is None or name not in table.header:
        return ()
    cells = table.column(name)
    usable = all(cell and cell == cell.strip() and cell.isprintable() for cell in cells)
    distinct = set(cells)
    if not usable or len(distinct) < len(cells):
        return ()
    if distinct == set(map(str, range(len(cells)))):  # they are indices
        return ()
    return cells


def _indices(table: RawTable, columns: ColumnPlan, notes: list[str]) -> Sequence[int]:
    """The file's indices if they are 0 to n - 1 in any order, else row numbers from 0."""
    rows = range(len(table.rows))
    name = columns.row_index
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
        rows = f"{len(examples):,} rows ({task.formats[split]})"
        if split == "test" and not task.labeled:
            rows += ", no labels"
        yield split, rows, "detected"
    columns = task.columns
    labels = task.labels
    index = "ids" if any(task.ids.values()) else "index column"
    decisions = [
        ("inputs", "input columns", ", ".join(columns.inputs)),
        ("label", "label column", columns.label),
        ("index", index, columns.row_index or NUMBERED),
        ("ignore", "left out", ", ".join(columns.ignored) or "nothing"),
        ("kind", "kind", labels.kind),
    ]
    if labels.score_range:
        low, high = labels.score_range
        decisions.append(("score_range", "range", f"{low:g} to {high:g}"))
    else:
        shares = [f"{word} {100 * labels.shares[word]:.1f} %" for word in labels.words]
        decisions.append(("words", "labels", ", ".join(shares)))
    metrics = [f"{name} of {labels.positive}" if takes(name, "positive") else name for name in labels.metrics]
    decisions.append(("metrics", "metrics", ", ".join(metrics)))
    for option, what, value in decisions:
        yield what, value, "told" if option in task.given else "detected"
    yield "license", task.license, "detected" if task.license == NOT_STATED else "told"
