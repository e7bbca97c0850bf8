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
from gluebench.reading.notation import (
    NotationError,
    RepeatedError,
    decimal,
    join_parts,
    loaded,
    parse_position,
    weight,
)
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
    match task.form:
        case "sets":
            return _set_form(task)
        case "probabilities" | "distributions":
            return _probability_form(task)
        case "tokens":
            words = {word: word for word in task.vocabulary}
            expected = f"a label for each token, with blanks between them{_after_colon(task)}"
            return CellForm(partial(_tokens, words=words), " ".join, expected, False)
        case "dependencies":
            return _dependency_form(task)
        case "spans":
            return _span_form(task)
        case "relations":
            label = task.vocabulary[0]
            example = f'["<{label}>rain</{label}> fell"], with the tags {_known_labels(task)}'
            expected = f"a JSON list of the sentence, once for each relation, as {example}"
            read = partial(_relations, words=task.vocabulary, gold=gold)
            return CellForm(read, _json_list, expected, False)
    return None


def _known_labels(task: Task) -> str:
    """The first labels, for a sentence."""
    known = ", ".join(task.vocabulary[:10])
    if len(task.vocabulary) > 10:
        known += ", ..."
    return known


def _after_colon(task: Task) -> str:
    """The labels as the end of a sentence; empty if any are allowed."""
    return f": {_known_labels(task)}" if task.vocabulary else ""


def _set_form(task: Task) -> CellForm:
    read = partial(_label_set, words=frozenset(task.vocabulary), separator=task.separator)
    between = "blanks"
    if task.separator.strip():
        between = f'"{task.separator}"'
    expected = f"labels with {between} between them{_after_colon(task)}"
    return CellForm(read, task.separator.join, expected, True)


def _probability_form(task: Task) -> CellForm:
    words = task.vocabulary
    sums = "that sum to 1" if task.exclusive else "from 0 to 1"
    expected = f"{len(words)} plain decimals {sums}, in the order {_known_labels(task)}"
    if len(words) == 2 and task.exclusive:
        expected += f", or that of {words[1]}"
    read = partial(_probabilities, words=words, exclusive=task.exclusive)
    return CellForm(read, _join_numbers, expected, False)


def _dependency_form(task: Task) -> CellForm:
    words = task.vocabulary
    example = words[0] if words else "nsubj"
    expected = f"a head and a relation for each word, as 2:{example}, with blanks between words; "
    expected += "a head is the number of a word from 1, or 0"
    if words:
        expected += f"; relations are {_known_labels(task)}"
    return CellForm(partial(_dependencies, words=frozenset(words)), " ".join, expected, False)


def _span_form(task: Task) -> CellForm:
    words = task.vocabulary
    example = "0-5; 12-20 or, with a finite weight, 0-5:0.7"
    if words:
        example = f"0-5:{words[0]}; 12-20:{words[-1]}"
    expected = f"spans as {example}, in plain digits, the end not included"
    return CellForm(partial(_spans, words=frozenset(words)), _join_spans, expected, True)


def values_of(column: Column, task: Task, *, gold: bool = False) -> list[Any]:
    """The label words, numbers, or cells as they stand in a file, in index order."""
    form = cell_form(task, gold=gold)
    if form is not None:
        return list(map(form.write, column.cells))
    return column.words() if column.labels else list(column.numbers)


