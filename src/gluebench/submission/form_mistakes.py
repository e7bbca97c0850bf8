"""Recognize what people write in every cell of forms other than labels and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from gluebench.benchmark import Task
from gluebench.reading.notation import NotationError, is_number, loaded
from gluebench.submission.forms import CellForm, cell_text
from gluebench.submission.row_editor import RowEditor, fold_word, labels_of

SEPARATORS = (",", ";", "|", " ")
"""What people write between the parts of a cell."""
_OF_WORDS = ("sets", "tokens", "ranking")
"""Forms whose cells are words with a separator between them."""
_OF_NUMBERS = ("probabilities", "distributions")
_OWN_MARKS = {"S": "B", "U": "B", "E": "I", "L": "I", "M": "I"}
"""Marks of single words, ends and middles in IOBES, BILOU and BMES to those of IOB2."""


Step = Callable[[str], str | None]
"""Returns a cell rewritten, or None for one that it does not concern."""


def rewrite_cells(editor: RowEditor, task: Task) -> None:
    """Rewrite the cells that can only mean one thing; of the others, say what they all seem to be."""
    form = editor.layout.form
    if form is None:
        return
    steps = _rewriting_steps(task)
    new_cells: dict[str, dict[str, str]] = {code: {} for code in steps}
    for cell in _wrong_cells(editor, form):
        for code, before, after in _path_to_readable(cell, steps, form):
            new_cells[code][before] = after
    for code, of_step in new_cells.items():
        editor.replace(1, code, of_step)

    left = _wrong_cells(editor, form)
    if left:
        _tell_left(editor, task, left)


def _wrong_cells(editor: RowEditor, form: CellForm) -> set[str]:
    return {cell for cell in {*editor.column(1)} if not _is_readable(cell, form)}


def _rewriting_steps(task: Task) -> dict[str, Step]:
    """Mistake to what rewrites a cell, in the order in which they are tried."""
    steps: dict[str, Step] = {"python-values": partial(_rewrite_list, task=task)}
    if task.form in _OF_WORDS:
        words = {
            "label-spelling": _spellings(task),
            "label-meaning": _meanings(task),
            "other-scheme": _schemes(task),
        }
        known = {word for labels in words.values() for word in labels}
        steps["cell-separator"] = partial(_rewrite_separator, task=task, known=known)
        for code, labels in words.items():
            steps[code] = partial(_rewrite_labels, task=task, words=labels)
    elif task.form in _OF_NUMBERS:
        steps["cell-separator"] = _separate_numbers
    return steps


def _path_to_readable(cell: str, steps: Mapping[str, Step], form: CellForm) -> list[tuple[str, str, str]]:
    """The steps from a wrong cell to one that can be read, as ['Joy'] needs two; empty if none lead there.

    Of each step its code, and the cell before and after it.
    """
    path = []
    for code, step in steps.items():
        new = step(cell)
        if new is not None and new != cell:
            path.append((code, cell, new))
            cell = new
    return path if _is_readable(cell, form) else []


def _is_readable(cell: str, form: CellForm) -> bool:
    if not cell:
        return form.blank
    try:
        form.read(cell)
    except ValueError:
        return False
    return True


def _rewrite_list(cell: str, *, task: Task) -> str | None:
    """The cell of a list or a tuple, as Python or JSON writes it; None for any other."""
    bare = cell.strip()
    if bare[:1] + bare[-1:] not in ("[]", "()"):
        return None
    inner = bare[1:-1].rstrip(", ")
    if task.form == "spans":
        inner = inner.replace("(", "[").replace(")", "]")
    try:
        value = loaded(f"[{inner}]")
        if value is None:
            value = loaded(f"[{inner}]".replace("'", '"'))
        if task.form == "spans" and value and not isinstance(value[0], list | dict):
            value = [value]
        if value is not None and task.form not in _OF_NUMBERS:
            return cell_text(value, task)
        if value is not None:
            return " ".join(map(str, value))
        return inner if task.form in _OF_NUMBERS else None
    except (NotationError, TypeError, RecursionError):
        return None


def _separator(task: Task) -> str:
    """What is between the words of a cell."""
    return task.separator if task.form == "sets" else " "


def _split(cell: str, task: Task) -> list[str]:
    return [part.strip() for part in cell.split(_separator(task).strip() or None)]


def _join(parts: Iterable[str], task: Task) -> str:
    return _separator(task).join(parts)


def _rewrite_separator(cell: str, *, task: Task, known: Collection[str]) -> str | None:
    """The cell with the separator of its form in place of another, if all parts are then labels or ids.

    `known` has the folded words that stand for labels.
    """
    if task.form != "ranking" and not task.vocabulary:
        return None
    for separator in SEPARATORS:
        parts = [part.strip() for part in cell.split(separator) if part.strip()]
        if separator not in cell.strip() or len(parts) < 2:
            continue
        if task.form == "ranking":
            # No id has a comma or a blank in it.
            if separator != "," or any(" " in part for part in parts):
                return None
            return _join(parts, task)
        if all(fold_word(part) in known or part in task.vocabulary for part in parts):
            return _join(parts, task)
    return None


def _separate_numbers(cell: str) -> str | None:
    return " ".join(numbers_of(cell)) or None


def numbers_of(cell: str) -> list[str]:
    """The numbers of a cell, with brackets around them or not; none if something else is there."""
    bare = cell.strip()
    if bare[:1] + bare[-1:] in ("[]", "()"):
        bare = bare[1:-1]
    parts = re.split(r"[,;|\s]+", bare.strip())
    if not all(map(is_number, parts)):
        return []
    return parts


def unique_words(words: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Folded word to label, without empty words and those of several labels."""
    known: dict[str, set[str]] = {}
    for word, label in words:
        if word:
            known.setdefault(fold_word(word), set()).add(label)
    return {word: labels.pop() for word, labels in known.items() if len(labels) == 1}


