"""Detect the columns, the kind of labels and suitable metrics of an organizer's files."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
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
            if own:
                chosen[name] = own[0]
            elif general:
                chosen[name] = general[-1]
        return chosen

    def unknown_tasks(self, tasks: Sequence[str]) -> list[str]:
        """A line for each value that names an unknown task; a value with "=" in it has to name one."""
        problems = []
        for values in self._values().values():
            for value in values:
                name, equals, _ = value.partition("=")
                if equals and name not in tasks:
                    problem = UnknownNameError(name, tasks, what="task")
                    problems.append(f"{problem} (TASK=VALUE was read)")
        return problems


def _split_list(value: str | None) -> tuple[str, ...] | None:
    """The parts of a comma-separated value; None for None."""
    if value is None:
        return None
    return tuple(part.strip() for part in value.split(",") if part.strip())


class ColumnPlan(NamedTuple):
    """What each column of a task is for."""

    label: str
    row_index: str | None
    inputs: tuple[str, ...]
    ignored: tuple[str, ...]
    """Columns that are left out of the benchmark."""


def plan_columns(task: str, tables: Mapping[str, RawTable], chosen: Mapping[str, str]) -> ColumnPlan:
    """Find the use of each column. Raises DataError if the files are ambiguous or lack a given column."""
    names = tuple(dict.fromkeys(chain.from_iterable(table.header for table in tables.values())))
    chosen_inputs = _split_list(chosen.get("inputs")) or ()
    chosen_ignored = _split_list(chosen.get("ignore")) or ()
    chosen_columns = [chosen[option] for option in ("label", "index") if option in chosen]
    for name in chain(chosen_columns, chosen_inputs, chosen_ignored):
        if name not in names:
            raise DataError(f"{task}: {UnknownNameError(name, names, what='column')}")
    label = chosen.get("label") or _label_column(task, names)
    free = [name for name in names if name != label and name not in chosen_ignored]
    index = chosen.get("index") or _index_column(free)
    inputs = chosen_inputs or _inputs_of_recipe(tables)
    if not inputs:
        inputs = tuple(name for name in free if name != index and _holds_text(name, tables))
    _check_inputs(task, inputs, tables, label=label)
    ignored = tuple(name for name in names if name not in (label, index) and name not in inputs)
    return ColumnPlan(label, index, inputs, ignored)


def _index_column(names: Sequence[str]) -> str | None:
    for name in names:
        if name.casefold() in INDEX_NAMES:
            return name
    return None


def _inputs_of_recipe(tables: Mapping[str, RawTable]) -> tuple[str, ...]:
    """The input columns that a recipe wrote beside its files; none for other files."""
    for table in tables.values():
        if table.declared:
            return table.declared.columns
    return ()


def _holds_text(name: str, tables: Mapping[str, RawTable]) -> bool:
    """Whether a cell of the column is neither empty nor a number."""
    for table in tables.values():
        if name in table.header:
            for cell in table.column(name):
                if cell and number(cell) is None:
                    return True
    return False


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
    if not math.isfinite(value) or "_" in cell:
        return None
    return value


def _check_inputs(task: str, inputs: Sequence[str], tables: Mapping[str, RawTable], *, label: str) -> None:
    problems = []
    if not inputs:
        problems.append(f"{task}: no column holds text; say which are the inputs: --inputs {task}=NAME,NAME")
    for name in inputs:
        for table in tables.values():
            if name not in table.header:
                problems.append(f'{table.path}:1: has no column "{name}", which other splits have')
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
    problems = []
    for split, line, cell in _label_cells(tables, cells):
        if not cell.strip():
            expected = "expected one in every row, or none in all of test"
            problems.append(f"{tables[split].path}:{line}: has no label; {expected}")
    refuse(problems)
    # A single test value that no other split has, such as -1, marks hidden labels.
    test = set(cells.get("test", ()))
    others = {cell for split, _, cell in _label_cells(tables, cells) if split != "test"}
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
        first_split = "train" if "train" in cells else next(iter(cells))
        return _plan_words(task, others | test, cells[first_split], chosen)
    for split, line, cell in _label_cells(tables, cells):
        if number(cell) is None:
            problems.append(f'{tables[split].path}:{line}: the {column} is "{cell}", expected a number')
    refuse(problems)
    return _plan_scores(task, [float(cell) for cell in others | test], chosen)


def _label_cells(
    tables: Mapping[str, RawTable], cells: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, int, str]]:
    """Split, line and cell of every label."""
    for split, labels in cells.items():
        for line, cell in zip(tables[split].lines, labels, strict=True):
            yield split, line, cell


def _plan_words(task: str, present: set[str], first: Sequence[str], chosen: Mapping[str, str]) -> LabelPlan:
    """The labels of a classification task; `first` is the label column of its first split."""
    words = _split_list(chosen.get("words"))
    if not words:
        # Numbers by size, then words alphabetically.
        words = tuple(sorted(present, key=lambda word: (number(word) is None, number(word) or 0.0, word)))
    _check_words(task, words, present)
    counts = Counter(first)
    shares = {word: counts[word] / len(first) for word in words}
    default: tuple[str, ...] = ("accuracy",)
    if len(words) == 2 and max(shares.values()) > UNBALANCED:
        default = ("accuracy", "f1")
    metrics = _metrics(task, chosen, default, kind="labels")
    positive = None
    if any(takes(name, "positive") for name in metrics):
        positive = chosen.get("positive") or min(words, key=lambda word: shares[word])
        if positive not in words:
            raise DataError(f"--positive {task}: {UnknownNameError(positive, words, what='label')}")
    return LabelPlan("labels", words, None, metrics, positive, shares)


def _plan_scores(task: str, values: Sequence[float], chosen: Mapping[str, str]) -> LabelPlan:
    """The range and metrics of a regression task."""
    low = float(math.floor(min(values)))
    high = float(math.ceil(max(values)))
    if "score_range" in chosen:
        low, high = _parse_range(task, chosen["score_range"])
    if not low <= min(values) <= max(values) <= high or low == high:
        message = f"the scores run from {min(values):g} to {max(values):g}, not within {low:g} to {high:g}"
        raise DataError(f"{task}: {message}; give their range: --range {task}=LOW,HIGH")
    metrics = _metrics(task, chosen, ("pearson", "spearman"), kind="numbers")
    positive = None
    if any(takes(name, "positive") for name in metrics):
        positive = chosen.get("positive")
        if number(positive or "") is None:
            problem = f"needs --positive {task}=NUMBER, from which a score counts"
            raise DataError(f"--metric {task}=f1_from {problem}")
    return LabelPlan("scores", (), (low, high), metrics, positive, {})


def _parse_range(task: str, value: str) -> tuple[float, float]:
    """The range that the organizer gave. Raises DataError."""
    parts = _split_list(value) or ()
    if len(parts) == 2:
        low = number(parts[0])
        high = number(parts[1])
        if low is not None and high is not None and low < high:
            return low, high
    raise DataError(f"--range {task}={','.join(parts)}: expected two numbers, the lower first: 0,5")


def _metrics(
    task: str, chosen: Mapping[str, str], default: tuple[str, ...], *, kind: Form
) -> tuple[str, ...]:
    metrics = _split_list(chosen.get("metrics")) or default
    for name in metrics:
        if name not in names_of(kind):
            what = "metric of labels" if kind == "labels" else "metric of scores"
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
    for word in words:
        if not word.isprintable():
            sign = "a tab, a line end or another sign that is not printed"
            problems.append(f"{task}: the label {word!r} holds {sign}")
    if not 2 <= len(words) <= MOST_LABELS:
        advice = "is it the label column (--label), or are they scores (--kind)?"
        problems.append(f"{task}: {len(words)} labels, expected 2 to {MOST_LABELS}; {advice}")
    refuse(problems)
