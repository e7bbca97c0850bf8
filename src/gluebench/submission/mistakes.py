"""Recognize and describe the most common mistakes in a file of predictions, one step for each.

These steps run only on a file in which the exact reader found an error. Each rewrites the cells that it is
certain of, and says so where it can only guess; none changes one label into another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite

from gluebench.benchmark import Task
from gluebench.reading.notation import is_number, loaded
from gluebench.reading.text import as_utf8
from gluebench.submission.answers import TwoColumnsError
from gluebench.submission.form_mistakes import numbers_of, rewrite_cells, unique_words
from gluebench.submission.layouts import Cells, NotRecognizedError, read_cells
from gluebench.submission.problems import Problem
from gluebench.submission.row_editor import RowEditor, fold_word, labels_of
from gluebench.submission.rows import MOST_BYTES, Choices, Layout
from gluebench.submission.table_columns import CLASS_NAME, find_columns, whole_number
from gluebench.submission.tables import Table, most_marks, read_rows

_SHORT = 4_000
"""Bytes of a file that is analyzed whatever its errors are."""
_SAMPLE = 1_000
"""Bytes at the start of a longer file that are searched for mistakes made in all of its rows."""
_STRUCTURAL = frozenset(
    {"separator", "header", "no-header", "columns", "too-large", "extra-index", "repeated-index"}
)
"""Errors after which the whole file is analyzed; after others, only if the sample shows a mistake."""
_EXPLAINS = {
    "class-numbers": {"unknown-label", "bad-cell"},
    "probabilities": {"unknown-label"},
    "one-probability": {"unknown-label"},
    "span-texts": {"bad-cell"},
    "span-ends": {"bad-cell"},
    "labels-alone": {"bad-cell"},
    "multi-hot": {"bad-cell", "repeated-part"},
    "logits": {"bad-cell"},
    "hidden-labels": {"unknown-label"},
    "index-restarts": {"repeated-index", "missing-index", "row-count"},
}
"""Mistake to the errors of the exact reader that it explains; these are then not reported."""


def explain_table(
    name: str,
    data: bytes,
    layout: Layout,
    table: Table,
    *,
    choices: Choices = Choices(),  # noqa: B008 - immutable
    thorough: bool = False,
) -> Table:
    """Analyze a wrong file again: one problem for each recognized mistake, then the remaining errors.

    The column holds the repaired predictions; None if errors remain. A large file is analyzed only if its
    first rows or its errors suggest a mistake in all rows, or if `thorough`.
    """
    data = as_utf8(data)
    if len(data) > MOST_BYTES or most_marks(data, "\n\r") > layout.most_rows:
        return table
    if not (thorough or _is_promising(data, layout, table)):
        return table

    try:
        editor = _edit_table(name, data, layout, choices)
    except NotRecognizedError as error:
        if not error.line:
            return table
        return Table(None, [error.problem(name)], Counter())
    except TwoColumnsError as error:
        problem = Problem("two-columns", "error", name, error.expected, error.fix, error.line)
        return Table(None, [problem], Counter())
    return _read_again(editor, table)


def explain_rows(
    name: str, cells: Cells, layout: Layout, table: Table, *, task: Task, choices: Choices
) -> Table:
    """Analyze the rows of index or id and value of a wrong file of another shape or form.

    Returns what `explain_table` returns.
    """
    editor = RowEditor(name, layout, choices, cells)
    for code, what in cells.departures:
        editor.add_mistake(code, what=what, line=1)
    if layout.form:
        _rewrite_indices(editor)
        rewrite_cells(editor, task)
        _find_repeated(editor)
    else:
        for step in _STEPS_ON_ROWS:
            step(editor)
    return _read_again(editor, table)


def _read_again(editor: RowEditor, table: Table) -> Table:
    """The recognized mistakes, and what the exact reader says of the repaired rows."""
    if not editor.mistakes:
        return table
    hidden: set[str] = set()
    for mistake in editor.mistakes:
        hidden |= _EXPLAINS.get(mistake.code, set())

    again = read_rows(editor.name, editor.cells.rows, editor.cells.lines, editor.layout)
    codes = {problem.code for problem in again.problems}
    problems = []
    for problem in table.problems:
        if problem.severity != "error" and problem.code not in codes:
            problems.append(problem)
    problems += editor.mistakes
    problems += [problem for problem in again.problems if problem.code not in hidden]

    unshown = Counter(again.unshown)
    for code in hidden:
        del unshown[code]
    return Table(again.column, problems, unshown)


def _is_promising(data: bytes, layout: Layout, table: Table) -> bool:
    """Whether the errors, the first rows or the values shown suggest a mistake in all rows."""
    if len(data) <= _SHORT or any(problem.code in _STRUCTURAL for problem in table.problems):
        return True
    sample = data[:_SAMPLE].rpartition(b"\n")[0]
    values = [problem.value for problem in table.problems if problem.value and problem.index is not None]
    for number, value in enumerate(values, 10**9):  # an index that no row of the sample has
        sample += f"\n{number}\t{value}".encode()
    try:
        return bool(_edit_table("", sample, layout, Choices()).mistakes)
    except NotRecognizedError:
        return False
    except TwoColumnsError:
        return True


def _edit_table(name: str, data: bytes, layout: Layout, choices: Choices) -> RowEditor:
    """The rows of a table after all steps. Raises NotRecognizedError, TwoColumnsError."""
    editor = RowEditor(name, layout, choices, read_cells(data, layout))
    for code, what in editor.cells.departures:
        editor.add_mistake(code, what=what)
    find_columns(editor)
    for step in _STEPS_ON_ROWS:
        step(editor)
    return editor


_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+")
_NAMED = re.compile(r"(?:[A-Za-z_0-9]*[A-Za-z_][-_:])([0-9]+)")
"""An index after the name of its split, such as test-17."""
_OBJECT = re.compile(
    r"(?:(?:torch\.)?tensor|array|(?:np\.)?(?:int|float|str_?|bool_?)\d*)?[(\[]+([^,()\[\]]+)"
    r"(?:, ?(?:device|dtype)=(?:[^)]*[^)\]])?)?[)\]]+|b(?=['\"])(.*)"
)
"""The Python repr of an object that holds one value: tensor(1), [1], np.int64(1), b'neutral'."""


def _remove_marks(editor: RowEditor) -> None:
    """Take quotes, spaces and the marks of Python's objects from the cells; an id may have them."""
    for column in (0, 1):
        if "".join(editor.column(column)).isdecimal():
            continue  # skip a column of plain digits, which may be long
        known: set[str] = set()
        if column == 0:
            known.update(editor.layout.ids)
        editor.rewrite(column, "quotes", partial(_without_quotes, known=known))
        editor.rewrite(column, "python-values", partial(_value_of_object, known=known))


