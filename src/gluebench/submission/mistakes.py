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
from gluebench.reading.text import SEEN, as_utf8
from gluebench.submission.answers import GOLD_NAMES, KEYS, VALUES, TwoColumnsError, refuse_rivals
from gluebench.submission.form_mistakes import numbers_of, rewrite_cells, unique_words
from gluebench.submission.layouts import Cells, NotRecognizedError, cells_of
from gluebench.submission.problems import Problem
from gluebench.submission.rows import MOST_BYTES, Choices, Layout
from gluebench.submission.sheet import Sheet, fold_word, labels_of
from gluebench.submission.tables import INDEX_NAMES, Table, most_marks, read_table

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


def explained(
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
        sheet = _sheet(name, data, layout, choices)
    except NotRecognizedError as error:
        return Table(None, [error.problem(name)], Counter()) if error.line else table
    except TwoColumnsError as error:
        problem = Problem("two-columns", "error", name, error.expected, error.fix, error.line)
        return Table(None, [problem], Counter())
    return _read_again(sheet, table)


def explained_rows(
    name: str, cells: Cells, layout: Layout, table: Table, *, task: Task, choices: Choices
) -> Table:
    """Analyze the rows of index or id and value of a wrong file of another shape or form; see `explained`."""
    sheet = Sheet(name, layout, choices, cells)
    for code, what in cells.departures:
        sheet.tell(code, what=what, line=1)
    if layout.form:
        _indices(sheet)
        rewrite_cells(sheet, task)
        _repeated(sheet)
    else:
        for step in _ON_ROWS:
            step(sheet)
    return _read_again(sheet, table)


def _read_again(sheet: Sheet, table: Table) -> Table:
    """The recognized mistakes, and what the exact reader says of the repaired rows."""
    if not sheet.mistakes:
        return table
    layout = sheet.layout
    rows = "".join("\t".join(row) + "\n" for row in sheet.cells.rows)
    head = f"{'id' if layout.ids else 'index'}\t{layout.value}\n"
    again = read_table(sheet.name, f"{head}{rows}".encode("utf-8", "backslashreplace"), layout)
    hidden = set[str]().union(*(_EXPLAINS.get(mistake.code, ()) for mistake in sheet.mistakes))
    left = [
        problem if problem.line is None else replace(problem, line=sheet.cells.lines[problem.line - 2])
        for problem in again.problems
        if problem.code not in hidden
    ]
    codes = {problem.code for problem in again.problems}
    notices = [note for note in table.problems if note.severity != "error" and note.code not in codes]
    unshown = Counter({code: count for code, count in again.unshown.items() if code not in hidden})
    return Table(again.column, [*notices, *sheet.mistakes, *left], unshown)


def _is_promising(data: bytes, layout: Layout, table: Table) -> bool:
    """Whether the errors, the first rows or the values shown suggest a mistake in all rows."""
    if len(data) <= _SHORT or any(problem.code in _STRUCTURAL for problem in table.problems):
        return True
    values = [problem.value for problem in table.problems if problem.value and problem.index is not None]
    shown = "".join(f"\n{10**9 + at}\t{value}" for at, value in enumerate(values))
    try:
        head = data[:_SAMPLE].rpartition(b"\n")[0]
        return bool(_sheet("", head + shown.encode(), layout, Choices()).mistakes)
    except NotRecognizedError:
        return False
    except TwoColumnsError:
        return True


def _sheet(name: str, data: bytes, layout: Layout, choices: Choices) -> Sheet:
    sheet = Sheet(name, layout, choices, cells_of(data, layout))
    for code, what in sheet.cells.departures:
        sheet.tell(code, what=what)
    for step in (_columns, *_ON_ROWS):
        step(sheet)
    return sheet


def _columns(sheet: Sheet) -> None:
    """Identify the index and value columns by their names in the header and by their content."""
    cells, layout = sheet.cells, sheet.layout
    if not cells.rows:
        raise NotRecognizedError
    width = len(cells.header or ()) or Counter(map(len, cells.rows)).most_common(1)[0][0]
    names = [name.strip().strip("\"'").casefold() for name in cells.header or ()]
    whole_columns = [at for at in range(width) if _is_index(cells.rows, at, layout)]
    if not whole_columns and _are_probabilities(cells, layout):
        _join_probabilities(sheet, None, [*range(width)])
        return
    index = next((names.index(key) for key in KEYS if key in names), None)
    if whole_columns and index not in whole_columns and (index is None or width == 2):
        index = whole_columns[0]
    if (index, width, names) == (None, 2, []):
        index = 0
    others = [at for at in range(width) if at != index and at not in whole_columns]
    value = _named_answers(sheet, others, names)
    if value is None and len(others) == 1 and (width > 1 or names or _are_values(cells.rows, layout)):
        value = others[0]
    if value is None:
        numbers = all(is_number(row[at]) for row in cells.rows[:SEEN] for at in others if at < len(row))
        if not (layout.words and others and numbers):
            raise NotRecognizedError
        _join_probabilities(sheet, index, others)
    elif index is None and (layout.ids or any(_may_be_index(cells.rows, at) for at in others if at != value)):
        raise NotRecognizedError
    else:
        _check_columns(sheet, index, value, names, width)
        if (index, value, width) != (0, 1, 2):
            cells.rows = [_pair(row, index, value, width, at) for at, row in enumerate(cells.rows)]


def _named_answers(sheet: Sheet, others: Sequence[int], names: Sequence[str]) -> int | None:
    """The column with the most reliable of the usual names of predictions; None if there is none.

    Raises TwoColumnsError if it may be the true labels, and another one the predictions.
    """
    value = next((names.index(key) for key in VALUES if key in names and names.index(key) in others), None)
    if value is None:
        return None
    columns = {}
    for at in others:
        columns[names[at]] = [row[at] for row in sheet.cells.rows[:SEEN] if at < len(row)]
    refuse_rivals(names[value], columns, 1)
    return value


def _are_probabilities(cells: Cells, layout: Layout) -> bool:
    """Whether all cells are numbers, and not whole in the first column, so that it is no index."""
    first = cells.rows[:SEEN]
    if not layout.words or len(first[0]) < 2:
        return False
    numbers = all(is_number(cell) for row in first for cell in row)
    return numbers and any(whole(row[0]) is None for row in first)


def _join_probabilities(sheet: Sheet, index: int | None, columns: Sequence[int]) -> None:
    """Make one cell of the numbers of several columns, in the order that the header says."""
    cells = sheet.cells
    if cells.header and len(cells.header) > max(columns):
        names = [cells.header[at].strip().strip("\"'") for at in columns]
        sheet.order = tuple(names) if {*names} == {*sheet.layout.words} else ()
    width = max(columns) + 1
    for at, row in enumerate(cells.rows):
        if len(row) >= width:
            number = str(at) if index is None else row[index]
            cells.rows[at] = [number, " ".join(row[column] for column in columns)]


def _check_columns(sheet: Sheet, index: int | None, value: int, names: list[str], width: int) -> None:
    first = "\t".join(sheet.cells.header or sheet.cells.rows[0])
    if not names:
        sheet.tell("no-header", value=first, line=1)
    elif width == 2 and index is not None:
        swapped_names = names[index] == sheet.layout.value and names[value] in INDEX_NAMES
        if not swapped_names and (names[index] not in INDEX_NAMES or names[value] != sheet.layout.value):
            sheet.tell("header", value=first, line=1)
    if index is None:
        sheet.tell("no-index", value=first, line=sheet.cells.lines[0])
    if width > 2:
        repair = ""
        if names and names[value] in GOLD_NAMES:
            repair = f"guess: the column {names[value]} taken for the predictions, other columns left out"
        sheet.tell("more-columns", value=first, line=1, repair=repair)
    elif index == 1:
        sheet.tell("swapped-columns", value=first, line=1)


def _pair(row: list[str], index: int | None, value: int, width: int, at: int) -> list[str]:
    """Index and value; a row of another width keeps a width that the exact reader refuses."""
    if len(row) != width:
        return [*row, ""] if len(row) == 2 else row
    return [str(at) if index is None else row[index], row[value]]


def _is_index(rows: Sequence[Sequence[str]], at: int, layout: Layout) -> bool:
    """Whether a column holds ids, or consecutive integers from 0 or 1, each once, so that it is an index."""
    if layout.ids:
        return all(row[at].encode() in layout.places for row in rows[:SEEN] if at < len(row))
    if len({row[at] for row in rows[:SEEN] if at < len(row)}) < min(len(rows), SEEN):
        return False
    cells = [whole(row[at]) for row in rows if at < len(row)]
    numbers = {int(number) for number in cells if number is not None}
    return (
        len(cells) == len(numbers) > 2 and min(numbers) in (0, 1) and max(numbers) - min(numbers) < len(cells)
    )


def _may_be_index(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a column may be a damaged index: most of its cells are one word, and not of sentences."""
    words = [len(row[at].split()) < 2 for row in rows[:SEEN] if at < len(row)]
    return 2 * sum(words) >= len(words)


def _are_values(rows: Sequence[Sequence[str]], layout: Layout) -> bool:
    """Whether any of the first rows, of one cell each, may be a prediction."""
    words = {fold_word(word) for word in (*layout.words, *layout.synonyms)}
    return any(
        fold_word(row[0]) in words or is_number(row[0]) or _CLASS.fullmatch(row[0]) for row in rows[:SEEN]
    )


_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_NAMED = re.compile(r"(?:[A-Za-z_0-9]*[A-Za-z_][-_:])([0-9]+)")
"""An index after the name of its split, such as test-17."""
_OBJECT = re.compile(
    r"(?:(?:torch\.)?tensor|array|(?:np\.)?(?:int|float|str_?|bool_?)\d*)?[(\[]+([^,()\[\]]+)"
    r"(?:, ?(?:device|dtype)=(?:[^)]*[^)\]])?)?[)\]]+|b(?=['\"])(.*)"
)
"""The Python repr of an object that holds one value: tensor(1), [1], np.int64(1), b'neutral'."""
_CLASS = re.compile(r"label[_ ]?([0-9]+)", re.IGNORECASE)


def whole(text: str) -> str | None:
    """The plain digits of an integer in any notation (3, 03, 3.0, 3e0, 1.2e1); None for other text."""
    if text.isascii() and text.isdecimal() and text[:1] != "0":
        return text
    bare = text.strip(" \"'")
    number = float(bare) if _NUMBER.fullmatch(bare) else 0.5
    return str(int(number)) if abs(number) < 2**53 and number.is_integer() else None


def _marks(sheet: Sheet) -> None:
    for column in (0, 1):
        if "".join(sheet.column(column)).isdecimal():
            continue  # skip a column of plain digits, which may be long
        known = {*sheet.layout.ids} if column == 0 else set[str]()
        sheet.rewrite(column, "quotes", partial(_unquoted, known=known))
        sheet.rewrite(column, "python-values", partial(_unwrapped, known=known))


def _unquoted(text: str, *, known: Collection[str]) -> str:
    return text if text in known else text.strip().strip("\"'").strip()


def _unwrapped(text: str, *, known: Collection[str]) -> str:
    match = None if text in known else _OBJECT.fullmatch(text)
    return (match[1] or match[2]).strip("'\" ") if match else text


def _indices(sheet: Sheet) -> None:
    if sheet.layout.ids:
        return

    def plain(text: str) -> str:
        named = _NAMED.fullmatch(text)
        number = whole(named[1] if named else text)
        return text if number is None or number.startswith("-") else number

    sheet.rewrite(0, "whole-index", plain)
    indices, size = sheet.column(0), sheet.layout.size
    if len(indices) == size > 1 and "0" not in indices and {*indices} == {*map(str, range(1, size + 1))}:
        sheet.rewrite(0, "index-from-1", lambda text: str(int(text) - 1))


def _values(sheet: Sheet) -> None:
    if not sheet.layout.words:
        low, high = sheet.layout.score_range or (0, 0)

        def pointed(text: str) -> str:
            point = text.replace(",", ".") if re.fullmatch(r"[+-]?[0-9]+,[0-9]+", text) else ""
            return point if point and low <= float(point) <= high else text

        sheet.rewrite(1, "decimal-comma", pointed)
        return
    sheet.rewrite(1, "label-spelling", _speller(sheet.layout))
    sheet.rewrite(1, "label-meaning", _interpreter(sheet))
    spelled = {*sheet.column(1)}
    strange = spelled - {*sheet.layout.words, *sheet.layout.synonyms}
    if not strange or strange != spelled:
        return
    numbers = {text: whole(_CLASS.sub(r"\1", text)) or "" for text in strange}
    if strange == {"-1"}:
        sheet.tell_cells("hidden-labels", strange)
    elif all(number.isdecimal() and int(number) < len(sheet.layout.words) for number in numbers.values()):
        _class_numbers(sheet, numbers)
    elif vectors := _vectors(sheet, strange):
        _probabilities(sheet, vectors)
    elif all(is_number(text) and whole(text) is None for text in strange):
        sheet.tell_cells("one-probability", strange)


def _vectors(sheet: Sheet, cells: Collection[str]) -> dict[str, list[float]]:
    """Cell to its numbers, of which there are several; empty unless all cells have some.

    Of objects of labels to numbers, those of the first label, of the second and so on.
    """
    vectors: dict[str, list[float]] = {}
    if len({cell.startswith("{") for cell in cells}) > 1:
        return vectors
    for cell in cells:
        value = loaded(cell) if cell.startswith("{") else None
        if isinstance(value, dict):
            order = _order_of(value, sheet)
            numbers = [str(value[key]) for key in order]
        else:
            numbers = numbers_of(cell)
        if len(numbers) < 2 or not all(map(is_number, numbers)):
            return {}
        vectors[cell] = [*map(float, numbers)]
    return vectors


def _order_of(keys: Collection[str], sheet: Sheet) -> list[str]:
    """The keys in the order of the labels or class numbers that they are; empty if they are neither."""
    words = sheet.layout.words
    spell = _speller(sheet.layout)
    meanings = _meanings(sheet.layout)
    by_word = {meanings.get(fold_word(key)) or spell(key): key for key in keys}
    if {*by_word} == {*words}:
        sheet.order = words
        return [by_word[word] for word in words]
    by_number = {whole(_CLASS.sub(r"\1", key)): key for key in keys}
    numbers = [str(number) for number in range(len(words))]
    return [by_number[number] for number in numbers] if {*by_number} == {*numbers} else []


def _probabilities(sheet: Sheet, vectors: Mapping[str, Sequence[float]]) -> None:
    """Record probabilities or logits; replace them by the label of the largest if the author wants that."""
    sheet.tell_cells("probabilities", vectors)
    order = sheet.order or sheet.choices.words or sheet.layout.words
    fits = all(len(vector) == len(order) and all(map(isfinite, vector)) for vector in vectors.values())
    if not (sheet.choices.argmax and fits and {*order} == {*sheet.layout.words}):
        return
    labels = {cell: order[vector.index(max(vector))] for cell, vector in vectors.items()}
    tied = sum(vectors[cell].count(max(vectors[cell])) > 1 for cell in sheet.column(1))
    taken = "the label with the largest number taken"
    if sheet.order:
        repair = f"{taken}, in the order that the file gives: {', '.join(order)}"
    elif sheet.choices.words:
        repair = f"{taken}, in the order given: {', '.join(order)}"
    else:
        repair = f"guess: {taken}, as if the columns were in the benchmark's order: {', '.join(order)}"
    if tied:
        repair += f"; the first of equal ones in {tied:,} rows"
    sheet.mistakes[-1] = replace(sheet.mistakes[-1], repair=repair)
    for row in sheet.cells.rows:
        if len(row) == 2:
            row[1] = labels[row[1]]


def _class_numbers(sheet: Sheet, numbers: dict[str, str]) -> None:
    """Record class numbers; replace them by labels only if the author gave the order of the labels."""
    words = sheet.choices.words
    if {*words} != {*sheet.layout.words}:
        sheet.tell_cells("class-numbers", numbers)
        return
    sheet.rewrite(1, "class-numbers", lambda text: words[int(numbers[text])], repair=labels_of(words))


def _interpreter(sheet: Sheet) -> Callable[[str], str]:
    """Return a function that replaces meanings of labels, as "acceptable" for 1, if all cells are such."""
    layout = sheet.layout
    word_of = _meanings(layout)
    known = {*word_of, *map(fold_word, layout.words)}
    if any(fold_word(cell) not in known for cell in {*sheet.column(1)}):
        return str

    def interpret(text: str) -> str:
        return text if text in layout.words else word_of.get(fold_word(text), text)

    return interpret


def _meanings(layout: Layout) -> dict[str, str]:
    """Folded meaning to the label word, without those of several labels."""
    # None are known of a layout made by hand.
    return unique_words(zip(layout.glosses, layout.words, strict=False))


def _speller(layout: Layout) -> Callable[[str], str]:
    """Return a function that matches label words, ignoring letter case, separators and a decimal zero."""
    spelled = (*layout.synonyms, *layout.words)
    folded: dict[str, str] = {fold_word(word): word for word in spelled}
    if len(folded) < len(spelled):  # two labels differ only in separators
        folded = {}
    ids = {str(number) for number in range(len(layout.words))} == {*layout.words}
    if ids and len(layout.words) == 2:
        folded |= {"false": "0", "true": "1"}

    def spell(text: str) -> str:
        if text in layout.words or text in layout.synonyms:
            return text
        number = whole(_CLASS.sub(r"\1", text) if ids else text)
        if number in layout.words:
            return number
        return folded.get(fold_word(text), text) if text[:1].isalpha() else text

    return spell


def _repeated(sheet: Sheet) -> None:
    """Recognize indices that start again with each batch; leave out rows that repeat another exactly."""
    rows, indices = sheet.cells.rows, sheet.column(0)
    if len({*indices}) == len(rows):
        return
    if len(rows) == sheet.layout.size and (length := _period(indices)):
        sheet.tell(
            "index-restarts", what=f"{length:,}", line=sheet.cells.lines[length], value=indices[length]
        )
        return
    seen: dict[tuple[str, ...], int] = {}
    first_repeated = 0
    for row, line in zip(rows, sheet.cells.lines, strict=True):
        if seen.setdefault(tuple(row), line) != line:
            first_repeated = first_repeated or line
    once = len({row[0] for row in seen}) == len(seen)
    if once and len(seen) < len(rows):
        sheet.tell("repeated-rows", what=f"{len(rows) - len(seen):,}", line=first_repeated or None)
        sheet.cells.rows, sheet.cells.lines = [[*row] for row in seen], [*seen.values()]


def _period(indices: Sequence[str]) -> int:
    """After how many rows the indices start again, as positions in batches do; 0 if they do not."""
    if not indices or not all(map(str.isdecimal, indices)):
        return 0
    numbers = [*map(int, indices)]
    first = numbers[0]
    period = next((at for at, number in enumerate(numbers) if at and number == first), 0)
    regular = period > 1 and all(number == first + at % period for at, number in enumerate(numbers))
    return period if regular else 0


_ON_ROWS = (_marks, _indices, _values, _repeated)
"""The steps that need no more than rows of index or id and value."""
