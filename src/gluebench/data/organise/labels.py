"""What the labels of a task are: words or scores, and which metrics suit them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.checks import MOST_LABELS
from gluebench.data.errors import DataError
from gluebench.data.organise.columns import Choices, ColumnPlan, list_for, number, value_for
from gluebench.data.organise.read import RawTable

MOST_WHOLE_LABELS = 10
"""Whole numbers are taken for labels up to so many different ones, and for scores beyond."""
UNBALANCED = 0.6
"""Two classes are called unbalanced where the larger has more than this share, as in MRPC and QQP."""
TITLES = {
    "accuracy": "acc.",
    "f1": "F1",
    "matthews_correlation": "MCC",
    "r_k": "R_K",
    "pearson": "Pearson",
    "spearman": "Spearman",
}
"""The metrics that can be asked for, and how tables call them."""
OF_NUMBERS = ("pearson", "spearman")


class LabelPlan(NamedTuple):
    """What the labels of a task are."""

    kind: Literal["labels", "scores"]
    words: tuple[str, ...]
    """In the order of their codes; empty for scores."""
    score_range: tuple[float, float] | None
    metrics: tuple[str, ...]
    positive: str | None
    """The label that F1 counts as positive; None without F1."""
    shares: Mapping[str, float]
    """Share of each label in the first split there is: train, else dev, else test."""
    given: frozenset[str]


def plan_labels(
    task: str,
    tables: Mapping[str, RawTable],
    columns: ColumnPlan,
    *,
    choices: Choices,
) -> LabelPlan:
    """Words or scores, their range and the metrics. Raises DataError for cells that are neither."""
    cells = {
        split: table.column(columns.label) for split, table in tables.items() if columns.label in table.header
    }
    if "test" in cells and not any(cells["test"]):
        del cells["test"]  # hidden from this machine too
    _no_blanks(tables, cells)
    _no_stand_in(task, cells)
    values = [cell for column in cells.values() for cell in column]
    if not values:
        raise DataError(f"{task}: no split has labels; expected them in the column {columns.label} of one")
    kind = value_for(choices.kind, task) or _kind(values)
    if kind not in ("labels", "scores"):
        raise DataError(f'--kind {task}={kind}: expected "labels" or "scores"')
    first = cells.get("train") or next(iter(cells.values()))
    pick = _Pick(task, choices)
    return pick.words(values, first) if kind == "labels" else pick.scores(tables, cells, columns.label)


def _no_blanks(tables: Mapping[str, RawTable], cells: Mapping[str, list[str]]) -> None:
    problems = [
        f"{tables[split].path}:{line}: has no label; expected one in every row, or none in all of test"
        for split, column in cells.items()
        for line, cell in zip(tables[split].lines, column, strict=True)
        if not cell.strip()
    ]
    if problems:
        raise DataError(problems)


def _no_stand_in(task: str, cells: Mapping[str, list[str]]) -> None:
    """Refuses a test column of one value that no other split has, such as the -1 of hidden labels."""
    others = {cell for split, column in cells.items() if split != "test" for cell in column}
    test = set(cells.get("test", ()))
    if others and len(test) == 1 and not test & others and len(cells["test"]) > 1:
        message = f'every label of the test split is "{test.pop()}", which no other split has'
        raise DataError(f"{task}: {message}; empty the column if the labels are hidden")


def _kind(cells: Sequence[str]) -> str:
    different = set(cells)
    numbers = [number(cell) for cell in different]
    whole = all(value is not None and value.is_integer() for value in numbers)
    if None in numbers or (whole and len(different) <= MOST_WHOLE_LABELS):
        return "labels"
    return "scores"


class _Pick:
    """Fills a plan from the options and what the labels look like."""

    def __init__(self, task: str, choices: Choices) -> None:
        self.task = task
        self.choices = choices
        given = {
            "kind": choices.kind,
            "words": choices.words,
            "score_range": choices.score_range,
            "metrics": choices.metrics,
            "positive": choices.positive,
        }
        self.given = frozenset(name for name, values in given.items() if value_for(values, task) is not None)

    def words(self, cells: Sequence[str], first: Sequence[str]) -> LabelPlan:
        """A classification task."""
        present = set(cells)
        words = list_for(self.choices.words, self.task) or _in_order(present)
        self._check_words(words, present)
        counts = Counter(first)
        shares = {word: counts[word] / len(first) for word in words}
        unbalanced = len(words) == 2 and max(shares.values()) > UNBALANCED
        metrics = self._metrics(("accuracy", "f1") if unbalanced else ("accuracy",), numbers=False)
        positive = None
        if "f1" in metrics:
            rarest = min(words, key=lambda word: shares[word])
            positive = value_for(self.choices.positive, self.task) or rarest
            if positive not in words:
                raise DataError(f"--positive {self.task}: {UnknownNameError(positive, words, what='label')}")
        return LabelPlan("labels", words, None, metrics, positive, shares, self.given)

    def scores(
        self, tables: Mapping[str, RawTable], cells: Mapping[str, list[str]], column: str
    ) -> LabelPlan:
        """A regression task."""
        problems = [
            f'{tables[split].path}:{line}: the {column} is "{cell}", expected a number'
            for split, column_cells in cells.items()
            for line, cell in zip(tables[split].lines, column_cells, strict=True)
            if number(cell) is None
        ]
        if problems:
            raise DataError(problems)
        values = [float(cell) for column_cells in cells.values() for cell in column_cells]
        low, high = self._range() or (float(math.floor(min(values))), float(math.ceil(max(values))))
        if not low <= min(values) <= max(values) <= high or low == high:
            message = (
                f"the scores run from {min(values):g} to {max(values):g}, not within {low:g} to {high:g}"
            )
            raise DataError(f"{self.task}: {message}; give their range: --range {self.task}=LOW,HIGH")
        metrics = self._metrics(OF_NUMBERS, numbers=True)
        return LabelPlan("scores", (), (low, high), metrics, None, {}, self.given)

    def _range(self) -> tuple[float, float] | None:
        value = list_for(self.choices.score_range, self.task)
        if value is None:
            return None
        ends = [number(part) for part in value]
        if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]:
            return ends[0], ends[1]
        raise DataError(f"--range {self.task}={','.join(value)}: expected two numbers, the lower first: 0,5")

    def _metrics(self, default: tuple[str, ...], *, numbers: bool) -> tuple[str, ...]:
        metrics = list_for(self.choices.metrics, self.task) or default
        suited = [name for name in TITLES if (name in OF_NUMBERS) == numbers]
        for name in metrics:
            if name not in suited:
                unknown = UnknownNameError(
                    name, suited, what=f"metric of {'scores' if numbers else 'labels'}"
                )
                raise DataError(f"--metric {self.task}: {unknown}")
        return tuple(dict.fromkeys(metrics))

    def _check_words(self, words: Sequence[str], present: set[str]) -> None:
        absent = sorted(present - set(words))
        problems = [f'{self.task}: the label "{word}" is in the files, and not in --words' for word in absent]
        folded: dict[str, str] = {}
        for word in words:
            other = folded.setdefault(" ".join(word.casefold().split()), word)
            if other != word or word != word.strip():
                problems.append(
                    f'{self.task}: "{other}" and "{word}" look like one label; write it in one way'
                )
        problems += [
            f"{self.task}: the label {word!r} holds a tab, a line end or another sign that is not printed"
            for word in words
            if not word.isprintable()
        ]
        if not 2 <= len(words) <= MOST_LABELS:
            advice = "is it the label column (--label), or are they scores (--kind)?"
            problems.append(f"{self.task}: {len(words)} labels, expected 2 to {MOST_LABELS}; {advice}")
        if problems:
            raise DataError(problems)


def _in_order(words: set[str]) -> tuple[str, ...]:
    """Numbers by size, words by the alphabet."""
    return tuple(sorted(words, key=lambda word: (number(word) is None, number(word) or 0.0, word)))
