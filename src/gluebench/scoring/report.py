"""The report: all scores of a submission with intervals and provenance, as records and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Benchmark, Metric, Task
from gluebench.benchmark.figures import counted, interval, percent, unit
from gluebench.benchmark.lookup import ByName
from gluebench.scoring.gold import Gold
from gluebench.scoring.intervals import Bar, Part
from gluebench.scoring.metrics.counts import ClassScore
from gluebench.scoring.notebook import ends, html_table, to_frame
from gluebench.scoring.tags import OVERALL
from gluebench.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gluebench.scoring.plots import Row

SCHEMA = "gluebench.report/1"
FIELDS = ("task", "metric", "breakdown", "category", "value", "low", "high", "n", "withheld", "covered")
"""Columns of a report as one table."""
METRICS_VERSION = 1
"""Grows when a metric gives another value for the same answers and labels; boards rank one version."""
DIGITS = 16
"""Hexadecimal digits of a fingerprint."""


class Score(NamedTuple):
    """One number as a fraction, with its 95 % interval."""

    value: float | None
    """None when the score is withheld."""
    low: float | None
    high: float | None
    """Ends of the interval; None if intervals were not requested or `withheld` gives a reason."""
    n: int
    """Number of examples scored; of tasks, for the macro-average."""
    withheld: str | None = None
    """Why the interval (or, by a policy, the value) is withheld, such as "too few to say"."""
    covered: float | None = None
    """Share of the split's examples with gold labels; None if all have them."""
    loss: bool | None = None
    """True if the value is a negated loss, else None."""
    widening: int | None = None
    """How many times wider than for an accuracy on `n` examples the steps of rounding are, by the metric's
    own error: a power of two, None for 1. A rounded score does not tell it."""

    @classmethod
    def of(
        cls, value: float, bar: Bar, n: int, covered: float | None = None, *, loss: bool | None = False
    ) -> Score:
        """Build a score from a value and its interval."""
        return cls(value, bar.low, bar.high, n, bar.withheld, covered, loss or None, bar.widening)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values: 12 significant digits; those after `n` only where they apply."""
        return fields_of(self, optional=("withheld", "covered", "loss", "widening"))


def parts_of(scores: Mapping[str, Score | None], weights: Mapping[str, float] = {}) -> list[Part]:
    """The scores that have a value, by name, as parts of a mean; the weight is 1 where none is given."""
    return [
        Part(name, score.value, Bar(score.low, score.high, score.withheld), weights.get(name, 1.0))
        for name, score in scores.items()
        if score is not None and score.value is not None
    ]


class TaskReport(NamedTuple):
    """The score of a task and of each of its metrics."""

    score: Score | None
    """Unweighted mean of the metrics (section 3.4); None while one of them is missing."""
    metrics: Mapping[str, Score]


class DiagnosticReport(NamedTuple):
    """Scores on a diagnostic set: overall, and by each kind of category."""

    overall: Score
    coarse: Mapping[str, Score]
    fine: Mapping[str, Score]
    metadata: Mapping[str, Mapping[str, Score]]
    """Column of the metadata file ("direction", "domain") to value to score."""

    def with_categories(self, change: Callable[[Score], Score]) -> DiagnosticReport:
        """The report with the score of every category changed; the overall score stays."""
        coarse, fine, *columns = (
            {name: change(score) for name, score in scores.items()}
            for scores in (self.coarse, self.fine, *self.metadata.values())
        )
        return DiagnosticReport(self.overall, coarse, fine, dict(zip(self.metadata, columns, strict=True)))

    def parts(self) -> Iterator[tuple[str, str, Score]]:
        """Every kind, category and score: the whole set, coarse, fine, then the columns of the metadata."""
        yield OVERALL, "", self.overall
        for kind, scores in {"coarse": self.coarse, "fine": self.fine, **self.metadata}.items():
            yield from ((kind, name, score) for name, score in scores.items())

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values, each column of the metadata beside "coarse" and "fine"."""
        values = fields_of(self)
        metadata = values.pop("metadata")
        return {**values, **metadata}


