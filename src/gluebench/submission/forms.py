"""How one example is answered in a file, for tasks of other forms than labels and numbers.

A cell of text becomes a hashable value, which the metrics compare (docs/reference/forms.md). A gold cell may
hold more than a prediction: several valid answers, or the gains of a ranking.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.reading.notation import NotationError, RepeatedError, decimal, joined, loaded, place, weight
from gluebench.submission.relations import Relations, in_python, relations, size_of
from gluebench.submission.submission import Column

SUM_ERROR = 1e-3
"""Largest distance of the sum of probabilities from 1."""
SIZES: Mapping[str, Callable[[Any], int | None]] = {
    "tokens": len,
    "dependencies": len,
    "relations": size_of,
}
"""Form to the size of a cell, which gold and predictions have in common; None for a cell that has none."""
_BOOLEANS = (("false", "true"), ("False", "True"), ("0", "1"))
"""How labels may spell what is `false` and `true` in JSON."""


class CellForm(NamedTuple):
    """How the cells of a column are read and written."""

    read: Callable[[str], Any]
    """The value of a cell. Raises ValueError."""
    write: Callable[[Any], str]
    """The cell of a value."""
    expected: str
    """End of the sentence "expected ..."."""
    blank: bool
    """Whether an empty cell is a value."""


def cell_form(task: Task, *, gold: bool = False) -> CellForm | None:
    """How cells are read and written; None for labels and numbers, which have readers of their own.

    The gold of probabilities are labels.
    """
    if (task.form, gold) in _OF_ANY_LABELS:
        return _OF_ANY_LABELS[task.form, gold]
    words, separator = task.vocabulary, task.separator
    known = f"{', '.join(words[:10])}{', ...' * (len(words) > 10)}"
    after = f": {known}" if words else ""
    match task.form:
        case "sets":
            read_set = partial(_label_set, words=frozenset(words), separator=separator)
            between = f'"{separator}"' if separator.strip() else "blanks"
            expected = f"labels with {between} between them{after}"
            return CellForm(read_set, separator.join, expected, True)
        case "probabilities" | "distributions":
            read = partial(_probabilities, words=words, exclusive=task.exclusive)
            one = f", or that of {words[1]}" if len(words) == 2 and task.exclusive else ""
            sums = "that sum to 1" if task.exclusive else "from 0 to 1"
            expected = f"{len(words)} plain decimals {sums}, in the order {known}{one}"
            return CellForm(read, _numbers, expected, False)
        case "tokens":
            expected = f"a label for each token, with blanks between them{after}"
            same = {word: word for word in words}
            return CellForm(partial(_tokens, words=same), " ".join, expected, False)
        case "dependencies":
            expected = f"a head and a relation for each word, as 2:{words[0] if words else 'nsubj'}, with "
            expected += "blanks between words; a head is the number of a word from 1, or 0"
            expected += f"; relations are {known}" if words else ""
            return CellForm(partial(_dependencies, words=frozenset(words)), " ".join, expected, False)
        case "spans":
            labeled = f"0-5:{words[0]}; 12-20:{words[-1]}" if words else ""
            example = labeled or "0-5; 12-20 or, with a finite weight, 0-5:0.7"
            expected = f"spans as {example}, in plain digits, the end not included"
            return CellForm(partial(_spans, words=frozenset(words)), _span_cell, expected, True)
        case "relations":
            example = f'["<{words[0]}>rain</{words[0]}> fell"], with the tags {known}'
            expected = f"a JSON list of the sentence, once for each relation, as {example}"
            return CellForm(partial(_relations, words=words, gold=gold), _list, expected, False)
    return None


def values_of(column: Column, task: Task, *, gold: bool = False) -> list[Any]:
    """The label words, numbers, or cells as they stand in a file, in index order."""
    form = cell_form(task, gold=gold)
    if form is not None:
        return list(map(form.write, column.cells))
    return column.words() if column.labels else list(column.numbers)


def _text(cell: str) -> str:
    """A text as it is, or a JSON string for a text with tabs or line ends."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        value = loaded(cell)
        if isinstance(value, str):
            return value
    return cell


def _quoted(text: str) -> str:
    plain = text.isprintable() and _text(text) == text == text.strip()
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())


