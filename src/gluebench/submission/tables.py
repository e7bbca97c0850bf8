"""Reading one file: tolerant where nothing is lost, strict where a score could be wrong."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluebench.submission.canonical import read_canonical, read_canonical_numbers
from gluebench.submission.problems import SHOWN_PER_FILE, Problem, sentences
from gluebench.submission.rows import Fault, Rows, Wanted, read_lines
from gluebench.submission.submission import Column
from gluebench.submission.suspicions import lost_decimals

INDEX_NAMES = ("index", "id", "")
"""Header names that are taken for the index column, letter case aside."""

WRONG_SIZES = ("wrong-version", "wrong-split", "wrong-file")
"""Problems with a number of rows that something else has: extra and missing indices follow from it."""

SENTENCES = sentences(__file__)

_SMALL = 200_000
"""Bytes below which importing numpy costs more than it saves."""
_TINY = 2_000
"""Bytes below which numpy saves nothing even where it is there already."""
_SPARE_ROWS = 10_000
_ROW_BYTES = 32
_BOM = b"\xef\xbb\xbf"
_VALUE_LENGTH = 60


class Layout(NamedTuple):
    """What a file should hold."""

    words: tuple[str, ...]
    """Label words in the order of their codes; empty for numbers."""
    size: int
    """Indices run from 0 to size - 1."""
    synonyms: Mapping[str, int] = {}
    """Other words for a label, to its code."""
    value: str = "prediction"
    """Name of the second column."""
    versions: Mapping[int, str] = {}
    """Number of rows to the other release of the data that has it, with what to do."""
    complete: bool = True
    """Whether every index must be there."""
    others: Mapping[int, str] = {}
    """Number of rows to the other split that has it: "dev", where test is wanted."""
    siblings: Mapping[int, str] = {}
    """Number of rows to the other file of the task that has it."""
    score_range: tuple[float, float] | None = None
    """Lowest and highest score, of a file whose numbers may have lost their decimal points."""

    @property
    def most_rows(self) -> int:
        """Rows above which a file is not read row by row, so that it cannot fill the memory."""
        return 2 * self.size + _SPARE_ROWS


class Table(NamedTuple):
    """A file as it was read."""

    column: Column | None
    """None when there is an error."""
    problems: list[Problem]
    unshown: Counter[str]
    """Errors beyond those in `problems`, by code."""


class _Text(NamedTuple):
    """A file's bytes with its line ends and header dealt with."""

    data: bytes
    start: int
    """Offset of the first row; the header, if there is one, stands before it."""
    problems: list[Problem]

    @property
    def first_line(self) -> int:
        """Physical line of the first row."""
        return 2 if self.start else 1


def read_table(name: str, data: bytes, layout: Layout) -> Table:
    """Read the file `name`, whose content is `data`; every problem found is in the result, none raised."""
    unreadable = _unreadable(name, data, layout)
    if unreadable:
        return Table(None, [unreadable], Counter())
    text = _text(name, data, layout)
    table = _read(name, text, layout)
    if table.column is None:
        return table
    lost = lost_decimals(name, text.data, table.column, layout.score_range)
    return table if lost is None else Table(None, [*table.problems, lost], table.unshown)


def _read(name: str, text: _Text, layout: Layout) -> Table:
    if text.start and not any(problem.severity == "error" for problem in text.problems):
        column = _canonical(text, layout)
        if column is not None:
            return Table(column, text.problems, Counter())
    if max(text.data.count(mark) for mark in (b"\n", b"\t")) > layout.most_rows:
        return Table(None, [*text.problems, _too_much(name, text.data, layout)], Counter())
    rows = _read_rows(text.data[text.start :], _wanted(layout, text.first_line))
    return _table(name, rows, text, layout)


