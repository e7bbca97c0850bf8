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

_MATCH, _HEAD, _DIM, _PLAIN = "\x1b[1;31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_INDENT = "    "
_NARROWEST = 20
"""Smallest width that texts are wrapped to, even on a narrower terminal."""


class Shown(NamedTuple):
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


def text_of(shown: Shown, entries: Iterable[Entry], paper: Paper) -> Iterator[str]:
    """The text in parts: a heading, then each entry after an empty line."""
    yield running_text(_heading(shown), paper)
    for entry in entries:
        yield "\n" + "".join(f"{line}\n" for line in _lines(shown, entry, paper))


def _heading(shown: Shown) -> list[str]:
    table = shown.table
    lines = [f"{table.task.name} {table.split}: {len(table):,} examples"]
    if not table.labeled:
        lines.append("The labels are hidden.")
    elif shown.paired:
        letters = ", ".join(
            f"{short} {word}" for word, short in initials(table.task).items() if short != word
        )
        lines.append(f"Fwd (Bwd) is the label when sentence 1 (sentence 2) is the {table.task.columns[0]}.")
        lines += [f"Labels: {letters}."] if letters else []
    return lines


def _lines(shown: Shown, entry: Entry, paper: Paper) -> Iterator[str]:
    """The index with the label, or the indices with the tags; then the texts, the directions and the rest."""
    first, texts = entry[0], dict(entry[0].inputs)
    indices, beside = ", ".join(str(row.index) for row in entry), label_text(shown.task, entry[0].label)
    if shown.paired:
        texts, beside = dict(zip("12", texts.values(), strict=True)), ", ".join(tagged(shown.task, first))
    margin = max(_NARROWEST, paper.width - len(indices) - 2) if paper.width else None
    lines = [beside[line.start : line.end] for line in folded(beside, margin)]
    yield (_styled(indices, _HEAD, paper) + f"  {lines[0]}").rstrip()
    yield from (" " * (len(indices) + 2) + line for line in lines[1:])
    yield from _text_lines(shown, texts, paper)
    if shown.paired and shown.table.labeled:
        forward, backward = (direction_text(shown.task, label) for label in _directions(entry))
        yield f"{_INDENT}Fwd {forward}  Bwd {backward}"
    others = {name: _cell(first.extras[name]) for name in shown.extras if name != TAGS or not shown.paired}
    if others:
        yield from _text_lines(Shown(shown.table), others, paper)


def _text_lines(shown: Shown, texts: dict[str, str], paper: Paper) -> Iterator[str]:
    """Each text after its column's name, wrapped to the width, with matches of the pattern highlighted."""
    gutter = max(map(text_width, texts)) + 2
    width = max(_NARROWEST, paper.width - gutter - len(_INDENT)) if paper.width else None
    for name, text in texts.items():
        printable, matches = visible(text, shown.pattern if paper.color else None)
        head = _styled(name, _DIM, paper) + " " * (gutter - text_width(name))
        for line in folded(printable, width):
            yield f"{_INDENT}{head}{_marked(printable, line, matches)}".rstrip()
            head = " " * gutter


def folded(text: str, width: int | None) -> list[Span]:
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
    return [*lines, Span(start, end)]


def visible(text: str, pattern: re.Pattern[str] | None) -> tuple[str, list[bool]]:
    """The text with control characters escaped, and whether each character is in a match of the pattern."""
    hits = pattern.finditer(text) if pattern else ()
    matching = {at for hit in hits for at in range(*hit.span())}
    shown = [(sign, at in matching) for at, letter in enumerate(text) for sign in escape_controls(letter)]
    return "".join(sign for sign, _ in shown), [matches for _, matches in shown]


def _marked(text: str, line: Span, matches: Sequence[bool]) -> str:
    """A line of the text with its matches in color."""
    runs = groupby(range(line.start, line.end), key=matches.__getitem__)
    parts = ((matching, "".join(text[at] for at in run)) for matching, run in runs)
    return "".join(f"{_MATCH}{part}{_PLAIN}" if matching else part for matching, part in parts)