def _without_quotes(text: str, *, known: Collection[str]) -> str:
    if text in known:
        return text
    return text.strip().strip("\"'").strip()


def _value_of_object(text: str, *, known: Collection[str]) -> str:
    """The value in the Python repr of an object; other text, and that of ids, as it is."""
    match = _OBJECT.fullmatch(text)
    if text in known or not match:
        return text
    value = match[1] or match[2]
    return value.strip("'\" ")


def _rewrite_indices(editor: RowEditor) -> None:
    """Write indices in plain digits, from 0."""
    if editor.layout.ids:
        return
    editor.rewrite(0, "whole-index", _plain_index)

    indices = editor.column(0)
    size = editor.layout.size
    if len(indices) != size or size < 2 or "0" in indices:
        return
    from_1 = {str(number) for number in range(1, size + 1)}
    if {*indices} == from_1:
        editor.rewrite(0, "index-from-1", lambda text: str(int(text) - 1))


def _plain_index(text: str) -> str:
    named = _NAMED.fullmatch(text)
    digits = text
    if named:
        digits = named[1]
    number = whole_number(digits)
    if number is None or number.startswith("-"):
        return text
    return number


def _rewrite_values(editor: RowEditor) -> None:
    """Rewrite numbers and labels that can only mean one thing; of the others, say what all seem to be."""
    layout = editor.layout
    if not layout.words:
        editor.rewrite(1, "decimal-comma", partial(_with_point, score_range=layout.score_range or (0, 0)))
        return
    editor.rewrite(1, "label-spelling", _speller(layout))
    editor.rewrite(1, "label-meaning", _interpreter(editor))
    cells = {*editor.column(1)}
    if not cells or not cells.isdisjoint(layout.known_words):
        return

    numbers = {cell: whole_number(CLASS_NAME.sub(r"\1", cell)) or "" for cell in cells}
    if cells == {"-1"}:
        editor.add_cell_mistake("hidden-labels", cells)
    elif all(number.isdecimal() and int(number) < len(layout.words) for number in numbers.values()):
        _rewrite_class_numbers(editor, numbers)
    elif vectors := _vectors(editor, cells):
        _rewrite_probabilities(editor, vectors)
    elif all(is_number(cell) and whole_number(cell) is None for cell in cells):
        editor.add_cell_mistake("one-probability", cells)


