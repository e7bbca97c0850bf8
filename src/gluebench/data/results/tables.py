"""Read and write tables of items x systems; read labels and predictions, one line for each item."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark.extras import optional
from gluebench.benchmark.tables import csv_lines
from gluebench.data.errors import DataError
from gluebench.data.organize.read import read_table
from gluebench.data.results.parts import Answer, Part, Row, Settings, first_few, label_of, part_of, score_of
from gluebench.scoring.table import ScoredTable

ITEM, TASK, CLUSTER, GOLD = "item", "task", "cluster", "gold"
CATEGORY = "category"
SYSTEM, SCORE = "system", "score"
ITEM_NAMES = (ITEM, "id", "idx", "index", "pairid", "sample_id", "instance_id", "doc_id")
ANSWER_NAMES = ("label", "labels", "prediction", "gold_label", "score", "target", "answer")
"""Columns that hold the answers of one system, which the file then names."""
USAGE = "usage"
"""Column of a Kaggle solution: Public, Private or Ignored."""


class Sheet(NamedTuple):
    """A table of text."""

    path: Path
    columns: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[int]
    """The line of the file of each."""

    def place(self, *names: str) -> int | None:
        """The position of the first column of one of these names, letter case aside."""
        folded = [column.casefold() for column in self.columns]
        return next((folded.index(name) for name in names if name in folded), None)

    def item_place(self) -> int:
        """The position of the items' names; without a column of a known name, the first but usage."""
        place, usage = self.place(*ITEM_NAMES), self.place(USAGE)
        return int(usage == 0) if place is None else place

    def categories(self) -> dict[str, int]:
        """Name of a category to its position."""
        names = {column: column.partition(":")[2] or CATEGORY for column in self.columns}
        return {
            names[column]: at
            for at, column in enumerate(self.columns)
            if column == CATEGORY or column.startswith(f"{CATEGORY}:")
        }


def read_sheet(path: Path, data: bytes) -> Sheet:
    """A CSV or TSV with a header, or a Parquet file. Raises DataError."""
    table = read_table(path, data=None if path.suffix == ".parquet" else data)
    if len(table.header) < 2:
        raise DataError(f"{path}:1: expected several columns, separated by commas, semicolons or tabs")
    return Sheet(path, table.header, table.rows, table.lines)


def scored_sheet(sheet: Sheet, settings: Settings, gold_column: str = "") -> Iterator[Part]:
    """The systems of a table: long with the columns system and score, else a column for each system.

    A table with a column task and none for items is over tasks. With gold labels, in the settings or in a
    column gold, the cells are labels; else they are scores. If the gold labels are in several columns, those
    of the same names are read, and each is a task.
    """
    if settings.several and not gold_column:
        yield from _by_column(sheet, settings, settings.gold or {})
        return
    task, gold = sheet.place(TASK), sheet.place(GOLD)
    over_tasks = task is not None and sheet.place(*ITEM_NAMES) is None
    item = task if over_tasks and task is not None else sheet.item_place()
    cells, unread = _cells_of(sheet, item, settings)
    answers = _answers_of(sheet, item, settings, gold_column)
    has_gold = gold is not None or settings.gold is not None
    parts: dict[tuple[str, str], list[tuple[str, Row | None]]] = {}
    for number, line in zip(sheet.numbers, sheet.lines, strict=True):
        answer = answers(line)
        for name, at in cells(line):
            of_task = "" if task is None or over_tasks else line[task]
            cell, row = line[at].strip(), None
            if cell and answer is not None:
                at_line = f"{sheet.path}:{number}"
                value = settings.right(label_of(cell), answer, at=at_line) if has_gold else score_of(cell)
                if value is None:
                    raise DataError(
                        f"{at_line}: {cell!r} as the score of {name}; expected a number up to "
                        "1e50, or right or wrong. For labels, give the right ones too (--gold FILE, or a "
                        "column gold)"
                    )
                row = Row(value, "", answer.cluster, answer.categories)
            parts.setdefault((name, of_task), []).append((line[item], row))
    hint = ""
    if sheet.place(*ITEM_NAMES, TASK) is None:
        hint = f". Items are named by the column {sheet.columns[item]}; if another names them, call it {ITEM}"
    for (name, of_task), items in parts.items():
        part = part_of(sheet.path, name, of_task, items, "without a score or gold label", hint=hint)
        notes = [*unread, *(f"{name}: {note}" for note in part.notes)]
        unread = []
        yield part._replace(notes=notes, unit="tasks" if over_tasks else "items")


