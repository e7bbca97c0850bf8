"""QQP from the first release of the Quora question pairs; recipes.toml has the procedure."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError
from gluebench.data.recipes import RecipeResult
from gluebench.data.recipes.reading import Reader, table, train_and_dev

FILE = "quora_duplicate_questions.tsv"
HEADER = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")
NOTES = (
    "train, dev: drawn anew; GLUE's own division of the release is not known",
    "test: left out; GLUE's test pairs are in no public release",
)


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """Train and dev from the one file of the release."""
    share = options["dev"]
    if not 0 <= share < 1:
        raise DataError(f"dev: {share}, expected a share from 0 to below 1")
    reader = Reader(corpus, task, options)
    columns = table(reader.inputs(2) + ("label", "id", "qid1", "qid2"), _read_rows(reader))
    reader.check()
    rows = len(columns["label"])
    if not rows:
        raise DataError(f"{reader.files[0]}: no pair below the header")
    splits = train_and_dev(columns, round(rows * share), options["seed"])
    return reader.built({name: split for name, split in splits.items() if split["label"]}, NOTES)


def _read_rows(reader: Reader) -> Iterator[tuple[str, ...]]:
    path = reader.need(FILE)
    lines = reader.lines(path)
    reader.check()
    words = reader.words("01")
    for number, (*ids, first, second, label) in _csv(reader, path, lines):
        if label in words and all(identity.isdecimal() for identity in ids):
            row_id, first_id, second_id = ids
            yield first, second, words[label], row_id, first_id, second_id
        else:
            problem = f'ids {", ".join(ids)} and label "{label}"; expected numbers, and 0 or 1'
            reader.reject(path, number, problem)


def _csv(reader: Reader, path: Path, lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """First line and fields of each row below the header; invalid quoting is a problem."""
    rows = csv.reader((f"{line}\n" for line in lines), delimiter="\t", strict=True)
    while True:
        number = rows.line_num + 1
        try:
            fields = next(rows, None)
        except csv.Error as error:
            reader.reject(path, number, f"a quotation mark is out of place ({error})")
            continue
        if fields is None:
            return
        if number == 1:
            reader.header(path, fields, HEADER)
        elif len(fields) != len(HEADER):
            reader.reject(path, number, f"{len(fields)} columns, expected {len(HEADER)}")
        elif any("\t" in field for field in fields):
            reader.reject(path, number, "a tab within a field: a quotation mark is not closed")
        else:
            yield number, fields