def _styled(text: str, style: str, paper: Paper) -> str:
    return f"{style}{text}{_PLAIN}" if paper.color else text


# ---------------------------------------------------------------- labels and tags


def label_text(task: Task, label: str | float | None) -> str:
    """A label, with its gloss if the word is shorter than 3 letters; a score; "" if hidden."""
    if label is None:
        return ""
    gloss = next((known.gloss for known in task.labels if known.word == label and len(known.word) < 3), "")
    return f"{label} ({gloss})" if gloss else f"{label:g}" if isinstance(label, float) else label


def initials(task: Task) -> dict[str, str]:
    """Label word to its initial as in Table 3, or to itself if two initials are equal."""
    letters = {word: word[:1].upper() for word in task.words}
    return letters if len(set(letters.values())) == len(letters) else {word: word for word in letters}


def direction_text(task: Task, label: str | float | None) -> str:
    """The label of a direction, abbreviated; "-" for a missing one."""
    return "-" if label is None else initials(task).get(str(label), str(label))


def _directions(entry: Entry) -> tuple[str | float | None, str | float | None]:
    """The labels forward and backward; None for a missing one."""
    return entry[0].label, entry[1].label if len(entry) > 1 else None


def tagged(task: Task, row: Row) -> list[str]:
    """The tags of a row, each with its coarse category in parentheses."""
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    return [f"{tag} ({coarse[tag]})" if tag in coarse else tag for tag in row.extras.get(TAGS) or ()]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


# ---------------------------------------------------------------- other forms


_TITLES = {"sentence1": "Sentence 1", "sentence2": "Sentence 2"}
_TITLES |= {"tags": "Tags", "forward": "Fwd", "backward": "Bwd"}
"""Field of a pair to its heading in Table 3 of the paper."""


def shown_output(shown: Shown, entries: Sequence[Entry]) -> Output:
    """The entries as JSON, records and a table; pairs as Table 3 of the paper."""
    fields = _fields(shown)
    records = [dict(zip(fields, _values(shown, entry), strict=True)) for entry in entries]
    cells = [[_shown_cell(shown, *field) for field in record.items()] for record in records]
    columns: list[Column | str] = [numeric(fields[0])]
    columns += fields[1:]
    table = Table(columns, cells)
    if shown.paired:
        titles = [_TITLES.get(name, name) for name in fields[1:]]
        table = Table(titles, [row[1:] for row in cells], notes=_heading(shown)[1:])
    rows = [[_cell(value) if isinstance(value, list) else value for value in one.values()] for one in records]
    data = {"task": shown.task.name, "split": shown.table.split, "examples": records}
    return Output(data, [table], fields, rows)


def _fields(shown: Shown) -> list[str]:
    labeled, others = shown.table.labeled, [name for name in shown.extras if name != TAGS]
    if not shown.paired:
        return ["index", *shown.task.columns, *["label"] * labeled, *shown.extras]
    tags, labels = ["tags"] * (TAGS in shown.extras), ["forward", "backward"] * labeled
    return ["indices", *tags, "sentence1", "sentence2", *labels, *others]


def _values(shown: Shown, entry: Entry) -> list[Any]:
    """The values of `_fields`."""
    first, labeled = entry[0], shown.table.labeled
    others = [first.extras[name] for name in shown.extras if name != TAGS or not shown.paired]
    if not shown.paired:
        return [first.index, *first.inputs.values(), *[first.label] * labeled, *others]
    tags = [tagged(shown.task, first)] * (TAGS in shown.extras)
    labels = [*_directions(entry)] * labeled
    return [[row.index for row in entry], *tags, *first.inputs.values(), *labels, *others]


def _shown_cell(shown: Shown, name: str, value: Any) -> str:
    """A value of a field in a table."""
    if shown.paired and name in ("forward", "backward"):
        return direction_text(shown.task, value)
    if shown.paired and name == "tags":
        return ", ".join(value)
    return label_text(shown.task, value) if name == "label" else _cell(value)
