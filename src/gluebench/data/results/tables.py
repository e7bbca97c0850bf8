"""Read and write tables of items x systems; read labels and predictions, one line for each item."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark.extras import optional
from gluebench.benchmark.tables import csv_lines
from gluebench.data.errors import DataError
from gluebench.data.organize.read import read_table
from gluebench.data.results.parts import (
    GoldAnswer,
    ItemScore,
    Settings,
    SystemScores,
    first_few,
    label_of,
    part_of,
    score_of,
)
from gluebench.scoring.table import ScoredTable

ITEM = "item"
TASK = "task"
CLUSTER = "cluster"
GOLD = "gold"
CATEGORY = "category"
SYSTEM = "system"
SCORE = "score"
ITEM_NAMES = (ITEM, "id", "idx", "index", "pairid", "sample_id", "instance_id", "doc_id")
ANSWER_NAMES = ("label", "labels", "prediction", "gold_label", "score", "target", "answer")
"""Columns that hold the answers of one system, which the file then names."""
USAGE = "usage"
"""Column of a Kaggle solution: Public, Private or Ignored."""


class TextTable(NamedTuple):
    """A table of text."""

    path: Path
    columns: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[int]
    """The line of the file of each."""

    def place(self, *names: str) -> int | None:
        """The position of the first column of one of these names, letter case aside."""
        folded = [column.casefold() for column in self.columns]
        for name in names:
            if name in folded:
                return folded.index(name)
        return None

    def item_place(self) -> int:
        """The position of the items' names; without a column of a known name, the first but usage."""
        place = self.place(*ITEM_NAMES)
        if place is not None:
            return place
        return 1 if self.place(USAGE) == 0 else 0

    def categories(self) -> dict[str, int]:
        """Name of a category to its position."""
        places = {}
        for at, column in enumerate(self.columns):
            kind, _, name = column.partition(":")
            if kind == CATEGORY:
                places[name or CATEGORY] = at
        return places


def read_text_table(path: Path, data: bytes) -> TextTable:
    """A CSV or TSV with a header, or a Parquet file. Raises DataError."""
    table = read_table(path) if path.suffix == ".parquet" else read_table(path, data=data)
    if len(table.header) < 2:
        raise DataError(f"{path}:1: expected several columns, separated by commas, semicolons or tabs")
    return TextTable(path, table.header, table.rows, table.lines)


def read_scored(table: TextTable, settings: Settings, gold_column: str = "") -> Iterator[SystemScores]:
    """The systems of a table: long with the columns system and score, else a column for each system.

    A table with a column task and none for items is over tasks. With gold labels, in the settings or in a
    column gold, the cells are labels; else they are scores. If the gold labels are in several columns, those
    of the same names are read, and each is a task.
    """
    if settings.several and not gold_column:
        yield from _by_column(table, settings, settings.gold or {})
        return
    task_place = table.place(TASK)
    item_place = table.item_place()
    over_tasks = False
    if task_place is not None and table.place(*ITEM_NAMES) is None:
        over_tasks = True
        item_place = task_place
        task_place = None
    cells, notes_of_columns = _cells_of(table, item_place, settings)
    answers = _answers_of(table, item_place, settings, gold_column)
    has_gold = settings.gold is not None or table.place(GOLD) is not None

    items_of_parts: dict[tuple[str, str], list[tuple[str, ItemScore | None]]] = {}
    for number, line in zip(table.numbers, table.lines, strict=True):
        answer = answers(line)
        task = "" if task_place is None else line[task_place]
        for system, at in cells(line):
            cell = line[at].strip()
            row = None
            if cell and answer is not None:
                place = f"{table.path}:{number}"
                if has_gold:
                    score = settings.right(label_of(cell), answer, at=place)
                else:
                    score = _score_of_cell(cell, system, place)
                row = ItemScore(score, "", answer.cluster, answer.categories)
            items_of_parts.setdefault((system, task), []).append((line[item_place], row))

    hint = ""
    if table.place(*ITEM_NAMES, TASK) is None:
        named_by = table.columns[item_place]
        hint = f". Items are named by the column {named_by}; if another names them, call it {ITEM}"
    for (system, task), items in items_of_parts.items():
        part = part_of(table.path, system, task, items, "without a score or gold label", hint=hint)
        # What is said of the columns is said once, with the first system.
        notes = notes_of_columns + [f"{system}: {note}" for note in part.notes]
        notes_of_columns = []
        yield part._replace(notes=notes, unit="tasks" if over_tasks else "items")


def _score_of_cell(cell: str, system: str, place: str) -> float:
    """The score that a cell has. Raises DataError, with the place, for anything else."""
    score = score_of(cell)
    if score is None:
        raise DataError(
            f"{place}: {cell!r} as the score of {system}; expected a number up to "
            "1e50, or right or wrong. For labels, give the right ones too (--gold FILE, or a "
            "column gold)"
        )
    return score