def _answers(cell: str) -> tuple[str, ...]:
    """One answer, or a JSON array of several."""
    value = loaded(cell) if cell[:1] == "[" else None
    if isinstance(value, list) and value and all(isinstance(answer, str) for answer in value):
        return tuple(value)
    return (_text(cell),)


def _json(answers: tuple[str, ...]) -> str:
    if len(answers) == 1 and not answers[0].startswith("["):
        return _quoted(answers[0])
    return _list(answers)


def _list(texts: tuple[str, ...]) -> str:
    return json.dumps(texts, ensure_ascii=not "".join(texts).isprintable())


def _relations(cell: str, *, words: tuple[str, ...], gold: bool) -> Relations:
    """The sentences of a JSON list, which may in gold be written as in Python."""
    value = loaded(cell)
    return relations(in_python(cell) if gold and value is None else value, words=words, gold=gold)


def _label_set(cell: str, *, words: frozenset[str], separator: str) -> tuple[str, ...]:
    labels = [label.strip() for label in cell.split(separator.strip() or None)] if cell.strip() else []
    if (words and not words.issuperset(labels)) or "" in labels:
        raise ValueError(cell)
    if len(set(labels)) < len(labels):
        raise RepeatedError(cell)
    return tuple(sorted(labels))


def _probabilities(cell: str, *, words: tuple[str, ...], exclusive: bool) -> tuple[float, ...]:
    """Numbers in the order of the labels, or a JSON object of labels to numbers.

    Of two exclusive labels, the probability of the second may stand alone.
    """
    value = loaded(cell) if cell[:1] in "[{" else cell.split()
    if isinstance(value, dict) and value.keys() == set(words):
        value = [value[word] for word in words]
    parts = value if isinstance(value, list) else ()
    numbers = tuple(decimal(part if isinstance(part, str) else json.dumps(part)) for part in parts)
    if exclusive and len(words) == 2 and len(numbers) == 1:
        numbers = (1 - numbers[0], *numbers)
    if len(numbers) != len(words):
        raise ValueError(cell)
    within = not exclusive or abs(sum(numbers) - 1) <= SUM_ERROR
    if not (within and all(0 <= number <= 1 + SUM_ERROR for number in numbers)):
        raise ValueError(cell)
    return numbers


def _numbers(numbers: tuple[float, ...]) -> str:
    return " ".join(map(repr, numbers))


def _tokens(cell: str, *, words: Mapping[str, str]) -> tuple[str, ...]:
    """The tokens; those of known words as the words themselves, to take no memory for each."""
    tokens = cell.split()
    try:
        known = tuple(map(words.__getitem__, tokens) if words else tokens)
    except KeyError:
        known = ()
    if not known:
        raise ValueError(cell)
    return known


def _dependencies(cell: str, *, words: frozenset[str]) -> tuple[str, ...]:
    """The head of each word, which is one of the words or 0, and its relation, as "2:nsubj"."""
    arcs = [arc(label, words) for label in cell.split()]
    if not arcs or max(head for head, _ in arcs) > len(arcs):
        raise ValueError(cell)
    return tuple(label for _, label in arcs)


@lru_cache(maxsize=1 << 14)
def arc(label: str, words: frozenset[str]) -> tuple[int, str]:
    """The head, and head and relation as one text. Raises ValueError."""
    head, _, relation = label.partition(":")
    if not (relation in words if words else relation):
        raise ValueError(label)
    return place(head), f"{place(head)}:{relation}"


def _spans(cell: str, *, words: frozenset[str]) -> tuple[tuple[int, int, str], ...]:
    spans = sorted(_span(part, words) for part in filter(None, map(str.strip, cell.split(";"))))
    # A span of weight 0 says how long the text is, and may stand beside one over the whole text.
    once = [span if words else span[:2] for span in spans if words or not span[2] or float(span[2])]
    if len({*once}) < len(once):
        raise RepeatedError(cell)
    return tuple(spans)


def _span(part: str, words: frozenset[str]) -> tuple[int, int, str]:
    ends, colon, label = part.partition(":")
    first, _, last = ends.partition("-")
    start, end = place(first), place(last)
    if start >= end or (colon and not label) or (words and label not in words):
        raise ValueError(part)
    if label and not words:
        weight(label)
    return start, end, label


