"""Read files of forms other than labels and numbers in shapes that people use undeclared."""

from __future__ import annotations

from typing import NamedTuple

from gluebench.benchmark import Role, Task, TestFile
from gluebench.reading.nested import is_json
from gluebench.reading.records import ReadingError
from gluebench.reading.text import DELIMITERS, LINE, Row, decode, find_delimiter
from gluebench.reading.text import read_table as split_table
from gluebench.submission.answers import KEYS, VALUES
from gluebench.submission.mistakes import explain_rows
from gluebench.submission.rows import Choices, Layout
from gluebench.submission.shapes import read_shaped
from gluebench.submission.tables import Table

_SPREAD = ("sets", "probabilities", "distributions")
"""Forms that may have a column for each label."""


class _Shape(NamedTuple):
    """A shape as a manifest would declare it, and what is said of it."""

    file: TestFile
    mistakes: list[tuple[str, str]]
    """Code and details of each mistake that a file of this shape is."""


def read_undeclared(
    path: str, data: bytes, file: TestFile, task: Task, layout: Layout, role: Role, choices: Choices
) -> Table | None:
    """The predictions of JSON, CSV, a column for each label or a line for each token; None if it is no such.

    What was read is a mistake that `--fix` repairs.
    """
    try:
        shape = _find_shape(decode(data), file, task, role)
    except ReadingError:
        return None
    if shape is None:
        return None
    shaped = read_shaped(path, data, shape.file, task, layout, role)
    problems = shaped.table.problems
    if problems and problems[0].code == "shape":
        # The file is not of the shape. If a later line shows that, the header fits and a row is wrong.
        wrong_line = problems[0].line
        if wrong_line is not None and wrong_line > 1:
            return shaped.table
        return None
    count = len(shaped.rows.cells)
    if count == 0 or count > layout.most_rows:
        return None
    cells = shaped.editable_rows()
    # Departures from an ordinary file are told as mistakes.
    cells.departures += shape.mistakes
    if shaped.rows.numbered:
        cells.departures.append(("no-index", ""))
    return explain_rows(path, cells, layout, shaped.table, task=task, choices=choices)


def _find_shape(text: str, file: TestFile, task: Task, role: Role) -> _Shape | None:
    """The shape that a text seems to have; None if it has none of those that people use."""
    if is_json(text):
        return _Shape(file, [("json", "")])
    ordered = {**file.splits, role: file.splits[role]._replace(ordered=True)}
    delimiter = find_delimiter(text)
    header = next(split_table(text, delimiter), Row(1, [])).cells
    names = [name.strip() for name in header]
    others = [name for name in names if name.casefold() not in KEYS]
    has_index = len(others) < len(names)
    words = {*task.vocabulary}
    if task.form in _SPREAD and words and words <= {*names}:
        shape = file._replace(column="", columns=task.vocabulary)
        if has_index or file.splits[role].ids:
            return _Shape(shape, [("label-columns", "")])
        return _Shape(shape._replace(splits=ordered), [("label-columns", ""), ("no-index", "")])
    if has_index and delimiter not in (LINE, "\t"):
        answers = [name for name in others if name.casefold() in VALUES]
        if len(answers) != 1:
            answers = others
        if len(answers) != 1:
            return None
        return _Shape(file._replace(column=answers[0]), [("separator", DELIMITERS[delimiter])])
    if task.form == "tokens" and len(text.strip().split("\n\n")) == file.size(role) > 1:
        shape = file._replace(column="", splits=ordered)
        return _Shape(shape, [("token-lines", ""), ("no-index", "")])
    return None