def _by_column(table: TextTable, settings: Settings, gold: Iterable[str]) -> Iterator[SystemScores]:
    """The predictions of one system in the columns of the gold labels, each a task. Raises DataError."""
    item_place = table.item_place()
    places = {}
    for name in gold:
        place = table.place(name.casefold())
        if place is not None:
            places[name] = place
    if not places:
        raise DataError(
            f"{table.path}: expected columns named as those of the gold labels: {', '.join(gold)}"
        )
    for column, place in places.items():
        lines = [(line[item_place], line[place]) for line in table.lines]
        own = TextTable(table.path, (ITEM, ANSWER_NAMES[0]), lines, table.numbers)
        for part in read_scored(own, settings, column):
            yield part._replace(task=column)


def _cells_of(
    table: TextTable, item_place: int, settings: Settings
) -> tuple[Callable[[Sequence[str]], Iterable[tuple[str, int]]], list[str]]:
    """A function of a line: the names of its systems, and the positions of their cells; and notes.

    Raises DataError.
    """
    system_place = table.place(SYSTEM)
    score_place = table.place(SCORE)
    if system_place is not None and score_place is not None:
        return lambda line: [(line[system_place], score_place)], []

    others = {item_place, *table.categories().values()}
    for name in (TASK, CLUSTER, GOLD, USAGE):
        place = table.place(name)
        if place is not None:
            others.add(place)
    columns = {at: name for at, name in enumerate(table.columns) if name and at not in others}
    if not columns:
        raise DataError(f"{table.path}: expected a column for each system, or the columns system and score")

    gold: list[str] = []
    if settings.gold is not None and not settings.several:
        gold = list(settings.gold)
    answers = _answer_column(table, columns, gold)
    notes = []
    if answers is None and gold and len(columns) > 1:
        notes.append(
            f"{table.path.name}: each of the columns {first_few(columns.values())} is read as a system; if "
            f"one has the answers, name it {ANSWER_NAMES[0]}"
        )
    elif answers is not None or gold:
        only = min(columns) if answers is None else answers
        unread = [name for at, name in columns.items() if at != only]
        if unread:
            notes.append(
                f"{table.path.name}: only the column {columns[only]} is read, not {first_few(unread)}"
            )
        columns = {only: stem(table.path)}
    cells = [(name, at) for at, name in columns.items()]
    return lambda line: cells, notes


def _answer_column(table: TextTable, columns: Mapping[int, str], gold: Sequence[str]) -> int | None:
    """The column of the file's only system: that of the gold labels' name, else of a usual name of answers.

    Raises DataError if there are several.
    """
    names_of_gold = [name.casefold() for name in gold]
    answers = [at for at, name in columns.items() if name.casefold() in names_of_gold]
    if not answers:
        answers = [at for at, name in columns.items() if name.casefold() in ANSWER_NAMES]
    if len(answers) > 1:
        names = first_few(columns[at] for at in answers)
        raise DataError(
            f"{table.path}: expected one column of answers, not {names}. "
            f"Leave out the others, and name that of right labels {GOLD}"
        )
    return answers[0] if answers else None


def _answers_of(
    table: TextTable, item_place: int, settings: Settings, column: str
) -> Callable[[Sequence[str]], GoldAnswer | None]:
    """A function of a line: what is known of its item but the scores; None if its gold label is missing."""
    gold_place = table.place(GOLD)
    cluster_place = table.place(CLUSTER)
    places_of_categories = table.categories()
    answers: Mapping[str, GoldAnswer] | None = None
    if settings.gold is not None:
        answers = settings.answers(column)
    if gold_place is not None:
        labels = {label_of(line[gold_place]) for line in table.lines}
        settings.require_labels(GOLD, labels - {""})

    def answer(line: Sequence[str]) -> GoldAnswer | None:
        known: GoldAnswer | None = GoldAnswer(frozenset())
        if gold_place is not None:
            label = label_of(line[gold_place])
            known = GoldAnswer(frozenset([label]), categories={GOLD: label}) if label else None
        elif answers is not None:
            known = answers.get(line[item_place])
        if known is None or (cluster_place is None and not places_of_categories):
            return known
        categories = dict(known.categories)
        for name, at in places_of_categories.items():
            categories[name] = line[at]
        cluster = known.cluster if cluster_place is None else line[cluster_place]
        return known._replace(cluster=cluster, categories=categories)

    return answer


def stem(path: Path) -> str:
    """The name of a file without its suffixes."""
    return path.name.removesuffix(".gz").rpartition(".")[0]


def gold_of_table(table: TextTable) -> dict[str, dict[str, GoldAnswer]]:
    """Column to item to its gold label, of a table such as a Kaggle solution.

    Items of usage Ignored and without a label are left out. A table with usage may have several columns of
    labels, if none of them is named so. Raises DataError.
    """
    item_place = table.item_place()
    cluster_place = table.place(CLUSTER)
    usage_place = table.place(USAGE)
    categories = table.categories()
    if usage_place is not None:
        categories[USAGE] = usage_place

    columns: dict[str, dict[str, GoldAnswer]] = {}
    places = _label_places(table, {item_place, cluster_place, *categories.values()})
    for at in places:
        columns[table.columns[at]] = {}
    seen = set[str]()
    for number, line in zip(table.numbers, table.lines, strict=True):
        item = line[item_place]
        if item in seen:
            raise DataError(f"{table.path}:{number}: the item {item} is there twice; expected it once")
        seen.add(item)
        if usage_place is not None and line[usage_place].casefold() == "ignored":
            continue
        cluster = "" if cluster_place is None else line[cluster_place]
        of_item = {column: line[at] for column, at in categories.items()}
        for at in places:
            label = label_of(line[at])
            if label:
                answer = GoldAnswer(frozenset([label]), cluster, {GOLD: label} | of_item)
                columns[table.columns[at]][item] = answer
    return columns