class Report(NamedTuple):
    """The result of `grade`; the command prints its JSON, the site stores it and the API serves it."""

    benchmark: str
    split: str
    complete: bool
    """Whether every task of the macro-average has its score."""
    missing: tuple[str, ...]
    """Test files of scored tasks that could not be scored because they were absent."""
    score: Score | None
    """The macro-average; None when incomplete."""
    tasks: Mapping[str, TaskReport]
    diagnostics: Mapping[str, DiagnosticReport | None]
    classes: Mapping[str, Mapping[str, ClassScore]]
    """Test-file name to the scores of each class, for files whose metrics or labels count classes."""
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON-ready values, in a fixed order of keys."""
        return {"schema": SCHEMA, **fields_of(self)}

    def to_json(self) -> str:
        """The report as a JSON document; the same input gives the same bytes."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        scored = sum(task.score is not None for task in self.tasks.values())
        tasks = f"{scored} of {len(self.tasks)} tasks scored"
        score = f"{score_words(self.score)}, " if self.score else "no macro-average, "
        return f"<Report on {self.benchmark} {self.split}: {score}{tasks}>"

    @property
    def loss(self) -> bool:
        """Whether its average is one of negated losses; without an average, whether any score is."""
        scores = [score for task in self.tasks.values() for score in task.metrics.values()]
        return any(score.loss for score in ([self.score] if self.score else scores))

    def records(self) -> Iterator[dict[str, object]]:
        """Yield a JSON-ready record of FIELDS for each metric, task score, average and category."""
        for name, task in self.tasks.items():
            for metric, score in task.metrics.items():
                yield record(score, task=name, metric=metric)
            yield record(task.score, task=name, metric="score")
        yield record(self.score, metric="macro-average")
        for name, diagnostic in self.diagnostics.items():
            for kind, category, score in diagnostic.parts() if diagnostic else ():
                yield record(score, task=name, breakdown=kind, **({"category": category} if category else {}))

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each score; see FIELDS. Raises ImportError without pandas."""
        return to_frame(FIELDS, self.records())

    def _repr_html_(self) -> str:
        rows = []
        for name, task in self.tasks.items():
            mean = [] if len(task.metrics) == 1 else [("score", task.score)]
            rows += [(name, metric, *_cells(score)) for metric, score in [*task.metrics.items(), *mean]]
        rows.append(("macro-average", "", *_cells(self.score)))
        rows += [(name, "", *_cells(part.overall)) for name, part in self.diagnostics.items() if part]
        notes = [f"Missing: {', '.join(self.missing)}"] if self.missing else []
        columns = ("task", "metric", f"score{unit(self.loss)}", "95 % interval", "n")
        return html_table(f"{self.benchmark}, {self.split} split", columns, rows, words=2, notes=notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the average, the task scores in order, and diagnostic sets in the same unit, with intervals.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        from gluebench.scoring.plots import forest_of_scores

        tasks = {name: task.score for name, task in self.tasks.items() if task.score}
        sets = {name: part.overall for name, part in self.diagnostics.items() if part}
        title = f"{self.benchmark}, {self.split} split{'' if self.score else ': no macro-average'}"
        return forest_of_scores(self.score, tasks, sets, _plotted, loss=self.loss, title=title, ax=ax)


class Place(NamedTuple):
    """One score of every report on a benchmark: a metric, a task score, or the macro-average."""

    name: str
    """As a key: "RTE.accuracy", "MRPC.score", and "score" for the macro-average."""
    task: Task | None = None
    """None for the macro-average."""
    metric: Metric | None = None
    """None for an average."""

    def score(self, report: Report) -> Score | None:
        """The score in a report; None if it is missing."""
        if self.task is None:
            return report.score
        if not self.task.scored:
            diagnostic = report.diagnostics.get(self.task.name)
            return None if diagnostic is None else diagnostic.overall
        task = report.tasks[self.task.name]
        return task.score if self.metric is None else task.metrics.get(self.metric.name)


def places(benchmark: Benchmark) -> Iterator[Place]:
    """The macro-average, the metrics, the task scores of several metrics, the diagnostic sets as a whole."""
    yield Place("score")
    for task in benchmark.tasks:
        for metric in task.metrics:
            yield Place(f"{task.name}.{metric.name}", task, metric)
        if task.scored and len(task.metrics) > 1:
            yield Place(f"{task.name}.score", task)


def score_words(score: Score) -> str:
    """A score with its interval: "84.8 [83.0, 86.4]"."""
    return f"{percent(score.value, score.loss)}{interval(score.low, score.high, score.loss)}"


def record(score: Score | None, **place: str) -> dict[str, object]:
    """A score with the fields that identify it, as one row of a table."""
    return {**place, **(score.as_dict() if score else {})}


def _plotted(name: str, score: Score, *, whole: bool = False) -> Row:
    from gluebench.scoring.plots import Row

    note = counted(score.n, "task") if whole else f"n = {score.n:,}"
    if score.withheld:
        note += f", interval withheld: {score.withheld}"
    fractions = (score.value, score.low, score.high)
    return Row.of(
        name, fractions, note, filled=score.low is not None, whole=whole, factor=-1 if score.loss else 100
    )


def _cells(score: Score | None) -> tuple[str, str, str]:
    if score is None:
        return "-", "", ""
    limits = ends(score.low, score.high, score.withheld, loss=score.loss)
    return percent(score.value, score.loss), limits, f"{score.n:,}"


def json_ready(value: Any) -> Any:
    """Convert records, and containers of them, to JSON types; floats get 12 significant digits.

    A record that has `as_dict` is converted by it.
    """
    if isinstance(value, float):
        return rounded(value)
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: json_ready(item) for key, item in value.items()}
    if hasattr(value, "_asdict") or is_dataclass(value):
        return fields_of(value)
    return [json_ready(item) for item in value] if isinstance(value, list | tuple) else value


def fields_of(record: Any, *, optional: Collection[str] = ()) -> dict[str, Any]:
    """The JSON-ready fields of a named tuple or data class by name; `optional` ones only if not None."""
    names = record._fields if hasattr(record, "_fields") else [field.name for field in fields(record)]
    values = {name: getattr(record, name) for name in names}
    return {
        name: json_ready(value) for name, value in values.items() if value is not None or name not in optional
    }


def rounded(value: float | None) -> float | None:
    """Round to 12 significant digits, since the last bits of a sum may differ between machines."""
    return None if value is None else float(f"{value:.12g}")


def report_of(values: Mapping[str, Any]) -> Report:
    """Rebuild a report from the values of its `as_dict`, as a leaderboard sends them.

    Raises ValueError for another schema.
    """
    if values.get("schema") != SCHEMA:
        raise ValueError(f"this is not a report of the schema {SCHEMA}, but {values.get('schema')!r}")
    return Report(
        benchmark=values["benchmark"],
        split=values["split"],
        complete=values["complete"],
        missing=tuple(values["missing"]),
        score=_score(values["score"]),
        tasks=ByName(
            {
                name: TaskReport(_score(task["score"]), _scores(task["metrics"], what=f"metric of {name}"))
                for name, task in values["tasks"].items()
            },
            what="task",
        ),
        diagnostics={
            name: None if part is None else diagnostic_of(part)
            for name, part in values["diagnostics"].items()
        },
        classes=_classes(values.get("classes", {})),
        warnings=tuple(values["warnings"]),
        provenance=values["provenance"],
    )


def diagnostic_of(values: Mapping[str, Any]) -> DiagnosticReport:
    """A report's part on one diagnostic set, from its JSON."""
    parts = {name: _scores(part, what="category") for name, part in values.items() if name != "overall"}
    return DiagnosticReport(Score(**values["overall"]), parts.pop("coarse"), parts.pop("fine"), parts)


