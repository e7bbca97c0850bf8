"""What a board consists of: its columns, what it ranks by, and the numbers of its systems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.core.cache import caches
from django.db.models import F

from gluebench.analysis.charts import shown as compact
from gluebench.analysis.rank.rules import board_order, competition_ranks
from gluebench.benchmark import Benchmark, Metric, Task
from gluebench.leaderboard.benchmarks.models import Benchmark as BenchmarkRow
from gluebench.leaderboard.fields import FIELDS, LISTED
from gluebench.leaderboard.submissions.models import Submission

Entry = Mapping[str, Any]
WIDTHS = {"one": 3.1, "long": 4.2, "two": 5.8, "regime": 4.4, "parameters": 3.9, "submitted": 5.6, "fact": 7}
"""How wide the kinds of columns are, in rem, as in site.css."""
ROOM = 55.2
"""What a desktop of 1280 pixels has for them beside rank, name and score."""
SORTED_AS_WORDS = ("name", "model", "regime")
USUAL_FACTS = ("regime", "parameters", "submitted")
"""Facts that a board shows by default, where some row has them."""
PRIVACY = {True: "private", False: "public", None: "not stated"}
"""How a task's test labels are marked."""


class Column(NamedTuple):
    """One test file of a scored task, MNLI has two; on a task's own board, one metric."""

    file: str
    """What the address calls it."""
    title: str
    task: Task
    metrics: tuple[Metric, ...]

    @property
    def kind(self) -> str:
        """What decides its width: two numbers, a long heading, or neither."""
        if len(self.metrics) > 1:
            return "two"
        return "long" if len(self.title) > 5 else "one"

    @property
    def measure(self) -> str:
        """What its cells hold: "acc./F1"."""
        return "/".join(metric.title for metric in self.metrics)

    def numbers(self, scores: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
        """Its numbers in a submission's scores."""
        task = scores["tasks"].get(self.task.name) or {"metrics": {}}
        return [task["metrics"].get(metric.name) for metric in self.metrics]


class Fact(NamedTuple):
    """A column of what is known of a system beside its scores."""

    name: str
    title: str
    is_address: bool = False

    @property
    def kind(self) -> str:
        """What decides its width."""
        return self.name if self.name in WIDTHS else "fact"

    def text(self, entry: Entry) -> str:
        """An entry's value in few letters; empty where nothing is stated."""
        value = entry[self.name]
        if value is None:
            return ""
        if self.name == "submitted":
            return str(value.date().isoformat())
        if self.name == "regime":
            return str(value)
        return compact(value) if isinstance(value, int) else FIELDS[self.name].shown(value)


FACTS = {
    field.name: Fact(field.name, field.label, field.kind == "address")
    for field in LISTED
    if field.name not in ("name", "model", "team", "link")
} | {"parameters": Fact("parameters", "Params"), "submitted": Fact("submitted", "Date")}
"""The columns beside the scores; the others stand with the name."""


class Scheme(NamedTuple):
    """What a board ranks by and shows: a benchmark with its average, or one task of it."""

    columns: tuple[Column, ...]
    task: Task | None = None
    facts: tuple[Fact, ...] = tuple(map(FACTS.__getitem__, USUAL_FACTS))

    def score(self, scores: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The number that ranks, out of a submission's scores."""
        whole = scores if self.task is None else scores["tasks"].get(self.task.name) or {}
        score: Mapping[str, Any] | None = whole.get("score")
        return score

    @property
    def names(self) -> tuple[str, ...]:
        """What the address calls each column."""
        return tuple(column.file for column in self.columns)

    @property
    def sorts(self) -> tuple[str, ...]:
        """What rows can be ordered by, beside the score."""
        return (*SORTED_AS_WORDS, "parameters", "submitted", *self.names)

    @property
    def choices(self) -> dict[str, str]:
        """The columns that a visitor can choose, with their titles."""
        return {column.file: column.title for column in self.columns} | {
            fact.name: fact.title for fact in FACTS.values()
        }

    def only(self, names: Collection[str]) -> Scheme:
        """The same with these of its columns and of all facts; as it is where none is named."""
        if not names:
            return self
        return self._replace(
            columns=tuple(column for column in self.columns if column.file in names),
            facts=tuple(fact for fact in FACTS.values() if fact.name in names),
        )


def ranked(scheme: Scheme, entries: Iterable[Entry]) -> list[tuple[int | None, Entry]]:
    """The entries of this board with their ranks, best first."""
    task = scheme.task
    rows = [entry for entry in entries if task is None or task.name in entry["scores"]["tasks"]]
    values = [(scheme.score(entry["scores"]) or {}).get("value") for entry in rows]
    ranks = competition_ranks(values)
    return [(ranks[at], rows[at]) for at in board_order(values)]


def scheme_of(benchmark: Benchmark, task: Task | None = None) -> Scheme:
    """The board of a benchmark, with a column for each test file; or of one task, with one for each metric.

    A task with one metric has no column: its score is that metric.
    """
    if task is None:
        columns = tuple(
            Column(
                file.name,
                file.name,
                scored,
                tuple(metric for metric in scored.metrics if metric.file == file.name),
            )
            for scored in benchmark.scored
            for file in scored.files
        )
        return Scheme(columns)
    heading = "{0.file} {0.title}" if len(task.files) > 1 else "{0.title}"
    metrics = task.metrics if len(task.metrics) > 1 else ()
    columns = tuple(Column(metric.name, heading.format(metric), task, (metric,)) for metric in metrics)
    return Scheme(columns, task)


class Standing(NamedTuple):
    """A public submission, what finds it and its numbers; a published reference has its name alone."""

    pk: int
    name: str
    model: str = ""
    team: str = ""
    regime: str = ""
    parameters: int | None = None
    submitted: datetime | None = None
    verified: bool = False
    value: float | None = None
    """Its score; None when it is incomplete."""
    numbers: tuple[float | None, ...] = ()


def number_places(benchmark: Benchmark) -> dict[tuple[str, str], int]:
    """Where the `numbers` of `standings` stand: by task and metric, with "" for the task's score."""
    names = ((task.name, ("", *(metric.name for metric in task.metrics))) for task in benchmark.scored)
    return {key: at for at, key in enumerate((task, name) for task, those in names for name in those)}


def standings(benchmark: BenchmarkRow) -> tuple[Standing, ...]:
    """The board's systems in the order in which they were submitted."""
    places = number_places(benchmark.record)

    def numbers(scores: Mapping[str, Any]) -> Iterator[float | None]:
        for task, metric in places:
            of_task = scores["tasks"].get(task) or {"score": None, "metrics": {}}
            score = of_task["metrics"].get(metric) if metric else of_task["score"]
            yield score["value"] if score else None

    return _standings(benchmark, "", "scores", numbers)


def diagnosed_standings(benchmark: BenchmarkRow, task: Task) -> tuple[Standing, ...]:
    """The systems that have a diagnostic set, with one number: the overall one."""
    overall = F(f"report__diagnostics__{task.name}__overall")
    return _standings(benchmark, task.name, overall, lambda score: [score["value"]])


def _standings(
    benchmark: BenchmarkRow, name: str, column: str | F, numbers: Callable[[Any], Iterable[float | None]]
) -> tuple[Standing, ...]:
    """Read once for each version of the board: numbers stand in reports, kilobytes of JSON each."""

    def read() -> tuple[Standing, ...]:
        public = Submission.objects.public().filter(benchmark=benchmark).order_by("submitted", "pk")
        rows = public.values_list(*Standing._fields[:-1], column)
        return tuple(Standing._make((*row, tuple(numbers(scores)))) for *row, scores in rows if scores)

    key = f"standings-{settings.VERSION}-{benchmark.pk}-{benchmark.version}-{name}"
    return cast("tuple[Standing, ...]", caches["pages"].get_or_set(key, read))
