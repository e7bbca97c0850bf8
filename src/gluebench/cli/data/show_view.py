"""Output of `gluebench data show`: examples as text, as records and as tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.benchmark.tables import (
    Column,
    Paper,
    Table,
    escape_controls,
    numeric,
    running_text,
    text_width,
)
from gluebench.cli.common.output import Output
from gluebench.data import Table as Examples
from gluebench.data.dataset import TAGS
from gluebench.data.show import Entry, Row

_MATCH = "\x1b[1;31m"
_HEAD = "\x1b[1m"
_DIM = "\x1b[2m"
_PLAIN = "\x1b[0m"
_INDENT = "    "
_NARROWEST = 20
"""Smallest width that texts are wrapped to, even on a narrower terminal."""


class DisplayedExamples(NamedTuple):
    """Which examples and columns to show, and what to highlight."""

    table: Examples
    extras: tuple[str, ...] = ()
    """Columns besides index, texts and label."""
    pattern: re.Pattern[str] | None = None
    """Highlighted in the texts, on a terminal."""

    @property
    def task(self) -> Task:
        """The task of the examples."""
        return self.table.task

    @property
    def paired(self) -> bool:
        """Whether two adjacent rows that are one pair in both directions form one entry, as in Table 3."""
        return bool(self.task.phenomena) and len(self.task.columns) == 2


class Span(NamedTuple):
    """A part of a text, from `start` to before `end`."""

    start: int
    end: int


# ---------------------------------------------------------------- to read


def text_of(shown: DisplayedExamples, entries: Iterable[Entry], paper: Paper) -> Iterator[str]:
    """The text in parts: a heading, then each entry after an empty line."""
    yield running_text(_heading(shown), paper)
    for entry in entries:
        yield "\n" + "".join(f"{line}\n" for line in _entry_lines(shown, entry, paper))


def _heading(shown: DisplayedExamples) -> list[str]:
    table = shown.table
    lines = [f"{table.task.name} {table.split}: {len(table):,} examples"]
    if not table.labeled:
        lines.append("The labels are hidden.")
    elif shown.paired:
        lines.append(f"Fwd (Bwd) is the label when sentence 1 (sentence 2) is the {table.task.columns[0]}.")
        letters = [f"{short} {word}" for word, short in initials(table.task).items() if short != word]
        if letters:
            lines.append(f"Labels: {', '.join(letters)}.")
    return lines


def _entry_lines(shown: DisplayedExamples, entry: Entry, paper: Paper) -> Iterator[str]:
    """The index with the label, or the indices with the tags; then the texts, the directions and the rest."""
    first = entry[0]
    texts = dict(first.inputs)
    indices = ", ".join(str(row.index) for row in entry)
    beside = label_text(shown.task, first.label)
    if shown.paired:
        texts = dict(zip("12", texts.values(), strict=True))
        beside = ", ".join(tags_with_category(shown.task, first))
    margin = max(_NARROWEST, paper.width - len(indices) - 2) if paper.width else None
    lines = [beside[line.start : line.end] for line in wrap_text(beside, margin)]
    yield (_add_style(indices, _HEAD, paper) + f"  {lines[0]}").rstrip()
    for line in lines[1:]:
        yield " " * (len(indices) + 2) + line
    yield from _text_lines(shown, texts, paper)
    if shown.paired and shown.table.labeled:
        forward, backward = [direction_text(shown.task, label) for label in _directions(entry)]
        yield f"{_INDENT}Fwd {forward}  Bwd {backward}"
    others = {name: _value_text(first.extras[name]) for name in _other_columns(shown)}
    if others:
        yield from _text_lines(DisplayedExamples(shown.table), others, paper)


def _text_lines(shown: DisplayedExamples, texts: dict[str, str], paper: Paper) -> Iterator[str]:
    """Each text after its column's name, wrapped to the width, with matches of the pattern highlighted."""
    gutter = max(map(text_width, texts)) + 2
    width = max(_NARROWEST, paper.width - gutter - len(_INDENT)) if paper.width else None
    for name, text in texts.items():
        printable, matches = visible(text, shown.pattern if paper.color else None)
        head = _add_style(name, _DIM, paper) + " " * (gutter - text_width(name))
        for line in wrap_text(printable, width):
            yield f"{_INDENT}{head}{_highlight(printable, line, matches)}".rstrip()
            head = " " * gutter


def wrap_text(text: str, width: int | None) -> list[Span]:
    """The lines of a wrapped text, broken at spaces, or within a word longer than a line."""
    if width is None or text_width(text) <= width:
        return [Span(0, len(text))]
    lines: list[Span] = []
    start = end = 0
    for word in re.finditer(r"\S+", text):
        if end > start and text_width(text[start : word.end()]) > width:
            lines.append(Span(start, end))
            start = word.start()
        end = word.end()
        while text_width(text[start:end]) > width:
            cut = next(at for at in range(end, start, -1) if text_width(text[start:at]) <= width)
            lines.append(Span(start, cut))
            start = cut
    lines.append(Span(start, end))
    return lines