def _by_column(sheet: Sheet, settings: Settings, gold: Iterable[str]) -> Iterator[Part]:
    """The predictions of one system in the columns of the gold labels, each a task. Raises DataError."""
    item = sheet.item_place()
    places = {name: at for name in gold if (at := sheet.place(name.casefold())) is not None}
    if not places:
        raise DataError(
            f"{sheet.path}: expected columns named as those of the gold labels: {', '.join(gold)}"
        )
    for column, at in places.items():
        lines = [(line[item], line[at]) for line in sheet.lines]
        own = Sheet(sheet.path, (ITEM, ANSWER_NAMES[0]), lines, sheet.numbers)
        yield from (part._replace(task=column) for part in scored_sheet(own, settings, column))


def _cells_of(
    sheet: Sheet, item: int, settings: Settings
) -> tuple[Callable[[Sequence[str]], Iterable[tuple[str, int]]], list[str]]:
    """A function of a line: the names of its systems, and the positions of their cells; and notes.

    Raises DataError.
    """
    system, score = sheet.place(SYSTEM), sheet.place(SCORE)
    if system is not None and score is not None:
        return lambda line: [(line[system], score)], []
    about = {item, *map(sheet.place, (TASK, CLUSTER, GOLD, USAGE)), *sheet.categories().values()}
    columns = {at: name for at, name in enumerate(sheet.columns) if name and at not in about}
    if not columns:
        raise DataError(f"{sheet.path}: expected a column for each system, or the columns system and score")
    gold = [] if settings.gold is None or settings.several else [*settings.gold]
    answers = _answer_column(sheet, columns, gold)
    notes = []
    if answers is None and gold and len(columns) > 1:
        notes = [
            f"{sheet.path.name}: each of the columns {first_few(columns.values())} is read as a system; if "
            f"one has the answers, name it {ANSWER_NAMES[0]}"
        ]
    elif answers is not None or gold:
        only = next(iter(columns)) if answers is None else answers
        if others := [name for at, name in columns.items() if at != only]:
            notes = [f"{sheet.path.name}: only the column {columns[only]} is read, not {first_few(others)}"]
        columns = {only: stem(sheet.path)}
    names = [(name, at) for at, name in columns.items()]
    return lambda line: names, notes


def _answer_column(sheet: Sheet, columns: Mapping[int, str], gold: Sequence[str]) -> int | None:
    """The column of the file's only system: that of the gold labels' name, else of a usual name of answers.

    Raises DataError if there are several.
    """
    labels = [at for at, name in columns.items() if name.casefold() in map(str.casefold, gold)]
    answers = labels or [at for at, name in columns.items() if name.casefold() in ANSWER_NAMES]
    if len(answers) > 1:
        raise DataError(
            f"{sheet.path}: expected one column of answers, not {first_few(columns[at] for at in answers)}. "
            f"Leave out the others, and name that of right labels {GOLD}"
        )
    return answers[0] if answers else None


def _answers_of(
    sheet: Sheet, item: int, settings: Settings, column: str
) -> Callable[[Sequence[str]], Answer | None]:
    """A function of a line: what is known of its item but the scores; None if its gold label is missing."""
    gold, cluster, categories = sheet.place(GOLD), sheet.place(CLUSTER), sheet.categories()
    answers = None if settings.gold is None else settings.answers(column)
    if gold is not None:
        settings.require_labels(GOLD, {label_of(line[gold]) for line in sheet.lines} - {""})

    def answer(line: Sequence[str]) -> Answer | None:
        known = Answer(frozenset()) if answers is None else answers.get(line[item])
        if gold is not None:
            label = label_of(line[gold])
            known = Answer(frozenset([label]), categories={GOLD: label}) if label else None
        if known is None or (cluster is None and not categories):
            return known
        group = known.cluster if cluster is None else line[cluster]
        own = {column: line[at] for column, at in categories.items()}
        return known._replace(cluster=group, categories={**known.categories, **own})

    return answer


def stem(path: Path) -> str:
    """The name of a file without its suffixes."""
    return path.name.removesuffix(".gz").rpartition(".")[0]


def gold_of_sheet(sheet: Sheet) -> dict[str, dict[str, Answer]]:
    """Column to item to its gold label, of a table such as a Kaggle solution.

    Items of usage Ignored and without a label are left out. A table with usage may have several columns of
    labels, if none of them is named so. Raises DataError.
    """
    item, cluster, usage = sheet.item_place(), sheet.place(CLUSTER), sheet.place(USAGE)
    categories = sheet.categories() | ({USAGE: usage} if usage is not None else {})
    about = {item, cluster, *categories.values()}
    rest = [at for at in range(len(sheet.columns)) if at not in about]
    label = sheet.place(GOLD, *ANSWER_NAMES)
    if label is None and len(rest) != 1 and (usage is None or not rest):
        raise DataError(
            f"{sheet.path}: expected one column of gold labels, named {GOLD} or label, or a Kaggle solution "
            f"with a column {USAGE}; there are {', '.join(sheet.columns[at] for at in rest) or 'none'}"
        )
    places = rest if label is None else [label]
    columns: dict[str, dict[str, Answer]] = {sheet.columns[at]: {} for at in places}
    seen = set[str]()
    for number, line in zip(sheet.numbers, sheet.lines, strict=True):
        if line[item] in seen:
            raise DataError(f"{sheet.path}:{number}: the item {line[item]} is there twice; expected it once")
        seen.add(line[item])
        if usage is not None and line[usage].casefold() == "ignored":
            continue
        about_item = {column: line[at] for column, at in categories.items()}
        for at in places:
            if name := label_of(line[at]):
                group = "" if cluster is None else line[cluster]
                columns[sheet.columns[at]][line[item]] = Answer(
                    frozenset([name]), group, {GOLD: name, **about_item}
                )
    return columns