def _spellings(task: Task) -> dict[str, str]:
    return unique_words(zip(task.vocabulary, task.vocabulary, strict=True))


def _meanings(task: Task) -> dict[str, str]:
    return unique_words(zip(task.glosses, task.vocabulary, strict=True))


def _schemes(task: Task) -> dict[str, str]:
    """Tags of IOBES, BILOU and BMES to those of IOB2, if the task has these and none of the others."""
    marks = {tag.partition("-")[0] for tag in task.vocabulary}
    if task.form != "tokens" or not {"B", "I"} <= marks <= {"B", "I", "O"}:
        return {}
    tags = []
    for tag in task.vocabulary:
        mark, dash, kind = tag.partition("-")
        if not dash:
            continue
        for other_mark, own_mark in _OWN_MARKS.items():
            if own_mark == mark:
                tags.append((f"{other_mark}-{kind}", tag))
    return unique_words(tags)


def _rewrite_labels(cell: str, *, task: Task, words: Mapping[str, str]) -> str | None:
    """The cell with each part that is no label replaced by the label it stands for."""
    labels = []
    for part in _split(cell, task):
        if part not in task.vocabulary:
            part = words.get(fold_word(part), part)
        labels.append(part)
    return _join(labels, task)


def _tell_left(editor: RowEditor, task: Task, left: set[str]) -> None:
    """Say what all cells that cannot be read seem to be; their author has to decide."""
    words = task.vocabulary
    parts: list[str] = []
    for cell in left:
        parts += _split(cell, task)
    numbered = all(part.isdecimal() and int(part) < len(words) for part in parts)
    order = editor.choices.words
    if task.form == "sets" and all(_is_multi_hot(cell, len(words)) for cell in left):
        repair = f"1 replaced by the labels {', '.join(order)}"
        _name_labels(editor, task, "multi-hot", left, _labels_of_ones, repair)
    elif task.form in ("sets", "tokens") and parts and numbered:
        read = partial(_labels_of_numbers, task=task)
        _name_labels(editor, task, "class-numbers", left, read, labels_of(order))
    elif task.form == "spans" and not any(map(str.isdigit, "".join(left))):
        editor.add_cell_mistake("span-texts", left)
    elif task.form == "spans" and all(map(_ends_at_start, left)):
        editor.add_cell_mistake("span-ends", left)
    elif task.form in _OF_NUMBERS and left <= {*words}:
        editor.add_cell_mistake("labels-alone", left)
    elif task.form in _OF_NUMBERS and all(_has_numbers(cell, len(words)) for cell in left):
        editor.add_cell_mistake("logits", left)


def _has_numbers(cell: str, count: int) -> bool:
    """Whether a cell has this many parts, and all are numbers."""
    parts = cell.split()
    return len(parts) == count and all(map(is_number, parts))


def _name_labels(
    editor: RowEditor,
    task: Task,
    code: str,
    cells: Collection[str],
    labels: Callable[[str, Sequence[str]], list[str]],
    repair: str,
) -> None:
    """Record numbers of labels; replace them by the labels if the author gave the order of these."""
    order = editor.choices.words
    if {*order} != {*task.vocabulary}:
        editor.add_cell_mistake(code, cells)
        return
    new = {cell: _join(labels(cell, order), task) for cell in cells}
    editor.replace(1, code, new, repair=repair)


def _labels_of_numbers(cell: str, order: Sequence[str], *, task: Task) -> list[str]:
    return [order[int(part)] for part in _split(cell, task)]


def _is_multi_hot(cell: str, number: int) -> bool:
    """Whether a cell has 0 or 1 for each of a number of labels."""
    numbers = [float(part) for part in numbers_of(cell)]
    return len(numbers) == number > 0 and {*numbers} <= {0.0, 1.0}


def _labels_of_ones(cell: str, order: Sequence[str]) -> list[str]:
    """The labels that a cell of 0 or 1 for each has."""
    return [word for word, number in zip(order, numbers_of(cell), strict=True) if float(number)]


def _ends_at_start(cell: str) -> bool:
    """Whether a cell has a span that ends where it starts, as one letter does whose end is included."""
    return any(start == end for start, end in re.findall(r"([0-9]{1,9})-([0-9]{1,9})", cell))