def _unreadable(name: str, data: bytes, layout: Layout) -> Problem | None:
    if len(data) < 1000 and not data.strip(b"\xef\xbb\xbf\r\n\t "):
        expected = "expected a header and one row per example"
        return Problem("empty-file", "error", name, expected, "Write the predictions again.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:64]:
        expected = "expected UTF-8 text, and this is UTF-16 or no text at all"
        fix = 'Save the file again as UTF-8 (in pandas: encoding="utf-8").'
        return Problem("encoding", "error", name, expected, fix)
    if len(data) > _ROW_BYTES * layout.most_rows:
        return _too_much(name, data, layout)
    return None


def _too_much(name: str, data: bytes, layout: Layout) -> Problem:
    """The problem with a file that is not read row by row, because it could fill the memory."""
    rows = data.count(b"\n") - data.startswith(b"index\t")
    counted = _row_count_problem(name, Rows(b"", array("q"), [], Counter(), rows, 0, 0), layout)
    if counted and counted.code in WRONG_SIZES:
        return counted
    expected = f"expected {layout.size:,} rows of an index and a {layout.value}, and nothing else"
    value = f"{len(data):,} bytes, {rows:,} rows"
    return Problem("too-large", "error", name, expected, "Write one row for each example.", value=value)


def _text(name: str, data: bytes, layout: Layout) -> _Text:
    problems: list[Problem] = []
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
        fix = "Nothing to do: the mark was skipped."
        problems.append(_notice("byte-order-mark", name, "expected plain UTF-8", fix))
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        expected = "expected line feeds at the ends of lines"
        problems.append(_notice("line-ends", name, expected, "Nothing to do: they were read."))
    if not data.endswith(b"\n"):
        data += b"\n"
    end = data.index(b"\n")
    header = data[:end]
    if header == f"index\t{layout.value}".encode():
        return _Text(data, end + 1, problems)
    problem = _header_problem(name, header, layout)
    problems.append(problem)
    return _Text(data, 0 if problem.code == "no-header" else end + 1, problems)


def _header_problem(name: str, header: bytes, layout: Layout) -> Problem:
    wanted = f"expected the header line index<TAB>{layout.value}"
    shown = _shown(header)
    fields = header.decode("utf-8", "replace").split("\t")
    folded = [field.strip().casefold() for field in fields]
    if len(fields) == 2 and folded[0] in INDEX_NAMES and folded[1] == layout.value:
        fix = f"Nothing to do: it was read as index<TAB>{layout.value}."
        return Problem("header-name", "notice", name, wanted, fix, 1, None, shown)
    if folded[0].lstrip("+-").isdigit():
        fix = f"Add the line index<TAB>{layout.value} at the top; without it the first example would be lost."
        return Problem("no-header", "error", name, wanted, fix, 1, None, shown)
    if len(fields) == 1 and any(separator in header for separator in b",; "):
        fix = "Separate the two columns by a tab, not by a comma, semicolon or space."
        return Problem("separator", "error", name, wanted, fix, 1, None, shown)
    fix = f"Write exactly two columns, named index and {layout.value}."
    return Problem("header", "error", name, wanted, fix, 1, None, shown)


def _canonical(text: _Text, layout: Layout) -> Column | None:
    values: bytes | array[float] | None
    if layout.words:
        values = read_canonical(text.data, text.start, words=layout.words, size=layout.size)
    else:
        values = read_canonical_numbers(text.data[text.start :], layout.size)
    return None if values is None else Column(layout.words, values)


def _read_rows(body: bytes, wanted: Wanted) -> Rows:
    if wanted.labels and len(body) > (_TINY if "numpy" in sys.modules else _SMALL):
        from gluebench.submission.arrays import read_arrays

        return read_arrays(body, wanted)
    return read_lines(body, wanted)


def _wanted(layout: Layout, first_line: int) -> Wanted:
    return Wanted(
        {word.encode(): code for code, word in enumerate(layout.words)},
        {word.encode(): code for word, code in layout.synonyms.items()},
        layout.size,
        layout.complete,
        SHOWN_PER_FILE,
        first_line,
    )


def _table(name: str, rows: Rows, text: _Text, layout: Layout) -> Table:
    problems, faults, shown = list(text.problems), Counter(rows.faults), list(rows.shown)
    if rows.blank:
        fix = "Nothing to do: they were skipped."
        problems.append(_notice("blank-lines", name, f"expected no blank lines; {rows.blank:,} found", fix))
    if rows.synonyms:
        accepted = ", ".join(f"{word} for {layout.words[code]}" for word, code in layout.synonyms.items())
        fix = f"Nothing to do: {rows.synonyms:,} rows were read with {accepted}."
        problems.append(_notice("label-synonym", name, f"expected {listed_words(layout.words)}", fix))
    count = _row_count_problem(name, rows, layout)
    if count:
        problems.append(count)
        if count.code in WRONG_SIZES:
            shown = [fault for fault in shown if fault.code not in ("extra-index", "missing-index")]
            del faults["extra-index"], faults["missing-index"]
    if (
        any(problem.code in ("separator", "header") for problem in problems)
        and faults["columns"] == rows.rows
    ):
        shown = []  # the rows are as the header
        faults.clear()
    shifted = _is_shifted(rows, layout)
    described = sum(problem.severity == "error" for problem in problems)
    shown = shown[: max(0, SHOWN_PER_FILE - described)]
    problems += [_fault_problem(name, fault, layout, shifted=shifted) for fault in shown]
    unshown = faults - Counter(fault.code for fault in shown)
    if faults or any(problem.severity == "error" for problem in problems):
        return Table(None, problems, unshown)
    column = Column(layout.words, rows.values, rows.indices or None)
    return Table(column if len(column) else None, problems, unshown)


def _row_count_problem(name: str, rows: Rows, layout: Layout) -> Problem | None:
    if rows.rows == layout.size:
        return None
    if rows.rows in layout.others:
        role = layout.others[rows.rows]
        expected = f"expected another number of rows, and the {role} split has so many"
        fix = f"Predict the examples that are asked for, not those of the {role} split."
        return Problem("wrong-split", "error", name, expected, fix, value=_count(rows, layout))
    if not layout.complete:
        return None
    if rows.rows in layout.siblings:
        expected = f"expected another number of rows, and {layout.siblings[rows.rows]} has so many"
        fix = "Check whether the two files have each other's names."
        return Problem("wrong-file", "error", name, expected, fix, value=_count(rows, layout))
    if rows.rows in layout.versions:
        expected = (
            f"expected {layout.size:,} rows, and {rows.rows:,} is the size of {layout.versions[rows.rows]}"
        )
        fix = "Predict the current release of the data."
        return Problem("wrong-version", "error", name, expected, fix)
    expected = "expected one row for each example of the split"
    fix = "Write each example once; is it this benchmark and split?"
    return Problem("row-count", "error", name, expected, fix, value=_count(rows, layout))


def _count(rows: Rows, layout: Layout) -> str:
    return f"{rows.rows:,} rows, not {layout.size:,}"


def _is_shifted(rows: Rows, layout: Layout) -> bool:
    """Whether the indices seem to be 1 to size: one too many at the end, and only 0 missing."""
    extra = any(fault.code == "extra-index" and fault.example == layout.size for fault in rows.shown)
    return (
        rows.rows == layout.size and extra and rows.faults["extra-index"] == rows.faults["missing-index"] == 1
    )


def _fault_problem(name: str, fault: Fault, layout: Layout, *, shifted: bool) -> Problem:
    allowed = listed_words(layout.words) if layout.words else "a number such as 3.5"
    expected, fix, _ = SENTENCES[fault.code]
    expected = expected.format(allowed=allowed, value=layout.value, last=layout.size - 1)
    if shifted and fault.code in ("extra-index", "missing-index"):
        fix = "The indices seem to count from 1: take one from each, so that the first example has index 0."
    value = None if fault.value is None else _shown(fault.value)
    return Problem(fault.code, "error", name, expected, fix, fault.line, fault.example, value)


def listed_words(words: Sequence[str]) -> str:
    """Label words as a sentence has them: "entailment, neutral or contradiction"."""
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _shown(value: bytes) -> str:
    text = value.decode("utf-8", "backslashreplace")
    return text if len(text) <= _VALUE_LENGTH else text[: _VALUE_LENGTH - 1] + "…"


def _notice(code: str, name: str, expected: str, fix: str) -> Problem:
    return Problem(code, "notice", name, expected, fix)