def _label_places(table: TextTable, others: Set[int | None]) -> list[int]:
    """The positions of gold labels: one of a usual name, or all but these others. Raises DataError."""
    place = table.place(GOLD, *ANSWER_NAMES)
    if place is not None:
        return [place]
    rest = [at for at in range(len(table.columns)) if at not in others]
    if not rest or (len(rest) > 1 and table.place(USAGE) is None):
        there = ", ".join(table.columns[at] for at in rest) or "none"
        raise DataError(
            f"{table.path}: expected one column of gold labels, named {GOLD} or label, or a Kaggle solution "
            f"with a column {USAGE}; there are {there}"
        )
    return rest


# ---------------------------------------------------------------- lines of JSON, as SuperGLUE's


def labels_of_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, list[str]]]:
    """Item, cluster and labels of each line; the nested ones of MultiRC and ReCoRD item by item."""
    for number, line in enumerate(lines, 1):
        item_key = _first_key(line, ITEM_NAMES)
        name = str(line[item_key]) if item_key else ""
        label_key = _first_key(line, ANSWER_NAMES)
        passage = line.get("passage")
        if isinstance(passage, Mapping) and "questions" in passage:
            for question in passage["questions"]:
                for answer in question["answers"]:
                    item = f"{name}/{question['idx']}/{answer['idx']}"
                    yield item, name, [label_of(answer["label"])]
        elif "qas" in line:
            for query in line["qas"]:
                yield str(query["idx"]), name, [label_of(answer["text"]) for answer in query["answers"]]
        elif name and label_key:
            labels = line[label_key]
            if not isinstance(labels, list):
                labels = [labels]
            yield name, "", [label_of(label) for label in labels]
        else:
            raise DataError(f"{path}:{number}: expected the keys idx and label")


def _first_key(line: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first of these keys that a line has; empty without any."""
    for key in keys:
        if key in line:
            return key
    return ""


def gold_of_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> dict[str, GoldAnswer]:
    """Item to its gold labels; any of several is right."""
    answers = {}
    for item, cluster, labels in labels_of_lines(path, lines):
        categories = {GOLD: labels[0]} if len(labels) == 1 else {}
        answers[item] = GoldAnswer(frozenset(labels), cluster, categories)
    return answers


def read_predictions(
    path: Path, lines: Sequence[Mapping[str, Any]], settings: Settings
) -> Iterator[SystemScores]:
    """The predictions of one system, one for each line, compared with the gold labels of the settings."""
    if settings.gold is None:
        raise DataError(f"{path}: predictions, whose gold labels are needed too (--gold FILE; gold=...)")
    if settings.several:
        raise DataError(f"{path}: one prediction a line, and gold labels in {len(settings.gold)} columns")
    gold = settings.answers()
    items: list[tuple[str, ItemScore | None]] = []
    for item, _, labels in labels_of_lines(path, lines):
        row = None
        answer = gold.get(item)
        if answer is not None:
            right = settings.right(labels[0], answer, at=f"{path}, item {item}")
            row = ItemScore(right, "", answer.cluster, answer.categories)
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
        if table.tasks:
            columns[TASK] = table.tasks
        columns[ITEM] = table.items
    if table.clusters:
        columns[CLUSTER] = table.clusters
    for name, values in table.categories.items():
        columns[f"{CATEGORY}:{name}"] = values

    reserved = {*columns, *ITEM_NAMES, *ANSWER_NAMES, TASK, CLUSTER, GOLD, USAGE, SYSTEM, CATEGORY}
    for system, scores in table.scores.items():
        if system.casefold() in reserved:
            raise DataError(
                f"{path}: a system is named {system}, as a column is; name it otherwise (NAME=FILE)"
            )
        columns[system] = [f"{score:.17g}" for score in scores]

    if path.suffix == ".parquet":
        parquet = optional("pyarrow.parquet", "Writing Parquet", "'gluebench[data]'")
        arrow = optional("pyarrow", "Writing Parquet", "'gluebench[data]'")
        lists = {name: list(values) for name, values in columns.items()}
        parquet.write_table(arrow.table(lists), path)
    elif path.suffix in (".csv", ".tsv"):
        delimiter = "," if path.suffix == ".csv" else "\t"
        rows = zip(*columns.values(), strict=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(list(columns), rows, delimiter=delimiter))
    else:
        raise DataError(f"{path}: expected a name that ends in .csv, .tsv or .parquet")
