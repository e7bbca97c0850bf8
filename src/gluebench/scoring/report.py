"""The report: all scores of a submission with intervals and provenance, as records and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Benchmark, Metric, Task
from gluebench.benchmark.figures import counted, ends, list_words, on_split, percent, unit, with_interval
from gluebench.benchmark.lookup import ByName
from gluebench.benchmark.tables import Column, Table, TabularResult, numeric, to_json
from gluebench.scoring.gold import Gold
from gluebench.scoring.intervals import OptionalInterval, Part
from gluebench.scoring.metrics.counts import ClassScore
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
        cls,
        value: float,
        bar: OptionalInterval,
        n: int,
        covered: float | None = None,
        *,
        loss: bool | None = False,
    ) -> Score:
        """Build a score from a value and its interval."""
        return cls(value, bar.low, bar.high, n, bar.withheld, covered, loss or None, bar.widening)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values: 12 significant digits; those after `n` only where they apply."""
        return fields_of(self, optional=("withheld", "covered", "loss", "widening"))


def parts_of(scores: Mapping[str, Score | None], weights: Mapping[str, float] = {}) -> list[Part]:
    """The scores that have a value, by name, as parts of a mean; the weight is 1 where none is given."""
    parts = []
    for name, score in scores.items():
        if score is not None and score.value is not None:
            bar = OptionalInterval(score.low, score.high, score.withheld)
            parts.append(Part(name, score.value, bar, weights.get(name, 1.0)))
    return parts


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

        def change_all(scores: Mapping[str, Score]) -> dict[str, Score]:
            return {name: change(score) for name, score in scores.items()}

        metadata = {column: change_all(scores) for column, scores in self.metadata.items()}
        return DiagnosticReport(self.overall, change_all(self.coarse), change_all(self.fine), metadata)

    def parts(self) -> Iterator[tuple[str, str, Score]]:
        """Every kind, category and score: the whole set, coarse, fine, then the columns of the metadata."""
        yield OVERALL, "", self.overall
        for kind, scores in {"coarse": self.coarse, "fine": self.fine, **self.metadata}.items():
            for name, score in scores.items():
                yield kind, name, score

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values, each column of the metadata beside "coarse" and "fine"."""
        values = fields_of(self)
        metadata = values.pop("metadata")
        return {**values, **metadata}


@dataclass(frozen=True, slots=True)
class Report(TabularResult):
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
        return to_json(self.as_dict())

    def __repr__(self) -> str:
        scored = sum(task.score is not None for task in self.tasks.values())
        tasks = f"{scored} of {len(self.tasks)} tasks scored"
        score = f"{score_words(self.score)}, " if self.score else "no macro-average, "
        return f"<Report on {self.benchmark} {self.split}: {score}{tasks}>"

    @property
    def loss(self) -> bool:
        """Whether its average is one of negated losses; without an average, whether any score is."""
        if self.score is not None:
            return bool(self.score.loss)
        for task in self.tasks.values():
            if any(score.loss for score in task.metrics.values()):
                return True
        return False

    def records(self) -> Iterator[dict[str, object]]:
        """Yield a JSON-ready record of FIELDS for each metric, task score, average and category."""
        for name, task in self.tasks.items():
            for metric, score in task.metrics.items():
                yield record(score, task=name, metric=metric)
            yield record(task.score, task=name, metric="score")
        yield record(self.score, metric="macro-average")
        for name, diagnostic in self.diagnostics.items():
            if diagnostic is None:
                continue
            for kind, category, category_score in diagnostic.parts():
                if category:
                    yield record(category_score, task=name, breakdown=kind, category=category)
                else:
                    yield record(category_score, task=name, breakdown=kind)

    def fields(self) -> Sequence[str]:
        """FIELDS."""
        return FIELDS

    def tables(self) -> list[Table]:
        """A row for each metric, for the score of a task that has several, for the average and each set."""
        rows = []
        for name, task in self.tasks.items():
            for metric, score in task.metrics.items():
                rows.append(_score_cells(name, metric, score))
            if len(task.metrics) != 1:
                rows.append(_score_cells(name, "score", task.score))
        rows.append(_score_cells("macro-average", "", self.score))
        for name, part in self.diagnostics.items():
            if part is not None:
                rows.append(_score_cells(name, "", part.overall))
        notes = []
        if self.missing:
            notes.append(f"Missing: {', '.join(self.missing)}")
        scores = Column("score", is_number=True, unit=unit(self.loss).strip())
        columns = ("task", "metric", scores, numeric("95 % interval"), numeric("n"))
        return [Table(columns, rows, title=f"{self.benchmark}, {self.split} split", notes=notes)]

    def paragraph(self, benchmark: Benchmark | None = None, *, system: str = "the system") -> str:
        """The scores with their intervals as sentences for a paper; `benchmark` gives titles.

        A score without an interval says why, and a missing average which scores it lacks.
        """
        title = benchmark.title if benchmark else self.benchmark
        begin = f"On {on_split(title, self.split, self.provenance)}, {system} has"
        if self.score is None:
            missing = [name for name, task in self.tasks.items() if task.score is None]
            sentences = [f"{begin} no macro-average, for want of {list_words(missing)}."]
        else:
            over = counted(self.score.n, "task")
            sentences = [f"{begin} a macro-average of {_score_in_words(self.score)} over {over}."]
        for name, task in self.tasks.items():
            titles = (
                {metric.name: metric.words for metric in benchmark.task(name).metrics} if benchmark else {}
            )
            scores = []
            for metric, score in task.metrics.items():
                words = titles.get(metric, metric.replace("_", " "))
                scores.append(f"{words} {_score_in_words(score)}")
            if scores:
                sentences.append(f"{name}: {list_words(scores)}.")
        for name, diagnostic in self.diagnostics.items():
            if diagnostic is not None:
                sentences.append(f"{name}, which is not averaged: {_score_in_words(diagnostic.overall)}.")
        scale = "Losses are as they are" if self.loss else "Scores are times 100"
        sentences.append(f"{scale}, intervals of 95 %. Computed with gluebench {__version__}.")
        return " ".join(sentences)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the average, the task scores in order, and diagnostic sets in the same unit, with intervals.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        from gluebench.scoring.plots import forest_of_scores

        tasks = {name: task.score for name, task in self.tasks.items() if task.score}
        sets = {name: part.overall for name, part in self.diagnostics.items() if part}
        title = f"{self.benchmark}, {self.split} split"
        if self.score is None:
            title += ": no macro-average"
        return forest_of_scores(self.score, tasks, sets, _plot_row, loss=self.loss, title=title, ax=ax)


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
            if diagnostic is None:
                return None
            return diagnostic.overall
        task = report.tasks[self.task.name]
        if self.metric is None:
            return task.score
        return task.metrics.get(self.metric.name)


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
    return with_interval(score.value, score.low, score.high, score.loss)


def _score_in_words(score: Score) -> str:
    """A score in a sentence: "84.8 (83.0 to 86.4)"."""
    value = percent(score.value, score.loss)
    if score.low is None or score.high is None:
        return f"{value} (no interval: {score.withheld})" if score.withheld else value
    ends = sorted((score.low, score.high), reverse=bool(score.loss))
    return f"{value} ({percent(ends[0], score.loss)} to {percent(ends[1], score.loss)})"


def record(score: Score | None, **place: str) -> dict[str, object]:
    """A score with the fields that identify it, as one row of a table."""
    row: dict[str, object] = dict(place)
    if score is not None:
        row |= score.as_dict()
    return row


def _plot_row(name: str, score: Score, *, whole: bool = False) -> Row:
    """The row of a plot; `whole` if the score is the average of the others."""
    from gluebench.scoring.plots import Row

    note = counted(score.n, "task") if whole else f"n = {score.n:,}"
    if score.withheld:
        note += f", interval withheld: {score.withheld}"
    fractions = (score.value, score.low, score.high)
    factor = -1 if score.loss else 100
    return Row.of(name, fractions, note, filled=score.low is not None, whole=whole, factor=factor)


def _score_cells(task: str, metric: str, score: Score | None) -> tuple[str, ...]:
    """A row of the table: task, metric, score, its interval and the number of examples."""
    if score is None:
        return task, metric, "-", "", ""
    limits = ends(score.low, score.high, score.withheld, loss=score.loss)
    return task, metric, percent(score.value, score.loss), limits, f"{score.n:,}"


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
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    return value


def fields_of(record: Any, *, optional: Collection[str] = ()) -> dict[str, Any]:
    """The JSON-ready fields of a named tuple or data class by name; `optional` ones only if not None."""
    if hasattr(record, "_fields"):
        names = record._fields
    else:
        names = [field.name for field in fields(record)]
    ready = {}
    for name in names:
        value = getattr(record, name)
        if value is not None or name not in optional:
            ready[name] = json_ready(value)
    return ready


def rounded(value: float | None) -> float | None:
    """Round to 12 significant digits, since the last bits of a sum may differ between machines."""
    if value is None:
        return None
    return float(f"{value:.12g}")


def report_of(values: Mapping[str, Any]) -> Report:
    """Rebuild a report from the values of its `as_dict`, as a leaderboard sends them.

    Raises ValueError for another schema.
    """
    if values.get("schema") != SCHEMA:
        raise ValueError(f"this is not a report of the schema {SCHEMA}, but {values.get('schema')!r}")
    tasks = {}
    for name, task in values["tasks"].items():
        metrics = _scores(task["metrics"], what=f"metric of {name}")
        tasks[name] = TaskReport(_score(task["score"]), metrics)
    diagnostics = {}
    for name, part in values["diagnostics"].items():
        diagnostics[name] = None if part is None else diagnostic_of(part)
    return Report(
        benchmark=values["benchmark"],
        split=values["split"],
        complete=values["complete"],
        missing=tuple(values["missing"]),
        score=_score(values["score"]),
        tasks=ByName(tasks, what="task"),
        diagnostics=diagnostics,
        classes=_classes(values.get("classes", {})),
        warnings=tuple(values["warnings"]),
        provenance=values["provenance"],
    )


def diagnostic_of(values: Mapping[str, Any]) -> DiagnosticReport:
    """A report's part on one diagnostic set, from its JSON."""
    metadata = {name: _scores(part, what="category") for name, part in values.items() if name != "overall"}
    coarse = metadata.pop("coarse")
    fine = metadata.pop("fine")
    return DiagnosticReport(Score(**values["overall"]), coarse, fine, metadata)


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
    if values is None:
        return None
    return Score(**values)


