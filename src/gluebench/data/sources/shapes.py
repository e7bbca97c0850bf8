"""Files whose examples are no rows and no objects: token files, dialogues, cloze tests, multiple choice.

Each function returns the records of a file, with the columns that the packaged manifests name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError
from gluebench.reading.records import Records
from gluebench.reading.text import decode

Cells = list[Any]
COMMENT = "##"
"""Beginning of a comment in token files."""
_BLANK = re.compile(r"#idiom\d+#")


def read_shape(shape: str, path: Path, task: Task) -> Records:
    """The records of a file of a shape that the release declares. Raises DataError for another shape."""
    if shape not in SHAPES:
        raise DataError(f"shape = {shape!r}: expected one of {', '.join(SHAPES)}")
    try:
        names, rows = SHAPES[shape](path, task)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not of the shape {shape!r} ({type(error).__name__}: {error})") from None
    return Records("JSON", names, rows, range(1, len(rows) + 1))


def _blocks(path: Path) -> Iterator[list[list[str]]]:
    """The lines between blank ones, each as its cells, without comments."""
    block: list[list[str]] = []
    lines = decode(path.read_bytes()).split("\n")
    lines.append("")  # ends the last block
    for line in lines:
        if line.startswith(COMMENT):
            continue
        if line:
            block.append(line.split("\t"))
        elif block:
            yield block
            block = []


def _tokens(path: Path, task: Task) -> tuple[tuple[str, ...], list[Cells]]:
    """A token and its tag in each line, as KLUE's characters: their text, and the tags with blanks between.

    A blank is a token of the file, and has no tag among the answers.
    """
    rows = []
    for block in _blocks(path):
        tags = [cells[1] for cells in block if cells[0].strip()]
        rows.append(["".join(cells[0] for cells in block), " ".join(tags)])
    return (task.columns[0], "label"), rows


def _arcs(path: Path, task: Task) -> tuple[tuple[str, ...], list[Cells]]:
    """A word in each line: number, form, lemma, tag, head, relation. The label is head:relation of each."""
    rows = []
    for block in _blocks(path):
        words = [cells[1] for cells in block]
        arcs = [f"{int(cells[4])}:{cells[5]}" for cells in block]
        rows.append([" ".join(words), " ".join(arcs)])
    return (task.columns[0], "label"), rows


def _dialogue(path: Path, task: Task) -> tuple[tuple[str, ...], list[Cells]]:
    """A row for each turn of the user: the turns so far, and the state that is known after it."""
    rows = []
    for record in json.loads(decode(path.read_bytes())):
        turns: list[str] = []
        for turn in record["dialogue"]:
            turns.append(f"{turn['role']}: {turn['text']}")
            if turn["role"] == "user":
                state = task.separator.join(turn["state"])
                rows.append([record["guid"], "\n".join(turns), state])
    return ("guid", task.columns[0], "label"), rows


def _cloze(path: Path, task: Task) -> tuple[tuple[str, ...], list[Cells]]:
    """A row for each blank such as #idiom000378#; the answers are in NAME_answer.json beside the file."""
    passage, candidates = task.columns
    beside = path.with_name(f"{path.stem}_answer.json")
    answers: Mapping[str, int] = {}
    if beside.is_file():
        answers = json.loads(decode(beside.read_bytes()))
    rows = []
    for line in decode(path.read_bytes()).splitlines():
        if not line.strip():
            continue
        record = json.loads(line)
        for content in record["content"]:
            for blank in _BLANK.findall(content):
                rows.append([blank, content, record["candidates"], answers.get(blank, "")])
    return ("id", passage, candidates, "label"), rows


def _choices(path: Path, task: Task) -> tuple[tuple[str, ...], list[Cells]]:
    """A row for each question of C3, of dialogues (d-dev.json) and then of other texts (m-dev.json)."""
    beside = path.with_name(re.sub(r"(^|-)d-", r"\1m-", path.name))
    rows = []
    for part in dict.fromkeys([path, beside]):
        for texts, questions, *_ in json.loads(decode(part.read_bytes())):
            for question in questions:
                choices = question["choice"]
                label = choices.index(question["answer"]) if "answer" in question else ""
                rows.append(["\n".join(texts), question["question"], choices, label])
    return task.columns + ("label",), rows


SHAPES: Mapping[str, Callable[[Path, Task], tuple[tuple[str, ...], list[Cells]]]] = {
    "tokens": _tokens,
    "arcs": _arcs,
    "dialogue": _dialogue,
    "cloze": _cloze,
    "choices": _choices,
}
"""The name of each shape to the function that reads a file of it: names of columns, and rows."""
