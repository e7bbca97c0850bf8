"""Read one file, tolerating only deviations that cannot change a score."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from gluebench.reading.text import as_utf8, unicode_form
from gluebench.submission.canonical import read_canonical
from gluebench.submission.columns import read_columns
from gluebench.submission.problems import SHOWN_PER_FILE, Problem, Severity, problem_maker
from gluebench.submission.rows import Fault, Layout, Rows, read_lines
from gluebench.submission.submission import Column

INDEX_NAMES = ("index", "id", "")
"""Header names accepted for the index column, in any letter case."""

WRONG_SIZES = ("wrong-version", "wrong-split")
"""Problems of a row count that matches other data; extra and missing indices are then not reported."""

_worded = problem_maker(__file__)
_OF_IDS = {"bad-index": "unknown-id", "repeated-index": "repeated-id", "missing-index": "missing-id"}
"""Problems of indices to those of ids."""

_SMALL = 200_000
"""Bytes below which importing numpy costs more than it saves."""
_TINY = 2_000
"""Bytes below which numpy saves nothing even if it is already imported."""
_BOM = b"\xef\xbb\xbf"
_VALUE_LENGTH = 60
_PERCENT = 100
"""Scores may be whole numbers up to this size."""
_LARGEST = 1e20
"""Larger numbers are not scores that lost their decimal points."""


class Table(NamedTuple):
    """The result of reading a file."""

    column: Column | None
    """None if there is an error that was not repaired."""
    problems: list[Problem]
    unshown: Counter[str]
    """Errors beyond those in `problems`, by code."""

    @property
    def wrong(self) -> bool:
        """Whether there is an error, be it one that was repaired."""
        return any(problem.severity == "error" for problem in self.problems)

    def without_lines(self) -> Table:
        """The same of a file that its author never saw, so that lines mean nothing."""
        return self._replace(problems=[replace(problem, line=None) for problem in self.problems])


class _NormalText(NamedTuple):
    """A file's bytes with normalized line ends and a checked header."""

    data: bytes
    start: int
    """Offset of the first row, after the header if there is one."""
    problems: list[Problem]


def read_table(name: str, data: bytes, layout: Layout) -> Table:
    """Read the file `name`, whose content is `data`; problems are in the result, never raised."""
    given = data
    data = as_utf8(given)
    unreadable = _unreadable(name, data, layout)
    if unreadable:
        return Table(None, [unreadable], Counter())
    text = _normalize(name, data, layout)
    if data is not given:
        text.problems.insert(0, utf16_notice(name, layout))
    table = _read_text(name, text, layout)
    if table.column is None or layout.form:
        return table
    lost = lost_decimals(name, text.data, table.column, layout.score_range)
    if lost is None:
        return table
    return Table(None, table.problems + [lost], table.unshown)


def read_rows(name: str, rows: Iterable[Sequence[str]], lines: Sequence[int], layout: Layout) -> Table:
    """Read rows of index or id and value that were found in another shape, each at one of these lines."""
    header = (layout.key, layout.value)
    text = "\n".join(map("\t".join, chain([header], rows, [""])))
    data = text.encode("utf-8", "backslashreplace")
    table = read_table(name, data, layout)
    problems = []
    for problem in table.problems:
        if problem.line is not None:
            problem = replace(problem, line=lines[problem.line - 2])  # the first row is in line 2
        problems.append(problem)
    return table._replace(problems=problems)


def _read_text(name: str, text: _NormalText, layout: Layout) -> Table:
    """Read the rows by the fastest of the readers that can read them."""
    has_header = text.start and not any(problem.severity == "error" for problem in text.problems)
    if has_header and layout.words and not layout.ids:
        codes = read_canonical(text.data, text.start, words=layout.words, size=layout.size)
        if codes is not None:
            return Table(Column(layout.words, codes), text.problems, Counter())
    body, first_line = text.data[text.start :], 2 if text.start else 1
    rows = None
    if layout.words and _large(body):
        from gluebench.submission.arrays import read_arrays

        rows = read_arrays(body, layout, first_line=first_line)
    if rows is None:
        if most_marks(text.data, "\n\t") > layout.most_rows:
            return Table(None, [*text.problems, _too_much(name, text.data, layout)], Counter())
        rows = read_columns(body, layout) or read_lines(body, layout, first_line=first_line)
    return _report(name, rows, text, layout)


