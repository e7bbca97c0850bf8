"""The files that annotators get and give back: a sheet each, instructions, and what was drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gluebench.analysis.human.draw import SCHEMA, Draw, sheet_order
from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.data import DataError, Example, Table

DRAWN = "draw.json"
INSTRUCTIONS = "instructions.md"
ITEM, LABEL = "item", "label"


class Sheet(NamedTuple):
    """What one annotator gave."""

    name: str
    labels: tuple[int | None, ...]
    """The label code of each item, item 1 first; None where it was left blank."""


def write_sheets(folder: Path, drawn: Draw, table: Table) -> None:
    """Write a sheet for each annotator, the instructions and what was drawn.

    Raises DataError if the folder holds anything: it may be somebody's work.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError([f"{folder}: not empty; name a new folder, so that nobody's labels are written over"])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(drawn.items)
    texts = {example.index: example for example in table if example.index in wanted}
    for number in range(1, drawn.annotators + 1):
        lines = _sheet(drawn, number, texts, table.task)
        (folder / _name(number)).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / INSTRUCTIONS).write_text(instructions(table.task, len(drawn.items)), encoding="utf-8")
    (folder / DRAWN).write_text(json.dumps(drawn.as_dict(), indent=1) + "\n", encoding="utf-8")


def _name(number: int) -> str:
    return f"annotator-{number}.tsv"


def _sheet(drawn: Draw, annotator: int, texts: Mapping[int, Example], task: Task) -> Iterator[str]:
    yield "\t".join([ITEM, *task.columns, LABEL])
    for item in sheet_order(drawn, annotator):
        inputs = texts[drawn.items[item - 1]].inputs
        yield "\t".join([str(item), *(" ".join(inputs[column].split()) for column in task.columns), ""])


def instructions(task: Task, items: int) -> str:
    """What an annotator is told, from the manifest's own label words."""
    first, second = task.columns[0], task.columns[-1]
    labels = "\n".join(f"- `{label.word}`: {label.gloss}" for label in task.labels)
    return f"""# Labelling {items} pairs of sentences

Open your sheet (`annotator-….tsv`) in a text editor or a spreadsheet, as tab-separated UTF-8 text, and write
one of these words into the column `{LABEL}` of every row:

{labels}

- Read the {first} as true, then ask what it says of the {second}. Judge as people do, not as logicians: what
  anybody who accepts the one would accept without a second thought follows from it.
- Judge every row by itself. Some sentences come twice, in other places; do not look for them, and do not go
  back to make answers fit each other.
- Use no help: no other annotator, no dictionary, no program.
- Leave a row blank only if you cannot decide at all. Blanks are counted and named.
- Do not change the other columns or the item numbers; the order of the rows does not matter.

Save the sheet under its name, as tab-separated text, and give it back.
"""


def read_draw(folder: Path) -> Draw:
    """What was drawn into a folder. Raises DataError."""
    path = folder / DRAWN
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("schema") != SCHEMA:
            raise ValueError
        values["pairs"] = tuple((first, second) for first, second in values["pairs"])
        return Draw(**{**values, "items": tuple(values["items"])})
    except FileNotFoundError:
        raise DataError([f"{path}: not there; expected the folder that annotate draw wrote"]) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError([f"{path}: not as annotate draw wrote it ({SCHEMA}); bring it back"]) from None


def read_sheets(folder: Path, drawn: Draw, task: Task) -> list[Sheet]:
    """Every annotator's labels. Raises DataError with all that is wrong in any sheet."""
    problems: list[str] = []
    found = []
    for number in range(1, drawn.annotators + 1):
        path = folder / _name(number)
        labels = _labels(path, len(drawn.items), task, problems)
        found.append(Sheet(path.stem, labels))
    if problems:
        raise DataError(problems)
    return found


def _labels(path: Path, items: int, task: Task, problems: list[str]) -> tuple[int | None, ...]:
    """The labels of one sheet; what is wrong is added to `problems`."""
    words = {
        fold(word): code for code, label in enumerate(task.labels) for word in (label.word, *label.synonyms)
    }
    given: dict[int, int | None] = {}
    for line, item, label in _rows(path, problems):
        if not (item.isascii() and item.isdigit() and 1 <= int(item) <= items):
            problems.append(f"{path}:{line}: item {item!r}; expected a number from 1 to {items}, as it was")
        elif int(item) in given:
            problems.append(f"{path}:{line}: item {item} stands twice; keep one of them")
        elif label and fold(label) not in words:
            expected = ", ".join(task.words)
            problems.append(f"{path}:{line}: label {label!r} of item {item}; expected {expected}, or nothing")
            given[int(item)] = None
        else:
            given[int(item)] = words[fold(label)] if label else None
    lacking = [number for number in range(1, items + 1) if number not in given]
    if given and lacking:
        problems.append(f"{path}: no row for item {_numbers(lacking)}; bring the rows back, blank if need be")
    return tuple(given.get(number) for number in range(1, items + 1))


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:10]))
    return shown if len(numbers) <= 10 else f"{shown} and {len(numbers) - 10} more"


def _rows(path: Path, problems: list[str]) -> Iterator[tuple[int, str, str]]:
    """Line, item and label of every row; cells may be quoted, as spreadsheets do."""
    try:
        data = path.read_bytes()
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except FileNotFoundError:
        problems.append(f"{path}: not there; every annotator's sheet is needed")
        return
    except UnicodeDecodeError:
        problems.append(f"{path}: not UTF-8 text; save it as UTF-8")
        return
    lines = [
        [cell.strip().strip('"').strip() for cell in line.split("\t")]
        for line in text.replace("\r\n", "\n").split("\n")
    ]
    header = lines[0] if lines else []
    if ITEM not in header or LABEL not in header:
        problems.append(f"{path}:1: the header names no columns {ITEM} and {LABEL}; save it tab-separated")
        return
    item_at, label_at = header.index(ITEM), header.index(LABEL)
    for number, cells in enumerate(lines[1:], 2):
        if any(cells):
            padded = [*cells, *[""] * len(header)]
            yield number, padded[item_at], padded[label_at]