def _span_cell(spans: tuple[tuple[int, int, str], ...]) -> str:
    return "; ".join(f"{start}-{end}{f':{label}' * bool(label)}" for start, end, label in spans)


def _ranking(cell: str) -> tuple[str, ...]:
    ids = tuple(map(_id, cell.split()))
    if len({*ids}) < len(ids):
        raise RepeatedError(cell)
    return ids


def _id(name: str) -> str:
    """An id of a ranking, unless it could be several."""
    if not name or "," in name:
        raise ValueError(name)
    return name


def _gains(cell: str) -> tuple[tuple[str, float], ...]:
    """Relevant ids with their gains, as "d3:2 d7"; 1 where none is given."""
    gains: dict[str, float] = {}
    for part in cell.split():
        name, colon, gain = part.rpartition(":")
        name = _id(name if colon else part)
        if name in gains:
            raise RepeatedError(cell)
        gains[name] = weight(gain) if colon else 1.0
    return tuple(gains.items())


def _gain_cell(gains: tuple[tuple[str, float], ...]) -> str:
    return " ".join(f"{name}:{repr(gain).removesuffix('.0')}" for name, gain in gains)


_EITHER = 'an answer in UTF-8, or several as ["Paris", "in Paris"]'
_BEST_FIRST = "ids with blanks between them, the best first, without commas"
_WITH_GAINS = 'ids without commas and with blanks between them, alone or with gains, as "d3:2 d7"'
_OF_ANY_LABELS: Mapping[tuple[str, bool], CellForm | None] = {
    ("text", False): CellForm(_text, _quoted, "a text in UTF-8", True),
    ("text", True): CellForm(_answers, _json, _EITHER, True),
    ("probabilities", True): None,
    ("ranking", False): CellForm(_ranking, " ".join, _BEST_FIRST, True),
    ("ranking", True): CellForm(_gains, _gain_cell, _WITH_GAINS, True),
}
"""The form of a task, and whether it is that of gold, to how cells are read whatever the labels are."""


def cell_text(answer: Any, task: Task) -> str:
    """The cell of an answer that is given as a value of JSON or Python.

    Raises NotationError for null and NaN, which texts and free labels would take for words.
    """
    if isinstance(answer, str):
        return _quoted(answer) if task.form == "text" else plain_cell(answer)
    if task.form not in ("labels", "numbers") and (answer is None or answer != answer):
        empty = ', "" if it is empty' * (task.form == "text")
        raise NotationError(f"an answer{empty}, not {json.dumps(answer)}")
    if isinstance(answer, bool):
        known = (words for words in _BOOLEANS if {*words} == {*task.words, *task.vocabulary})
        return next(known, _BOOLEANS[0])[answer]
    if task.form == "ranking" and isinstance(answer, dict):
        answer = list(answer.items())  # the gains of gold
    if isinstance(answer, set | frozenset):
        answer = sorted(answer)
    if isinstance(answer, list | tuple):
        return _joined(answer, task)
    return json.dumps(answer, ensure_ascii=False)


def _joined(answers: Sequence[Any], task: Task) -> str:
    if task.form == "spans":
        return "; ".join(map(_span_text, answers))
    if task.form in ("ranking", "dependencies"):
        answers = [":".join(map(str, part)) if isinstance(part, list | tuple) else part for part in answers]
    if task.form in ("sets", "tokens", "ranking", "dependencies"):
        return joined(answers, task.separator if task.form == "sets" else " ")
    texts = [
        answer["text"] if isinstance(answer, dict) and "text" in answer else answer for answer in answers
    ]
    return json.dumps(texts, ensure_ascii=False)


def _span_text(span: Any) -> str:
    """The part of a cell that is a list of start, end and label, or an object with these keys."""
    if isinstance(span, dict):
        labels = [value for key, value in span.items() if key not in ("start", "end")]
        span = [span.get("start"), span.get("end"), *labels]
    if not isinstance(span, list | tuple) or not 2 <= len(span) <= 3:
        return json.dumps(span, ensure_ascii=False)
    start, end, *label = span
    return f"{start}-{end}{f':{label[0]}' if any(map(str, label)) else ''}"


def plain_cell(text: str) -> str:
    """A cell without tabs and line ends, which would end it."""
    broken = "\t" in text or "\n" in text or "\r" in text
    return json.dumps(text, ensure_ascii=False) if broken else text