def _with_point(text: str, *, score_range: tuple[float, float]) -> str:
    """A number with a decimal comma with a point instead, if it is a score then."""
    if not _COMMA_NUMBER.fullmatch(text):
        return text
    number = text.replace(",", ".")
    low, high = score_range
    if low <= float(number) <= high:
        return number
    return text


def _vectors(editor: RowEditor, cells: Collection[str]) -> dict[str, list[float]]:
    """Cell to its numbers, of which there are several; empty unless all cells have some.

    Of objects of labels to numbers, those of the first label, of the second and so on.
    """
    vectors: dict[str, list[float]] = {}
    if len({cell.startswith("{") for cell in cells}) > 1:
        return vectors
    for cell in cells:
        value = None
        if cell.startswith("{"):
            value = loaded(cell)
        if isinstance(value, dict):
            numbers = [str(value[key]) for key in _order_of(value, editor)]
        else:
            numbers = numbers_of(cell)
        if len(numbers) < 2 or not all(map(is_number, numbers)):
            return {}
        vectors[cell] = list(map(float, numbers))
    return vectors


def _order_of(keys: Collection[str], editor: RowEditor) -> list[str]:
    """The keys in the order of the labels or class numbers that they are; empty if they are neither."""
    words = editor.layout.words
    spell = _speller(editor.layout)
    meanings = _meanings(editor.layout)
    by_word = {meanings.get(fold_word(key)) or spell(key): key for key in keys}
    if {*by_word} == {*words}:
        editor.order = words
        return [by_word[word] for word in words]

    by_number = {whole_number(CLASS_NAME.sub(r"\1", key)): key for key in keys}
    numbers = list(map(str, range(len(words))))
    if {*by_number} == {*numbers}:
        return [by_number[number] for number in numbers]
    return []


def _rewrite_probabilities(editor: RowEditor, vectors: Mapping[str, Sequence[float]]) -> None:
    """Record probabilities or logits; replace them by the label of the largest if the author wants that."""
    editor.add_cell_mistake("probabilities", vectors)
    order = editor.order or editor.choices.words or editor.layout.words
    if not editor.choices.argmax or {*order} != {*editor.layout.words}:
        return
    labels = {}
    tied_cells = set()
    for cell, vector in vectors.items():
        if len(vector) != len(order) or not all(map(isfinite, vector)):
            return
        largest = max(vector)
        labels[cell] = order[vector.index(largest)]
        if vector.count(largest) > 1:
            tied_cells.add(cell)

    taken = "the label with the largest number taken"
    if editor.order:
        repair = f"{taken}, in the order that the file gives: {', '.join(order)}"
    elif editor.choices.words:
        repair = f"{taken}, in the order given: {', '.join(order)}"
    else:
        repair = f"guess: {taken}, as if the columns were in the benchmark's order: {', '.join(order)}"
    if tied_cells:
        rows = sum(cell in tied_cells for cell in editor.column(1))
        repair += f"; the first of equal ones in {rows:,} rows"
    editor.mistakes[-1] = replace(editor.mistakes[-1], repair=repair)
    editor.set_cells(1, labels)


