"""The board as the paper's Figure 1: a manifest and submissions' scores become rows of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.analysis.ranking import best, board_order, competition_ranks
from gluebench.benchmark import Benchmark, Metric, Task
from gluebench.leaderboard.boards.formats import ABSENT, percent, score_text, short_interval
from gluebench.leaderboard.submissions.models import Regime

WIDTHS = {"one": 3.5, "long": 4.5, "two": 5.8}
"""How wide the kinds of columns are, in rem, as in site.css."""
ROOM = 43.0
"""What a desktop has for them beside rank, name, model, link and score."""


class Column(NamedTuple):
    """One test file of a scored task. MNLI has two, which count once in the average."""

    file: str
    task: Task
    metrics: tuple[Metric, ...]

    @property
    def kind(self) -> str:
        """What decides its width: two numbers, a long heading, or neither."""
        if len(self.metrics) > 1:
            return "two"
        return "long" if len(self.file) > 6 else "one"

    @property
    def measure(self) -> str:
        """What its cells hold: "acc./F1"."""
        return "/".join(metric.title for metric in self.metrics)


class Cell(NamedTuple):
    """One column of one row, ready to show."""

    text: str
    interval: str = ""
    best: bool = False


class Section(NamedTuple):
    """Neighbouring columns under one heading of Table 1."""

    title: str
    columns: int


class Row(NamedTuple):
    """One system, or one reference, with its cells in column order."""

    rank: int | None
    entry: Mapping[str, Any]
    """The submission's values; of a reference only its name and source."""
    score: Cell
    cells: tuple[Cell, ...]
    reference: bool = False
    complete: bool = True


class Group(NamedTuple):
    """Rows under one heading; the ranked list is one group without a title."""

    title: str
    rows: tuple[Row, ...]


class Table(NamedTuple):
    """The whole board."""

    sections: tuple[Section, ...]
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    systems: int

    @property
    def fits(self) -> bool:
        """Whether a desktop shows all columns side by side, as it does GLUE's ten."""
        return sum(WIDTHS[column.kind] for column in self.columns) <= ROOM

    @property
    def divided(self) -> tuple[str, ...]:
        """The tasks that have several columns and count once."""
        files = Counter(column.task.name for column in self.columns)
        return tuple(name for name, number in files.items() if number > 1)

    @property
    def references(self) -> bool:
        """Whether some row is a published reference."""
        return any(row.reference for group in self.groups for row in group.rows)

    @property
    def two_metrics(self) -> bool:
        """Whether some task is scored by more than one metric."""
        return any(len(column.task.metrics) > 1 for column in self.columns)


def columns_of(benchmark: Benchmark) -> tuple[Column, ...]:
    """A column for each test file of the scored tasks."""
    return tuple(
        Column(file.name, task, tuple(metric for metric in task.metrics if metric.file == file.name))
        for task in benchmark.scored
        for file in task.files
    )


def build(benchmark: Benchmark, entries: Sequence[Mapping[str, Any]], *, grouped: bool = False) -> Table:
    """The board of these entries (values of submissions, `scores` among them), best first."""
    columns = columns_of(benchmark)
    values = [(entry["scores"]["score"] or {}).get("value") for entry in entries]
    ranks = competition_ranks(values)
    bests = _bests(columns, entries)
    rows = [_row(columns, entries[at], rank=ranks[at], bests=bests) for at in board_order(values)]
    references = _references(benchmark, columns)
    groups = _by_regime(rows, references) if grouped else (_ranked(rows, references),)
    return Table(_sections(columns), columns, groups, len(rows))


def _row(
    columns: Sequence[Column], entry: Mapping[str, Any], *, rank: int | None, bests: Sequence[float | None]
) -> Row:
    score = entry["scores"]["score"]
    cells = tuple(_cell(_metrics(column, entry), bests[at]) for at, column in enumerate(columns))
    shown = Cell(score_text(score), short_interval(score))
    return Row(rank, entry, shown, cells, complete=bool(entry["scores"]["complete"]))


def _metrics(column: Column, entry: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    found = entry["scores"]["tasks"].get(column.task.name) or {"metrics": {}}
    return [found["metrics"].get(metric.name) for metric in column.metrics]


def _cell(scores: Sequence[Mapping[str, Any] | None], highest: float | None) -> Cell:
    if not any(scores):
        return Cell(percent(None))
    intervals = [short_interval(score) or ABSENT for score in scores]
    shown = " / ".join(intervals) if any(text != ABSENT for text in intervals) else ""
    first = scores[0]
    leads = highest is not None and first is not None and first["value"] == highest
    return Cell("/".join(map(score_text, scores)), shown, leads)


def _bests(columns: Sequence[Column], entries: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """The highest first metric of each column."""
    return [
        best(
            [score["value"] if score else None for score in (_metrics(column, entry)[0] for entry in entries)]
        )
        for column in columns
    ]


def _references(benchmark: Benchmark, columns: Sequence[Column]) -> list[Row]:
    """The published rows: those of the benchmark, filled with those of its tasks of the same name."""
    names = dict.fromkeys(
        reference.name
        for listed in (benchmark.references, *(task.references for task in benchmark.scored))
        for reference in listed
    )
    return [_reference(name, benchmark, columns) for name in names]


def _reference(name: str, benchmark: Benchmark, columns: Sequence[Column]) -> Row:
    own = next((each for each in benchmark.references if each.name == name), None)
    by_task = {task.name: each for task in benchmark.scored for each in task.references if each.name == name}
    sources = dict.fromkeys(each.source for each in (own, *by_task.values()) if each)
    cells = tuple(
        Cell(
            "/".join(percent(scores.get(metric.name)) for metric in column.metrics)
            if scores
            else percent(None)
        )
        for column in columns
        for scores in [by_task[column.task.name].scores if column.task.name in by_task else {}]
    )
    score = own.scores.get("score") if own else None
    entry = {"name": name, "source": "; ".join(sources), "value": score}
    return Row(None, entry, Cell(percent(score)), cells, reference=True)


def _ranked(rows: Sequence[Row], references: Iterable[Row]) -> Group:
    """One list: each reference above the first system that it beats, those without a score last."""
    listed = list(rows)
    for reference in references:
        value = reference.entry["value"]
        place = len(listed) if value is None else _place(listed, value)
        listed.insert(place, reference)
    return Group("", tuple(listed))


def _place(rows: Sequence[Row], value: float) -> int:
    for at, row in enumerate(rows):
        other = row.entry["value"] if row.reference else (row.entry["scores"]["score"] or {}).get("value")
        if other is None or other < value:
            return at
    return len(rows)


def _by_regime(rows: Sequence[Row], references: Iterable[Row]) -> tuple[Group, ...]:
    """Table 4's groups in its order, empty ones left out, references last."""
    groups = [
        Group(str(regime.label), tuple(row for row in rows if row.entry["regime"] == regime.value))
        for regime in Regime
    ]
    return tuple(group for group in [*groups, Group("For reference", tuple(references))] if group.rows)


def _sections(columns: Iterable[Column]) -> tuple[Section, ...]:
    sections: list[Section] = []
    for column in columns:
        if sections and sections[-1].title == column.task.section:
            sections[-1] = sections[-1]._replace(columns=sections[-1].columns + 1)
        else:
            sections.append(Section(column.task.section, 1))
    return tuple(sections)