def visible(text: str, pattern: re.Pattern[str] | None) -> tuple[str, list[bool]]:
    """The text with control characters escaped, and whether each character is in a match of the pattern."""
    matching: set[int] = set()
    if pattern:
        for match in pattern.finditer(text):
            matching.update(range(*match.span()))
    characters = ""
    matches = []
    for at, letter in enumerate(text):
        escaped = escape_controls(letter)
        characters += escaped
        matches += [at in matching] * len(escaped)
    return characters, matches


def _highlight(text: str, line: Span, matches: Sequence[bool]) -> str:
    """A line of the text with its matches in color."""
    highlighted = ""
    for matching, run in groupby(range(line.start, line.end), key=matches.__getitem__):
        part = "".join(text[at] for at in run)
        highlighted += f"{_MATCH}{part}{_PLAIN}" if matching else part
    return highlighted


def _add_style(text: str, style: str, paper: Paper) -> str:
    return f"{style}{text}{_PLAIN}" if paper.color else text


# ---------------------------------------------------------------- labels and tags


def label_text(task: Task, label: str | float | None) -> str:
    """A label, with its gloss if the word is shorter than 3 letters; a score; "" if hidden."""
    if label is None:
        return ""
    if isinstance(label, float):
        return f"{label:g}"
    for known in task.labels:
        if known.word == label and known.gloss and len(label) < 3:
            return f"{label} ({known.gloss})"
    return label


def initials(task: Task) -> dict[str, str]:
    """Label word to its initial as in Table 3, or to itself if two initials are equal."""
    letters = {word: word[:1].upper() for word in task.words}
    if len(set(letters.values())) < len(letters):
        return {word: word for word in letters}
    return letters


def direction_text(task: Task, label: str | float | None) -> str:
    """The label of a direction, abbreviated; "-" for a missing one."""
    if label is None:
        return "-"
    return initials(task).get(str(label), str(label))


def _directions(entry: Entry) -> tuple[str | float | None, str | float | None]:
    """The labels forward and backward; None for a missing one."""
    return entry[0].label, entry[1].label if len(entry) > 1 else None


def tags_with_category(task: Task, row: Row) -> list[str]:
    """The tags of a row, each with its coarse category in parentheses."""
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    tags = []
    for tag in row.extras.get(TAGS) or ():
        tags.append(f"{tag} ({coarse[tag]})" if tag in coarse else tag)
    return tags


def _value_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return str(value)


# ---------------------------------------------------------------- other forms


_TITLES = {"sentence1": "Sentence 1", "sentence2": "Sentence 2"}
_TITLES |= {"tags": "Tags", "forward": "Fwd", "backward": "Bwd"}
"""Field of a pair to its heading in Table 3 of the paper."""


def examples_output(shown: DisplayedExamples, entries: Sequence[Entry]) -> Output:
    """The entries as JSON, records and a table; pairs as Table 3 of the paper."""
    fields = _fields(shown)
    records = []
    cells = []
    rows = []
    for entry in entries:
        record = dict(zip(fields, _values(shown, entry), strict=True))
        records.append(record)
        cells.append([_field_text(shown, name, value) for name, value in record.items()])
        rows.append([_value_text(value) if isinstance(value, list) else value for value in record.values()])
    columns: list[Column | str] = [numeric(fields[0])]
    columns += fields[1:]
    table = Table(columns, cells)
    if shown.paired:
        titles = [_TITLES.get(name, name) for name in fields[1:]]
        table = Table(titles, [row[1:] for row in cells], notes=_heading(shown)[1:])
    data = {"task": shown.task.name, "split": shown.table.split, "examples": records}
    return Output(data, [table], fields, rows)


def _fields(shown: DisplayedExamples) -> list[str]:
    fields = ["indices" if shown.paired else "index"]
    if shown.paired and TAGS in shown.extras:
        fields.append("tags")
    fields += ["sentence1", "sentence2"] if shown.paired else shown.task.columns
    if shown.table.labeled:
        fields += ["forward", "backward"] if shown.paired else ["label"]
    fields += _other_columns(shown)
    return fields


def _other_columns(shown: DisplayedExamples) -> list[str]:
    """The columns of the source; those of pairs without the tags, which have a place of their own."""
    return [name for name in shown.extras if name != TAGS or not shown.paired]


def _values(shown: DisplayedExamples, entry: Entry) -> list[Any]:
    """The values of `_fields`."""
    first = entry[0]
    values: list[Any] = [[row.index for row in entry] if shown.paired else first.index]
    if shown.paired and TAGS in shown.extras:
        values.append(tags_with_category(shown.task, first))
    values += first.inputs.values()
    if shown.table.labeled:
        values += _directions(entry) if shown.paired else [first.label]
    values += [first.extras[name] for name in _other_columns(shown)]
    return values


def _field_text(shown: DisplayedExamples, name: str, value: Any) -> str:
    """A value of a field in a table."""
    if shown.paired and name in ("forward", "backward"):
        return direction_text(shown.task, value)
    if shown.paired and name == "tags":
        return ", ".join(value)
    if name == "label":
        return label_text(shown.task, value)
    return _value_text(value)
