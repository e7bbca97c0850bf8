"""One example of a challenge set, and the tab-separated file that a set is kept in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gluebench.benchmark import Benchmark, Task, UnknownNameError
from gluebench.data import DataError

FIXED = ("index", "task", "case", "source")
"""Columns before the texts."""
ABOUT = ("label", "accepted", "backward", "domain", "phenomena", "set")
"""Columns after the texts."""
ORIGINAL = "original"
"""The case of an example that others are made from."""


@dataclass(frozen=True, slots=True)
class Item:
    """An example with its label by rule. Its index is its place in the set."""

    task: str
    """The task whose model is asked."""
    case: str
    """What it tries: "lexical overlap, no: roles swapped", "negation added", ORIGINAL."""
    inputs: tuple[str, ...]
    label: str
    accepted: tuple[str, ...]
    """The labels that count as right; `label` is one of them."""
    backward: str = ""
    """The label with the two texts exchanged; empty where the rule does not give it."""
    domain: str = ""
    phenomena: tuple[str, ...] = ()
    set: str = ""
    """Examples made from the same words share it."""
    source: int | None = None
    """Index of the original it was made from, in the same set; None for one that was not."""


def write_items(path: str | os.PathLike[str], items: Sequence[Item], task: Task) -> None:
    """Write a challenge set; the same items give the same bytes. Raises DataError for a text with a tab."""
    torn = [
        f"{path}: {item.inputs[0][:60]!r} has a tab or a line end, and a tab-separated file cannot hold it"
        for item in items
        if any(mark in text for text in item.inputs for mark in "\t\n\r")
    ]
    if torn:
        raise DataError(torn)
    lines = ["\t".join((*FIXED, *task.columns, *ABOUT))]
    lines += ["\t".join(_cells(number, item)) for number, item in enumerate(items)]
    Path(path).write_bytes(("\n".join(lines) + "\n").encode())


def _cells(number: int, item: Item) -> Iterator[str]:
    yield from (str(number), item.task, item.case, "" if item.source is None else str(item.source))
    yield from item.inputs
    yield from (item.label, "|".join(item.accepted), item.backward, item.domain, "; ".join(item.phenomena))
    yield item.set


def read_items(path: str | os.PathLike[str], benchmark: Benchmark) -> list[Item]:
    """Read what `write_items` wrote. Raises DataError with every row that is wrong."""
    rows = _lines(Path(path))
    header = rows[0].split("\t")
    inputs = header[len(FIXED) : -len(ABOUT)]
    if (*header[: len(FIXED)], *header[-len(ABOUT) :]) != (*FIXED, *ABOUT) or not inputs:
        expected = ", ".join((*FIXED, "the texts", *ABOUT))
        raise DataError([f"{path}:1: the header is no challenge set's; expected the columns {expected}"])
    items: list[Item] = []
    problems: list[str] = []
    for number, line in enumerate(rows[1:]):
        cells = line.split("\t")
        wrong = (
            [f"{len(cells)} columns, expected {len(header)}"]
            if len(cells) != len(header)
            else _wrong(dict(zip(header, cells, strict=True)), number, inputs, benchmark)
        )
        problems += [f"{path}:{number + 2}: {each}" for each in wrong]
        if not wrong:
            items.append(_item(dict(zip(header, cells, strict=True)), inputs))
    if problems or not items:
        raise DataError(problems or [f"{path}: no examples: the file has a header alone"])
    return items


def _lines(path: Path) -> list[str]:
    """Lines by line feeds alone: other separators of Unicode may stand within a sentence."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError([f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8"]) from None
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _wrong(row: Mapping[str, str], number: int, inputs: Sequence[str], benchmark: Benchmark) -> list[str]:
    """What is wrong with one row."""
    try:
        task = benchmark.task(row["task"])
    except UnknownNameError as error:
        return [str(error)]
    found = []
    if row["index"] != str(number):
        found.append(f'the index is "{row["index"]}", expected {number}: rows are numbered from 0, in order')
    if tuple(inputs) != task.columns:
        found.append(f"the texts are called {', '.join(inputs)}, expected {', '.join(task.columns)}")
    expected = ", ".join(task.words)
    accepted = row["accepted"].split("|")
    for word in (row["label"], *accepted, *filter(None, [row["backward"]])):
        if word not in task.words:
            found.append(f'the label "{word}" is none of {task.name}: expected one of {expected}')
    if row["label"] not in accepted:
        found.append(f'the label "{row["label"]}" is not among those accepted ({row["accepted"]})')
    source = row["source"]
    if source and not (source.isascii() and source.isdigit() and int(source) < number):
        found.append(f'the source is "{source}", expected the index of a row above')
    return found


def _item(row: Mapping[str, str], inputs: Sequence[str]) -> Item:
    tags = tuple(filter(None, (tag.strip() for tag in row["phenomena"].split(";"))))
    return Item(
        row["task"],
        row["case"],
        tuple(row[name] for name in inputs),
        row["label"],
        tuple(row["accepted"].split("|")),
        row["backward"],
        row["domain"],
        tags,
        row["set"],
        int(row["source"]) if row["source"] else None,
    )


def distinct(items: Iterable[Item]) -> Iterator[Item]:
    """The items of which the texts have not come before."""
    seen: set[tuple[str, ...]] = set()
    for item in items:
        if item.inputs not in seen:
            seen.add(item.inputs)
            yield item