def _read_text(cell: str) -> str:
    """A text as it is, or a JSON string for a text with tabs or line ends."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        value = loaded(cell)
        if isinstance(value, str):
            return value
    return cell


def _text_cell(text: str) -> str:
    """The cell of a text: as it is, unless it would be read as another one."""
    is_printable = text.isprintable()
    if is_printable and _read_text(text) == text == text.strip():
        return text
    return json.dumps(text, ensure_ascii=not is_printable)


def _read_answers(cell: str) -> tuple[str, ...]:
    """One answer, or a JSON array of several."""
    if cell.startswith("["):
        value = loaded(cell)
        if isinstance(value, list) and value and all(isinstance(answer, str) for answer in value):
            return tuple(value)
    return (_read_text(cell),)


def _join_answers(answers: tuple[str, ...]) -> str:
    if len(answers) == 1 and not answers[0].startswith("["):
        return _text_cell(answers[0])
    return _json_list(answers)


def _json_list(texts: tuple[str, ...]) -> str:
    return json.dumps(texts, ensure_ascii=not "".join(texts).isprintable())


def _relations(cell: str, *, words: tuple[str, ...], gold: bool) -> Relations:
    """The sentences of a JSON list, which may in gold be written as in Python."""
    value = loaded(cell)
    if gold and value is None:
        value = in_python(cell)
    return relations(value, words=words, gold=gold)


def _label_set(cell: str, *, words: frozenset[str], separator: str) -> tuple[str, ...]:
    """The labels of a cell in alphabetical order; none for a blank one."""
    labels: list[str] = []
    if cell.strip():
        labels += map(str.strip, cell.split(separator.strip() or None))
    if (words and not words.issuperset(labels)) or "" in labels:
        raise ValueError(cell)
    if len(set(labels)) < len(labels):
        raise RepeatedError(cell)
    return tuple(sorted(labels))


def _probabilities(cell: str, *, words: tuple[str, ...], exclusive: bool) -> tuple[float, ...]:
    """Numbers in the order of the labels, or a JSON object of labels to numbers.

    Of two exclusive labels, the probability of the second may stand alone.
    """
    value: Any = cell.split()
    if cell[:1] in "[{":
        value = loaded(cell)
    if isinstance(value, dict) and value.keys() == set(words):
        value = [value[word] for word in words]
    if not isinstance(value, list):
        raise ValueError(cell)

    numbers = []
    for part in value:
        text = part if isinstance(part, str) else json.dumps(part)
        numbers.append(decimal(text))
    if exclusive and len(words) == 2 and len(numbers) == 1:
        numbers.insert(0, 1 - numbers[0])
    if len(numbers) != len(words):
        raise ValueError(cell)
    if exclusive and abs(sum(numbers) - 1) > SUM_ERROR:
        raise ValueError(cell)
    if not all(0 <= number <= 1 + SUM_ERROR for number in numbers):
        raise ValueError(cell)
    return tuple(numbers)


def _join_numbers(numbers: tuple[float, ...]) -> str:
    return " ".join(map(repr, numbers))


def _tokens(cell: str, *, words: Mapping[str, str]) -> tuple[str, ...]:
    """The tokens; those of known words as the words themselves, to take no memory for each."""
    tokens = cell.split()
    if not tokens:
        raise ValueError(cell)
    if not words:
        return tuple(tokens)
    try:
        return tuple(map(words.__getitem__, tokens))
    except KeyError:
        raise ValueError(cell) from None


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
    return parse_position(head), f"{parse_position(head)}:{relation}"


def _spans(cell: str, *, words: frozenset[str]) -> tuple[tuple[int, int, str], ...]:
    spans = sorted(_span(part, words) for part in map(str.strip, cell.split(";")) if part)
    different: list[tuple[int | str, ...]] = []
    for span in spans:
        start, end, label = span
        if words:
            different.append(span)
        elif not label or float(label):
            # A span of weight 0 says how long the text is, and may stand beside one over the whole text.
            different.append((start, end))
    if len(set(different)) < len(different):
        raise RepeatedError(cell)
    return tuple(spans)


def _span(part: str, words: frozenset[str]) -> tuple[int, int, str]:
    ends, colon, label = part.partition(":")
    first, _, last = ends.partition("-")
    start = parse_position(first)
    end = parse_position(last)
    if start >= end or (colon and not label) or (words and label not in words):
        raise ValueError(part)
    if label and not words:
        weight(label)
    return start, end, label


def _join_spans(spans: tuple[tuple[int, int, str], ...]) -> str:
    return "; ".join(map(_span_text, spans))


def _ranking(cell: str) -> tuple[str, ...]:
    ids = tuple(map(_single_id, cell.split()))
    if len(set(ids)) < len(ids):
        raise RepeatedError(cell)
    return ids


def _single_id(name: str) -> str:
    """An id of a ranking, unless it could be several."""
    if not name or "," in name:
        raise ValueError(name)
    return name


def _gains(cell: str) -> tuple[tuple[str, float], ...]:
    """Relevant ids with their gains, as "d3:2 d7"; 1 where none is given."""
    gains: dict[str, float] = {}
    for part in cell.split():
        name, colon, gain = part.rpartition(":")
        if not colon:
            name = part
        if _single_id(name) in gains:
            raise RepeatedError(cell)
        gains[name] = weight(gain) if colon else 1.0
    return tuple(gains.items())


def _join_gains(gains: tuple[tuple[str, float], ...]) -> str:
    return " ".join(f"{name}:{repr(gain).removesuffix('.0')}" for name, gain in gains)


_EITHER = 'an answer in UTF-8, or several as ["Paris", "in Paris"]'
_BEST_FIRST = "ids with blanks between them, the best first, without commas"
_WITH_GAINS = 'ids without commas and with blanks between them, alone or with gains, as "d3:2 d7"'
_OF_ANY_LABELS: Mapping[tuple[str, bool], CellForm | None] = {
    ("text", False): CellForm(_read_text, _text_cell, "a text in UTF-8", True),
    ("text", True): CellForm(_read_answers, _join_answers, _EITHER, True),
    ("probabilities", True): None,
    ("ranking", False): CellForm(_ranking, " ".join, _BEST_FIRST, True),
    ("ranking", True): CellForm(_gains, _join_gains, _WITH_GAINS, True),
}
"""The form of a task, and whether it is that of gold, to how cells are read whatever the labels are."""


def cell_text(answer: Any, task: Task) -> str:
    """The cell of an answer that is given as a value of JSON or Python.

    Raises NotationError for null and NaN, which texts and free labels would take for words.
    """
    if isinstance(answer, str):
        return _text_cell(answer) if task.form == "text" else plain_cell(answer)
    if task.form not in ("labels", "numbers") and (answer is None or answer != answer):
        expected = "an answer"
        if task.form == "text":
            expected += ', "" if it is empty'
        raise NotationError(f"{expected}, not {json.dumps(answer)}")
    if isinstance(answer, bool):
        return _word_of_truth(answer, task)
    if task.form == "ranking" and isinstance(answer, dict):
        answer = list(answer.items())  # the gains of gold
    if isinstance(answer, set | frozenset):
        answer = sorted(answer)
    if isinstance(answer, list | tuple):
        return _join_answer(answer, task)
    return json.dumps(answer, ensure_ascii=False)


def _word_of_truth(answer: bool, task: Task) -> str:
    """How true or false is spelled as a label of the task."""
    labels = {*task.words, *task.vocabulary}
    for words in _BOOLEANS:
        if set(words) == labels:
            return words[answer]
    return _BOOLEANS[0][answer]


def _join_answer(answers: Sequence[Any], task: Task) -> str:
    """The cell of an answer that is a list."""
    match task.form:
        case "spans":
            return "; ".join(map(_span_text, answers))
        case "sets":
            return join_parts(answers, task.separator)
        case "tokens":
            return join_parts(answers, " ")
        case "ranking" | "dependencies":
            return join_parts(map(_pair_text, answers), " ")
    texts = []
    for answer in answers:
        if isinstance(answer, dict) and "text" in answer:
            answer = answer["text"]
        texts.append(answer)
    return json.dumps(texts, ensure_ascii=False)


def _pair_text(part: Any) -> Any:
    """The text of an id and its gain, or of a head and its relation; other parts as they are."""
    if isinstance(part, list | tuple):
        return ":".join(map(str, part))
    return part


def _span_text(span: Any) -> str:
    """The part of a cell that is a list of start, end and label, or an object with these keys."""
    if isinstance(span, dict):
        labels = [value for key, value in span.items() if key not in ("start", "end")]
        span = [span.get("start"), span.get("end"), *labels]
    if not isinstance(span, list | tuple) or not 2 <= len(span) <= 3:
        return json.dumps(span, ensure_ascii=False)
    start, end, *labels = span
    text = f"{start}-{end}"
    if any(map(str, labels)):
        text += f":{labels[0]}"
    return text


def plain_cell(text: str) -> str:
    """A cell without tabs and line ends, which would end it."""
    broken = "\t" in text or "\n" in text or "\r" in text
    return json.dumps(text, ensure_ascii=False) if broken else text
