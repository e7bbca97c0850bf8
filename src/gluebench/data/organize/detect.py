"""Detect the columns, the kind of labels and suitable metrics of an organizer's files."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.checks import MOST_LABELS
from gluebench.benchmark.metrics import Form, names_of, takes
from gluebench.data.errors import DataError, refuse
from gluebench.data.organize.read import RawTable

Values = tuple[str, ...]
"""Values as given: "VALUE" for every task, "TASK=VALUE" for one."""
LABEL_NAMES = ("label", "labels", "gold", "gold_label", "score", "target", "class", "rating", "similarity")
INDEX_NAMES = ("", "index", "id", "idx", "uid", "guid", "unnamed: 0")
MOST_WHOLE_LABELS = 10
"""Up to this many different whole numbers are taken for labels, more for scores."""
UNBALANCED = 0.6
"""Two classes are unbalanced if the larger has more than this share, as in MRPC and QQP."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The organizer's options; an empty one is detected from the files."""

    label: Values = ()
    inputs: Values = ()
    index: Values = ()
    ignore: Values = ()
    kind: Values = ()
    words: Values = ()
    score_range: Values = ()
    metrics: Values = ()
    positive: Values = ()
    license: Values = ()
    title: str = ""
    encoding: str = "utf-8"
    replace_whitespace: bool = False
    """Whether tabs and line ends within a text become a space; otherwise they are errors."""

    def _values(self) -> dict[str, Values]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, tuple)}

    def of(self, task: str) -> dict[str, str]:
        """The values given for a task, by option: the first that names it, else the last that names none."""
        chosen = {}
        for name, values in self._values().items():
            own = [value.removeprefix(f"{task}=") for value in values if value.startswith(f"{task}=")]
            general = [value for value in values if "=" not in value]
            if own or general:
                chosen[name] = own[0] if own else general[-1]
        return chosen

    def unknown_tasks(self, tasks: Sequence[str]) -> list[str]:
        """A line for each value that names an unknown task; a value with "=" in it has to name one."""
        names = [
            value.partition("=")[0] for values in self._values().values() for value in values if "=" in value
        ]
        return [
            f"{UnknownNameError(name, tasks, what='task')} (TASK=VALUE was read)"
            for name in names
            if name not in tasks
        ]


def _listed(value: str | None) -> tuple[str, ...] | None:
    """The parts of a comma-separated value; None for None."""
    return None if value is None else tuple(part.strip() for part in value.split(",") if part.strip())


class ColumnPlan(NamedTuple):
    """What each column of a task is for."""

    label: str
    row_index: str | None
    inputs: tuple[str, ...]
    ignored: tuple[str, ...]
    """Columns that are left out of the benchmark."""


def plan_columns(task: str, tables: Mapping[str, RawTable], chosen: Mapping[str, str]) -> ColumnPlan:
    """Find the use of each column. Raises DataError if the files are ambiguous or lack a given column."""
    names = tuple(dict.fromkeys(name for table in tables.values() for name in table.header))
    inputs, ignored = _listed(chosen.get("inputs")), _listed(chosen.get("ignore"))
    single = [chosen[option] for option in ("label", "index") if option in chosen]
    for name in (*single, *(inputs or ()), *(ignored or ())):
        if name not in names:
            raise DataError(f"{task}: {UnknownNameError(name, names, what='column')}")
    label = chosen.get("label") or _label_column(task, names)
    free = [name for name in names if name != label and name not in (ignored or ())]
    index = chosen.get("index") or next((n for n in free if n.casefold() in INDEX_NAMES), None)
    declared = next((table.declared.columns for table in tables.values() if table.declared), None)
    texts = []  # columns with at least one cell that is neither empty nor a number
    for name in (name for name in free if name != index):
        cells = (cell for table in tables.values() if name in table.header for cell in table.column(name))
        texts += [name] if any(cell and number(cell) is None for cell in cells) else []
    inputs = inputs or declared or tuple(texts)
    _check_inputs(task, inputs, tables, label=label)
    ignored = tuple(name for name in names if name not in (label, index, *inputs))
    return ColumnPlan(label, index, inputs, ignored)


def _label_column(task: str, names: Sequence[str]) -> str:
    candidates = [name for name in names if name.casefold() in LABEL_NAMES]
    if len(candidates) == 1:
        return candidates[0]
    known = f"{' and '.join(candidates)} could be it"
    if not candidates:
        known = f"none of {', '.join(names)} is known as one"
    advice = f"say so: --label {task}={(candidates or names)[-1]}"
    raise DataError(f"{task}: which column is the label? {known}; {advice}")


