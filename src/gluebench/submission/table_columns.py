"""Which columns of a wrong table hold the index and the values, by their names and by their content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gluebench.reading.notation import is_number
from gluebench.reading.text import SEEN
from gluebench.submission.answers import GOLD_NAMES, KEYS, VALUES, refuse_rivals
from gluebench.submission.layouts import Cells, NotRecognizedError, bare_name
from gluebench.submission.row_editor import RowEditor, fold_word
from gluebench.submission.rows import Layout
from gluebench.submission.tables import INDEX_NAMES

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
CLASS_NAME = re.compile(r"label[_ ]?([0-9]+)", re.IGNORECASE)
"""The name of a class that says no more than its number, as LABEL_1."""


def find_columns(editor: RowEditor) -> None:
    """Identify the index and value columns by their names in the header and by their content."""
    cells = editor.cells
    layout = editor.layout
    if not cells.rows:
        raise NotRecognizedError
    names = [bare_name(title).casefold() for title in cells.header or ()]
    width = len(names)
    if not names:
        width = Counter(map(len, cells.rows)).most_common(1)[0][0]
    index_columns = [at for at in range(width) if _is_index(cells.rows, at, layout)]
    if not index_columns and _are_probabilities(cells, layout):
        _join_probabilities(editor, None, range(width))
        return

    index = _choose_index(names, index_columns, width)
    others = [at for at in range(width) if at != index and at not in index_columns]
    value = _choose_value(editor, others, names)
    if value is None and len(others) == 1 and (width > 1 or names or _are_values(cells.rows, layout)):
        value = others[0]
    if value is None:
        if not (layout.words and others and _hold_numbers(cells.rows, others)):
            raise NotRecognizedError
        _join_probabilities(editor, index, others)
        return

    # Rows are numbered only if no column may be a damaged index, and ids are not made up.
    possible = [at for at in others if at != value and _may_be_index(cells.rows, at)]
    if index is None and (layout.ids or possible):
        raise NotRecognizedError
    _tell_columns(editor, index, value, names, width)
    if (index, value, width) != (0, 1, 2):
        cells.rows = [_pair(row, index, value, width, at) for at, row in enumerate(cells.rows)]


def _choose_index(names: Sequence[str], index_columns: Sequence[int], width: int) -> int | None:
    """The index column by its name, unless only another one holds an index; None if there is none."""
    named = [names.index(key) for key in KEYS if key in names]
    index = None
    if named:
        index = named[0]
    if index_columns and index not in index_columns and (index is None or width == 2):
        return index_columns[0]
    if index is None and width == 2 and not names:
        return 0
    return index


def _choose_value(editor: RowEditor, others: Sequence[int], names: Sequence[str]) -> int | None:
    """The column with the most reliable of the usual names of predictions; None if there is none.

    Raises TwoColumnsError if it may be the true labels, and another one the predictions.
    """
    named = [names.index(key) for key in VALUES if key in names and names.index(key) in others]
    if not named:
        return None
    columns = {names[at]: _first_cells(editor.cells.rows, at) for at in others}
    refuse_rivals(names[named[0]], columns, 1)
    return named[0]


def _first_cells(rows: Sequence[Sequence[str]], at: int) -> list[str]:
    """The cells of a column in the first rows, by which it is recognized."""
    return [row[at] for row in rows[:SEEN] if at < len(row)]


def _hold_numbers(rows: Sequence[Sequence[str]], columns: Sequence[int]) -> bool:
    """Whether the first cells of these columns are all numbers."""
    return all(is_number(cell) for at in columns for cell in _first_cells(rows, at))


def _are_probabilities(cells: Cells, layout: Layout) -> bool:
    """Whether all cells are numbers, and not whole in the first column, so that it is no index."""
    if not layout.words or len(cells.rows[0]) < 2:
        return False
    width = max(map(len, cells.rows[:SEEN]))
    if not _hold_numbers(cells.rows, range(width)):
        return False
    return None in map(whole_number, _first_cells(cells.rows, 0))


def _join_probabilities(editor: RowEditor, index: int | None, columns: Sequence[int]) -> None:
    """Make one cell of the numbers of several columns, in the order that the header says."""
    cells = editor.cells
    width = max(columns) + 1
    if cells.header and len(cells.header) >= width:
        names = tuple(bare_name(cells.header[at]) for at in columns)
        if {*names} == {*editor.layout.words}:
            editor.order = names
    for at, row in enumerate(cells.rows):
        if len(row) < width:
            continue
        number = str(at)
        if index is not None:
            number = row[index]
        cells.rows[at] = [number, " ".join(row[column] for column in columns)]


def _tell_columns(editor: RowEditor, index: int | None, value: int, names: list[str], width: int) -> None:
    """Record what is wrong with the header, and with the number and the order of the columns."""
    first = "\t".join(editor.cells.header or editor.cells.rows[0])
    if not names:
        editor.add_mistake("no-header", value=first, line=1)
    elif width == 2 and index is not None:
        right_names = names[index] in INDEX_NAMES and names[value] == editor.layout.value
        swapped_names = names[index] == editor.layout.value and names[value] in INDEX_NAMES
        if not (right_names or swapped_names):
            editor.add_mistake("header", value=first, line=1)

    if index is None:
        editor.add_mistake("no-index", value=first, line=editor.cells.lines[0])
    if width > 2:
        repair = ""
        if names and names[value] in GOLD_NAMES:
            repair = f"guess: the column {names[value]} taken for the predictions, other columns left out"
        editor.add_mistake("more-columns", value=first, line=1, repair=repair)
    elif index == 1:
        editor.add_mistake("swapped-columns", value=first, line=1)


def _pair(row: list[str], index: int | None, value: int, width: int, at: int) -> list[str]:
    """Index and value; a row of another width keeps a width that the exact reader refuses."""
    if len(row) != width:
        if len(row) == 2:
            row.append("")
        return row
    if index is None:
        return [str(at), row[value]]
    return [row[index], row[value]]


def _is_index(rows: Sequence[Sequence[str]], at: int, layout: Layout) -> bool:
    """Whether a column holds ids, or consecutive integers from 0 or 1, each once, so that it is an index."""
    first = _first_cells(rows, at)
    if layout.ids:
        return all(cell.encode() in layout.places for cell in first)
    if len({*first}) < min(len(rows), SEEN):
        return False
    cells = [whole_number(row[at]) for row in rows if at < len(row)]
    numbers = {int(number) for number in cells if number is not None}
    if len(numbers) < 3 or len(numbers) < len(cells):
        return False
    lowest = min(numbers)
    return lowest in (0, 1) and max(numbers) - lowest < len(cells)


def _may_be_index(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a column may be a damaged index: most of its cells are one word, and not of sentences."""
    words = [len(cell.split()) < 2 for cell in _first_cells(rows, at)]
    return 2 * sum(words) >= len(words)


def _are_values(rows: Sequence[Sequence[str]], layout: Layout) -> bool:
    """Whether any of the first rows, of one cell each, may be a prediction."""
    words = {fold_word(word) for word in layout.known_words}
    for row in rows[:SEEN]:
        cell = row[0]
        if fold_word(cell) in words or is_number(cell) or CLASS_NAME.fullmatch(cell):
            return True
    return False


def whole_number(text: str) -> str | None:
    """The plain digits of an integer in any notation (3, 03, 3.0, 3e0, 1.2e1); None for other text."""
    if text.isascii() and text.isdecimal() and text[:1] != "0":
        return text
    bare = text.strip(" \"'")
    if not _NUMBER.fullmatch(bare):
        return None
    number = float(bare)
    # Above this size, a float may be another integer than the one that was written.
    if abs(number) < 2**53 and number.is_integer():
        return str(int(number))
    return None