def by_class(files: Mapping[str, Mapping[str, ClassScore]]) -> ByName[ByName[ClassScore]]:
    """The classes of test files, with messages for names that are not there."""
    classes = {name: ByName(scores, what=f"class of {name}") for name, scores in files.items()}
    return ByName(classes, what="test file with classes")


def _classes(values: Mapping[str, Any]) -> ByName[ByName[ClassScore]]:
    files = {}
    for file, classes in values.items():
        files[file] = {name: ClassScore(**score) for name, score in classes.items()}
    return by_class(files)


def _scores(values: Mapping[str, Any], *, what: str) -> ByName[Score]:
    return ByName({name: Score(**score) for name, score in values.items()}, what=what)


def _score(values: Mapping[str, Any] | None) -> Score | None:
    return None if values is None else Score(**values)


def provenance(gold: Gold, **settings: Any) -> Mapping[str, Any]:
    """The `provenance` of a report, JSON-ready; `settings` are the options that the scores depend on."""
    return {
        "package": "gluebench",
        "version": __version__,
        "schema": SCHEMA,
        "benchmark": {"name": gold.benchmark.name, "fingerprint": fingerprint(gold.benchmark)},
        "datasets": datasets(gold),
        "labels": gold.version,
        "metrics": METRICS_VERSION,
        **({"rows": gold.rows, "share": gold.share} if gold.rows else {}),
        **({"uncertainty": gold.scope} if gold.scope else {}),
        **settings,
    }


def fingerprint(benchmark: Benchmark) -> str:
    """Hash of everything in the manifest that affects scores; titles, notes and sources do not."""
    from hashlib import sha256

    tasks = [
        (
            task.name,
            task.scored if task.weight == 1 else (task.scored, task.weight),
            task.words,
            task.score_range,
            [(metric.name, metric.function, metric.file, metric.positive) for metric in task.metrics],
            [
                (file.name, sorted((role, split.size) for role, split in file.splits.items()))
                for file in task.files
            ],
            [(phenomenon.coarse, phenomenon.name) for phenomenon in task.phenomena],
            task.metadata,
            *_other_form(task),
        )
        for task in benchmark.tasks
    ]
    return sha256(repr(tasks).encode()).hexdigest()[:DIGITS]


def _other_form(task: Task) -> list[object]:
    """What else affects the scores of a task that is not of labels or numbers, or that scales its metrics."""
    scales = [metric.scale for metric in task.metrics]
    more: list[object] = []
    for metric in task.metrics:
        scheme = "" if metric.scheme == "IOB2" else metric.scheme  # the only one of earlier versions
        more += [own for own in (metric.parents, metric.language, scheme) if own]
    if task.form in ("labels", "numbers") and not any(scales):
        return more
    return [task.form, task.vocabulary, task.separator, scales, *more]


def datasets(gold: Gold) -> dict[str, str | None]:
    """Map test-file names to content fingerprints of their examples; None where not known.

    A fingerprint is that of the data with the labels or, without one, that in the manifest.
    """
    return {
        file.name: gold.datasets.get(file.name) or file.splits[gold.role].fingerprint or None
        for file in gold.benchmark.files(gold.role)
    }