def lost_decimals(
    name: str, data: bytes, column: Column, score_range: tuple[float, float] | None
) -> Problem | None:
    """The error of a file most of whose numbers are integers more than ten times outside the range.

    A fraction outside the range shows that decimal points were kept; the file then has another, valid
    scale. `data` has the bytes that `column` was read from, with the header.
    """
    if score_range is None:
        return None
    low, high = score_range
    if column.within(low, high):
        return None
    if not all(number.is_integer() or low <= number <= high for number in column.numbers):
        return None

    limit = max(10 * abs(low), 10 * abs(high), _PERCENT)
    indices = [index for index, number in enumerate(column.numbers) if limit < abs(number) < _LARGEST]
    if 2 * len(indices) <= len(column):
        return None

    start = data.index(b"\n%d\t" % indices[0]) + 1
    end = data.index(b"\n", start)
    value = data[start:end].split(b"\t")[1].decode()[:60]
    expected = (
        f"expected scores from {low:g} to {high:g}, and {len(indices):,} of {len(column):,} are whole "
        f"numbers beyond {limit:g}, as if their decimal points were lost"
    )
    fix = (
        "Write each number with its decimal point (3.412, not 3412); a spreadsheet or an export whose locale "
        "has decimal commas removes it. If you mean this scale, divide: a correlation stays the same."
    )
    line = data.count(b"\n", 0, start) + 1
    return Problem("lost-decimals", "error", name, expected, fix, line, indices[0], value)


def _unreadable(name: str, data: bytes, layout: Layout) -> Problem | None:
    if len(data) < 1000 and not data.strip(b"\xef\xbb\xbf\r\n\t "):
        return _problem("empty-file", name, layout)
    if unicode_form(data) != "utf-8" or b"\0" in data[:64]:
        return _problem("encoding", name, layout)
    if len(data) > layout.row_bytes * layout.most_rows:
        return _too_much(name, data, layout)
    return None


def utf16_notice(name: str, layout: Layout) -> Problem:
    """The notice that a file is UTF-16."""
    return _problem("utf-16", name, layout, "notice")


def _large(data: bytes) -> bool:
    """Whether numpy saves time."""
    return len(data) > (_TINY if "numpy" in sys.modules else _SMALL)


def most_marks(data: bytes, marks: str) -> int:
    """The count of the most frequent of these characters (by numpy in a large file, which is faster)."""
    if not _large(data):
        return max(data.count(mark.encode()) for mark in marks)
    import numpy as np

    characters = np.frombuffer(data, np.uint8)
    return int(max(np.count_nonzero(characters == ord(mark)) for mark in marks))


def _too_much(name: str, data: bytes, layout: Layout) -> Problem:
    """The problem of a file that is too large to read row by row."""
    rows = data.count(b"\n") - data.startswith(b"index\t")
    counted = _row_count_problem(name, rows, layout)
    if counted and counted.code in WRONG_SIZES:
        return counted
    return _problem("too-large", name, layout, value=f"{len(data):,} bytes, {rows:,} rows")


def _normalize(name: str, data: bytes, layout: Layout) -> _NormalText:
    """The bytes without a byte order mark and with line feeds as line ends, and what the header shows."""
    problems: list[Problem] = []
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
        problems.append(_problem("byte-order-mark", name, layout, "notice"))
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        problems.append(_problem("line-ends", name, layout, "notice"))
    if not data.endswith(b"\n"):
        data += b"\n"
    end = data.index(b"\n")
    header = data[:end]
    if header == f"{layout.key}\t{layout.value}".encode():
        return _NormalText(data, end + 1, problems)
    code, severity = _header_fault(header, layout)
    problems.append(_problem(code, name, layout, severity, line=1, value=_shorten(header)))
    start = 0 if code == "no-header" else end + 1
    return _NormalText(data, start, problems)


def _header_fault(header: bytes, layout: Layout) -> tuple[str, Severity]:
    """The code of what is wrong with a header, and how severe it is."""
    fields = header.decode("utf-8", "replace").split("\t")
    folded = [field.strip().casefold() for field in fields]
    if len(fields) == 2 and folded[0] in INDEX_NAMES and folded[1] == layout.value:
        return "header-name", "notice"
    if folded[0].lstrip("+-").isdigit() or fields[0].encode() in layout.places:
        return "no-header", "error"
    if len(fields) == 1 and any(separator in header for separator in b",; "):
        return "separator", "error"
    return "header", "error"