def number(cell: str) -> float | None:
    """The cell as a finite number, or None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in cell else None


def _check_inputs(task: str, inputs: Sequence[str], tables: Mapping[str, RawTable], *, label: str) -> None:
    problems = []
    if not inputs:
        problems.append(f"{task}: no column holds text; say which are the inputs: --inputs {task}=NAME,NAME")
    for name in inputs:
        problems += [
            f'{table.path}:1: has no column "{name}", which other splits have'
            for table in tables.values()
            if name not in table.header
        ]
        if not name or name.casefold() in ("index", "label") or name == label or set(name) & set("\t\r\n"):
            problems.append(f'{task}: "{name}" cannot be the name of an input column; rename it in the files')
    for split, table in tables.items():
        if split != "test" and label not in table.header:
            problems.append(f'{table.path}:1: has no column "{label}"; expected the labels there')
    refuse(problems)


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


def plan_labels(
    task: str, tables: Mapping[str, RawTable], column: str, chosen: Mapping[str, str]
) -> LabelPlan:
    """Tell labels from scores; find their range and metrics. Raises DataError for cells that are neither."""
    cells = {split: table.column(column) for split, table in tables.items() if column in table.header}
    if "test" in cells and not any(cells["test"]):
        del cells["test"]  # an empty column: the test labels are hidden
    blanks = [
        f"{tables[split].path}:{line}: has no label; expected one in every row, or none in all of test"
        for split, labels in cells.items()
        for line, cell in zip(tables[split].lines, labels, strict=True)
        if not cell.strip()
    ]
    refuse(blanks)
    # A single test value that no other split has, such as -1, marks hidden labels.
    test = set(cells.get("test", ()))
    others = {cell for split, labels in cells.items() if split != "test" for cell in labels}
    if others and len(test) == 1 and not test & others and len(cells["test"]) > 1:
        message = f'every label of the test split is "{test.pop()}", which no other split has'
        raise DataError(f"{task}: {message}; empty the column if the labels are hidden")
    if not cells:
        raise DataError(f"{task}: no split has labels; expected them in the column {column} of one")
    numbers = [number(cell) for cell in others | test]
    all_whole = all(value is not None and value.is_integer() for value in numbers)
    are_labels = None in numbers or (all_whole and len(numbers) <= MOST_WHOLE_LABELS)
    kind = chosen.get("kind") or ("labels" if are_labels else "scores")
    if kind not in ("labels", "scores"):
        raise DataError(f'--kind {task}={kind}: expected "labels" or "scores"')
    if kind == "labels":
        return _plan_words(task, others | test, cells.get("train") or next(iter(cells.values())), chosen)
    problems = [
        f'{tables[split].path}:{line}: the {column} is "{cell}", expected a number'
        for split, labels in cells.items()
        for line, cell in zip(tables[split].lines, labels, strict=True)
        if number(cell) is None
    ]
    refuse(problems)
    return _plan_scores(task, [float(cell) for cell in others | test], chosen)


def _plan_words(task: str, present: set[str], first: Sequence[str], chosen: Mapping[str, str]) -> LabelPlan:
    """The labels of a classification task; `first` is the label column of its first split."""
    # Sort numbers by size, words alphabetically.
    words = _listed(chosen.get("words")) or tuple(
        sorted(present, key=lambda word: (number(word) is None, number(word) or 0.0, word))
    )
    _check_words(task, words, present)
    counts = Counter(first)
    shares = {word: counts[word] / len(first) for word in words}
    unbalanced = len(words) == 2 and max(shares.values()) > UNBALANCED
    metrics = _metrics(task, chosen, ("accuracy", "f1") if unbalanced else ("accuracy",), kind="labels")
    positive = None
    if any(takes(name, "positive") for name in metrics):
        positive = chosen.get("positive") or min(words, key=lambda word: shares[word])
        if positive not in words:
            raise DataError(f"--positive {task}: {UnknownNameError(positive, words, what='label')}")
    return LabelPlan("labels", words, None, metrics, positive, shares)


def _plan_scores(task: str, values: Sequence[float], chosen: Mapping[str, str]) -> LabelPlan:
    """The range and metrics of a regression task."""
    low, high = float(math.floor(min(values))), float(math.ceil(max(values)))
    if "score_range" in chosen:
        ends = [number(part) for part in _listed(chosen["score_range"]) or ()]
        if len(ends) != 2 or ends[0] is None or ends[1] is None or not ends[0] < ends[1]:
            given = ",".join(_listed(chosen["score_range"]) or ())
            raise DataError(f"--range {task}={given}: expected two numbers, the lower first: 0,5")
        low, high = ends[0], ends[1]
    if not low <= min(values) <= max(values) <= high or low == high:
        message = f"the scores run from {min(values):g} to {max(values):g}, not within {low:g} to {high:g}"
        raise DataError(f"{task}: {message}; give their range: --range {task}=LOW,HIGH")
    metrics = _metrics(task, chosen, ("pearson", "spearman"), kind="numbers")
    positive = chosen.get("positive") if any(takes(name, "positive") for name in metrics) else None
    if any(takes(name, "positive") for name in metrics) and number(positive or "") is None:
        raise DataError(f"--metric {task}=f1_from needs --positive {task}=NUMBER, from which a score counts")
    return LabelPlan("scores", (), (low, high), metrics, positive, {})


def _metrics(
    task: str, chosen: Mapping[str, str], default: tuple[str, ...], *, kind: Form
) -> tuple[str, ...]:
    metrics = _listed(chosen.get("metrics")) or default
    for name in metrics:
        if name not in names_of(kind):
            what = f"metric of {'labels' if kind == 'labels' else 'scores'}"
            raise DataError(f"--metric {task}: {UnknownNameError(name, names_of(kind), what=what)}")
    return tuple(dict.fromkeys(metrics))


def _check_words(task: str, words: Sequence[str], present: set[str]) -> None:
    absent = sorted(present - set(words))
    problems = [f'{task}: the label "{word}" is in the files, and not in --words' for word in absent]
    folded: dict[str, str] = {}
    for word in words:
        other = folded.setdefault(" ".join(word.casefold().split()), word)
        if other != word or word != word.strip():
            problems.append(f'{task}: "{other}" and "{word}" look like one label; write it in one way')
    problems += [
        f"{task}: the label {word!r} holds a tab, a line end or another sign that is not printed"
        for word in words
        if not word.isprintable()
    ]
    if not 2 <= len(words) <= MOST_LABELS:
        advice = "is it the label column (--label), or are they scores (--kind)?"
        problems.append(f"{task}: {len(words)} labels, expected 2 to {MOST_LABELS}; {advice}")
    refuse(problems)