def provenance(gold: Gold, **settings: Any) -> Mapping[str, Any]:
    """The `provenance` of a report, JSON-ready; `settings` are the options that the scores depend on."""
    facts: dict[str, Any] = {
        "package": "gluebench",
        "version": __version__,
        "schema": SCHEMA,
        "benchmark": {"name": gold.benchmark.name, "fingerprint": fingerprint(gold.benchmark)},
        "datasets": datasets(gold),
        "labels": gold.version,
        "metrics": METRICS_VERSION,
    }
    if gold.rows:
        facts["rows"] = gold.rows
        facts["share"] = gold.share
    if gold.scope:
        facts["uncertainty"] = gold.scope
    return facts | settings


def fingerprint(benchmark: Benchmark) -> str:
    """Hash of everything in the manifest that affects scores; titles, notes and sources do not."""
    from hashlib import sha256

    tasks = [_facts_of_scores(task) for task in benchmark.tasks]
    return sha256(repr(tasks).encode()).hexdigest()[:DIGITS]


def _facts_of_scores(task: Task) -> tuple[object, ...]:
    """All that the scores of a task depend on, as text would print it: its fingerprint must not change."""
    files = []
    for file in task.files:
        sizes = sorted((role, split.size) for role, split in file.splits.items())
        files.append((file.name, sizes))
    facts: list[object] = [
        task.name,
        task.scored if task.weight == 1 else (task.scored, task.weight),
        task.words,
        task.score_range,
        [(metric.name, metric.function, metric.file, metric.positive) for metric in task.metrics],
        files,
        [(phenomenon.coarse, phenomenon.name) for phenomenon in task.phenomena],
        task.metadata,
    ]
    # Later versions added these, only where they are used, so that earlier fingerprints stay.
    scales = [metric.scale for metric in task.metrics]
    if task.form not in ("labels", "numbers") or any(scales):
        facts += [task.form, task.vocabulary, task.separator, scales]
    for metric in task.metrics:
        if metric.parents:
            facts.append(metric.parents)
        if metric.language:
            facts.append(metric.language)
        if metric.scheme not in ("", "IOB2"):  # the only scheme of earlier versions
            facts.append(metric.scheme)
    return tuple(facts)


def datasets(gold: Gold) -> dict[str, str | None]:
    """Map test-file names to content fingerprints of their examples; None where not known.

    A fingerprint is that of the data with the labels or, without one, that in the manifest.
    """
    fingerprints = {}
    for file in gold.benchmark.files(gold.role):
        of_manifest = file.splits[gold.role].fingerprint
        fingerprints[file.name] = gold.datasets.get(file.name) or of_manifest or None
    return fingerprints