def _report(name: str, rows: Rows, text: _NormalText, layout: Layout) -> Table:
    """What is reported of the rows, and their column if nothing is wrong.

    A fault is of one row, a problem is what is told. Only the first faults become problems; the others are
    counted. Faults of rows that a problem of the whole file explains are not reported at all.
    """
    problems = list(text.problems)
    if rows.blank:
        problems.append(_problem("blank-lines", name, layout, "notice", what=f"{rows.blank:,}"))
    if rows.synonyms:
        accepted = ", ".join(f"{word} for {layout.words[code]}" for word, code in layout.synonyms.items())
        what = f"{rows.synonyms:,} rows were read with {accepted}"
        problems.append(_problem("label-synonym", name, layout, "notice", what=what))
    explained: set[str] = set()
    wrong_count = _row_count_problem(name, rows.rows, layout)
    if wrong_count:
        problems.append(wrong_count)
        if wrong_count.code in WRONG_SIZES:
            explained.update(("extra-index", "missing-index"))
    wrong_header = any(problem.code in ("separator", "header") for problem in problems)
    if wrong_header and rows.faults["columns"] == rows.rows:
        explained.update(rows.faults)  # all rows have the same fault as the header
    counts = Counter({code: count for code, count in rows.faults.items() if code not in explained})
    first_faults = [fault for fault in rows.shown if fault.code not in explained]

    errors = sum(problem.severity == "error" for problem in problems)
    reported = first_faults[: max(0, SHOWN_PER_FILE - errors)]
    from_1 = _seems_to_count_from_1(rows, layout)
    problems += [_fault_problem(name, fault, layout, from_1=from_1) for fault in reported]
    unshown = counts - Counter(fault.code for fault in reported)
    column = None
    if not counts and not errors and len(rows.values):
        column = Column(layout.words, rows.values, rows.indices or None)
    return Table(column, problems, unshown)


def _seems_to_count_from_1(rows: Rows, layout: Layout) -> bool:
    """Whether the indices seem to be 1 to size: of 0 to size - 1 only 0 is missing, and size is extra."""
    one_for_another = rows.faults["extra-index"] == rows.faults["missing-index"] == 1
    has_size = any(fault.code == "extra-index" and fault.example == layout.size for fault in rows.shown)
    return rows.rows == layout.size and one_for_another and has_size


def _row_count_problem(name: str, rows: int, layout: Layout) -> Problem | None:
    """The problem of a number of rows that is not that of the split; None if it may be right."""
    if rows == layout.size:
        return None
    value = f"{rows:,} rows, not {layout.size:,}"
    if rows in layout.others:
        return _problem("wrong-split", name, layout, what=layout.others[rows], value=value)
    if not layout.complete:
        return None
    if rows in layout.versions:
        what = f"{rows:,} is the size of {layout.versions[rows]}"
        return _problem("wrong-version", name, layout, what=what)
    return _problem("row-count", name, layout, value=value)


def _fault_problem(name: str, fault: Fault, layout: Layout, *, from_1: bool) -> Problem:
    value = None
    if fault.value is not None:
        value = _shorten(fault.value)
    problem = _problem(fault.code, name, layout, line=fault.line, index=fault.example, value=value)
    if fix := of_truth(value or "", layout.words):
        return replace(problem, fix=fix)
    if from_1 and fault.code in ("extra-index", "missing-index"):
        fix = "The indices seem to count from 1: take one from each, so that the first example has index 0."
        return replace(problem, fix=fix)
    return problem


def _problem(
    code: str,
    name: str,
    layout: Layout,
    severity: Severity = "error",
    *,
    what: str = "",
    line: int | None = None,
    index: int | None = None,
    value: str | None = None,
) -> Problem:
    first: object = 0
    last: object = layout.size - 1
    id_of_row = ""
    if layout.ids:
        code = _OF_IDS.get(code, code)
        first = layout.ids[0]
        last = layout.ids[-1]
        if index is not None:
            id_of_row = layout.ids[index]
    return _worded(
        code,
        name,
        severity,
        what=what,
        allowed=allowed_values(layout),
        column=layout.value,
        size=layout.size,
        first=first,
        last=last,
        line=line,
        index=index,
        value=value,
        id=id_of_row,
    )


def allowed_values(layout: Layout) -> str:
    """What a cell may hold, for a sentence: the labels, a number, or what its form says."""
    if layout.form:
        return layout.form.expected
    if layout.words:
        return _join_words(layout.words)
    return "a number such as 3.5"


def of_truth(value: str, words: Sequence[str]) -> str:
    """What to do about True or False where the labels are 0 and 1; empty for other values."""
    if value.strip().casefold() in ("true", "false") and set(words) == {"0", "1"}:
        return "Write 1 for True and 0 for False (in pandas: astype(int))."
    return ""


def _join_words(words: Sequence[str]) -> str:
    """Join label words for a sentence: "entailment, neutral or contradiction"."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _shorten(value: bytes) -> str:
    """The text of a value, cut where it is long."""
    text = value.decode("utf-8", "backslashreplace")
    if len(text) > _VALUE_LENGTH:
        text = text[: _VALUE_LENGTH - 1] + "…"
    return text