def _rewrite_class_numbers(editor: RowEditor, numbers: dict[str, str]) -> None:
    """Record class numbers; replace them by labels only if the author gave the order of the labels."""
    words = editor.choices.words
    if {*words} != {*editor.layout.words}:
        editor.add_cell_mistake("class-numbers", numbers)
        return
    labels = {cell: words[int(number)] for cell, number in numbers.items()}
    editor.replace(1, "class-numbers", labels, repair=labels_of(words))


def _interpreter(editor: RowEditor) -> Callable[[str], str]:
    """Return a function that replaces meanings of labels, as "acceptable" for 1, if all cells are such."""
    layout = editor.layout
    word_of = _meanings(layout)
    known = {*map(fold_word, layout.words)} | word_of.keys()
    if any(fold_word(cell) not in known for cell in {*editor.column(1)}):
        return str

    def interpret(text: str) -> str:
        if text in layout.words:
            return text
        return word_of.get(fold_word(text), text)

    return interpret


def _meanings(layout: Layout) -> dict[str, str]:
    """Folded meaning to the label word, without those of several labels."""
    # None are known of a layout made by hand.
    return unique_words(zip(layout.glosses, layout.words, strict=False))


def _speller(layout: Layout) -> Callable[[str], str]:
    """Return a function that matches label words, ignoring letter case, separators and a decimal zero."""
    folded: dict[str, str] = {fold_word(word): word for word in layout.known_words}
    if len(folded) < len(layout.known_words):  # two labels differ only in separators
        folded = {}
    are_numbers = {*map(str, range(len(layout.words)))} == {*layout.words}
    if are_numbers and len(layout.words) == 2:
        folded |= {"false": "0", "true": "1"}

    def spell(text: str) -> str:
        if text in layout.known_words:
            return text
        bare = text
        if are_numbers:
            bare = CLASS_NAME.sub(r"\1", text)
        number = whole_number(bare)
        if number in layout.words:
            return number
        if not text[:1].isalpha():
            return text
        return folded.get(fold_word(text), text)

    return spell


def _find_repeated(editor: RowEditor) -> None:
    """Recognize indices that start again with each batch; leave out rows that repeat another exactly."""
    cells = editor.cells
    indices = editor.column(0)
    if len({*indices}) == len(cells.rows):
        return
    if len(cells.rows) == editor.layout.size and (length := _period(indices)):
        line = cells.lines[length]
        editor.add_mistake("index-restarts", what=f"{length:,}", line=line, value=indices[length])
        return

    line_of: dict[tuple[str, ...], int] = {}
    first_repeated = None
    for row, line in zip(cells.rows, cells.lines, strict=True):
        first_line = line_of.setdefault(tuple(row), line)
        if first_repeated is None and line != first_line:
            first_repeated = line
    repeated = len(cells.rows) - len(line_of)
    if not repeated or len({row[0] for row in line_of}) < len(line_of):
        return
    editor.add_mistake("repeated-rows", what=f"{repeated:,}", line=first_repeated)
    cells.rows = list(map(list, line_of))
    cells.lines = list(line_of.values())


def _period(indices: Sequence[str]) -> int:
    """After how many rows the indices start again, as positions in batches do; 0 if they do not."""
    if not indices or not all(map(str.isdecimal, indices)):
        return 0
    numbers = list(map(int, indices))
    first = numbers[0]
    if first not in numbers[1:]:
        return 0
    period = numbers.index(first, 1)
    regular = period > 1 and all(number == first + at % period for at, number in enumerate(numbers))
    return period if regular else 0


_STEPS_ON_ROWS = (_remove_marks, _rewrite_indices, _rewrite_values, _find_repeated)
"""The steps that need no more than rows of index or id and value."""