# ---------------------------------------------------------------- lines of JSON, as SuperGLUE's


def labels_of_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, list[str]]]:
    """Item, cluster and labels of each line; the nested ones of MultiRC and ReCoRD item by item."""
    for number, line in enumerate(lines, 1):
        name = next((str(line[key]) for key in ITEM_NAMES if key in line), "")
        label, passage = next((key for key in ANSWER_NAMES if key in line), None), line.get("passage")
        if isinstance(passage, Mapping) and "questions" in passage:
            for question in passage["questions"]:
                for answer in question["answers"]:
                    item = f"{name}/{question['idx']}/{answer['idx']}"
                    yield item, name, [label_of(answer["label"])]
        elif "qas" in line:
            for query in line["qas"]:
                yield str(query["idx"]), name, [label_of(answer["text"]) for answer in query["answers"]]
        elif name and label is not None:
            labels = line[label] if isinstance(line[label], list) else [line[label]]
            yield name, "", [label_of(each) for each in labels]
        else:
            raise DataError(f"{path}:{number}: expected the keys idx and label")


def gold_of_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> dict[str, Answer]:
    """Item to its gold labels; any of several is right."""
    return {
        item: Answer(frozenset(labels), cluster, {GOLD: labels[0]} if len(labels) == 1 else {})
        for item, cluster, labels in labels_of_lines(path, lines)
    }


def predicted_lines(path: Path, lines: Sequence[Mapping[str, Any]], settings: Settings) -> Iterator[Part]:
    """The predictions of one system, one for each line, compared with the gold labels of the settings."""
    if settings.gold is None:
        raise DataError(f"{path}: predictions, whose gold labels are needed too (--gold FILE; gold=...)")
    if settings.several:
        raise DataError(f"{path}: one prediction a line, and gold labels in {len(settings.gold)} columns")
    gold, items = settings.answers(), list[tuple[str, Row | None]]()
    for item, _, labels in labels_of_lines(path, lines):
        answer = gold.get(item)
        right = answer and settings.right(labels[0], answer, at=f"{path}, item {item}")
        row = answer and Row(right or 0.0, "", answer.cluster, answer.categories)
        items.append((item, row))
    yield part_of(path, stem(path), "", items, "without a gold label")


# ---------------------------------------------------------------- writing


def write_table(table: ScoredTable, path: str | os.PathLike[str]) -> None:
    """Write a wide table, as CSV, TSV or Parquet by the end of the name (docs/reference/scored-table.md).

    Raises DataError for another suffix or a system named like another column, ImportError without pyarrow.
    """
    path = Path(path)
    columns: dict[str, Sequence[object]] = {}
    if table.unit == "tasks":
        columns[TASK] = table.items
    else:
        columns |= {TASK: table.tasks} if table.tasks else {}
        columns[ITEM] = table.items
    columns |= {CLUSTER: table.clusters} if table.clusters else {}
    columns |= {f"{CATEGORY}:{name}": values for name, values in table.categories.items()}
    reserved = {*columns, *ITEM_NAMES, *ANSWER_NAMES, TASK, CLUSTER, GOLD, USAGE, SYSTEM, CATEGORY}
    if clash := [system for system in table.scores if system.casefold() in reserved]:
        raise DataError(
            f"{path}: a system is named {clash[0]}, as a column is; name it otherwise (NAME=FILE)"
        )
    columns |= {system: [f"{score:.17g}" for score in scores] for system, scores in table.scores.items()}
    if path.suffix == ".parquet":
        parquet = optional("pyarrow.parquet", "Writing Parquet", "'gluebench[data]'")
        arrow = optional("pyarrow", "Writing Parquet", "'gluebench[data]'")
        parquet.write_table(arrow.table({name: list(of) for name, of in columns.items()}), path)
    elif path.suffix in (".csv", ".tsv"):
        delimiter = "," if path.suffix == ".csv" else "\t"
        rows = zip(*columns.values(), strict=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(list(columns), rows, delimiter=delimiter))
    else:
        raise DataError(f"{path}: expected a name that ends in .csv, .tsv or .parquet")
