"""A diagnosis as tables: scores by category, confusions, and the two directions of a pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gluebench.analysis.diagnostics.diagnosis import (
    Confusion,
    Diagnosis,
    Directions,
    Finding,
    SetDiagnosis,
    Share,
)
from gluebench.analysis.diagnostics.phenomena import PAGE
from gluebench.analysis.diagnostics.table5 import human
from gluebench.benchmark import Benchmark, Task
from gluebench.cli.output import Output, Records, interval, percent
from gluebench.cli.report_view import BETWEEN_MODELS, score_cell
from gluebench.cli.tables import Section, Table
from gluebench.scoring import Score
from gluebench.scoring.report import rounded
from gluebench.scoring.tags import OVERALL

FIELDS = (
    "task", "system", "breakdown", "category", "measure", "gold", "answer",
    "value", "low", "high", "n", "withheld",
)  # fmt: skip
MEANINGS = f"What each phenomenon is about, with pairs that show it: --phenomenon NAME, and {PAGE}."
CONFUSED = "which label is taken for which (gold down, answers across)"
MOST_WITH_INTERVALS = 3
"""Systems side by side that leave room for intervals."""


def diagnosis_output(found: Diagnosis, benchmark: Benchmark) -> Output:
    """The diagnosis in every form."""
    tables = [table for each in found.sets.values() for table in _tables(each, benchmark, found.split)]
    return Output(found.as_dict(), tuple(tables), Records(FIELDS, tuple(_records(found))))


def _tables(found: SetDiagnosis, benchmark: Benchmark, split: str) -> Iterator[Table]:
    yield _score_table(found, f"{benchmark.title}, {split} split: {found.task.name}, {found.task.title}")
    whole = {name: finding.confusions.get((OVERALL, "")) for name, finding in found.systems.items()}
    confusions = {name: confusion for name, confusion in whole.items() if confusion is not None}
    if confusions:
        yield confusion_table(confusions, f"{found.task.name}: {CONFUSED}")
    directions = {name: finding.directions for name, finding in found.systems.items() if finding.directions}
    if directions:
        yield _direction_table(directions, found.task)
        yield _kind_table(directions, found.task)


def _score_table(found: SetDiagnosis, title: str) -> Table:
    findings = list(found.systems.values())
    with_intervals = len(findings) <= MOST_WITH_INTERVALS
    sections = [_section(findings, [(OVERALL, "", "overall")], with_intervals)]
    for coarse in found.task.coarse():
        fine = [each.name for each in found.task.phenomena if each.coarse == coarse]
        wanted = [("coarse", coarse, coarse), *(("fine", name, f"  {name}") for name in fine)]
        sections.append(_section(findings, wanted, with_intervals))
    for column, values in findings[0].scores.metadata.items():
        wanted = [(column, value, f"{column}: {value}") for value in values]
        sections.append(_section(findings, wanted, with_intervals))
    metric = found.task.metrics[0].title
    systems = (metric,) if len(findings) == 1 else tuple(found.systems)
    return Table(
        columns=("category", "n", *systems),
        sections=tuple(section for section in sections if section.rows),
        title=f"{title}: {next(iter(found.systems))}" if len(findings) == 1 else f"{title}: {metric}",
        right=frozenset({1}),
        notes=tuple(_notes(found.task, with_intervals)),
    )


def _notes(task: Task, with_intervals: bool) -> Iterator[str]:
    for name, value, source in human(task):
        yield f"{name}: {percent(value)} on the whole set ({source})."
    yield BETWEEN_MODELS
    if task.phenomena:
        yield MEANINGS
    if not with_intervals:
        yield "Intervals are left out for want of room: --csv and --json have them."


def _section(
    findings: Sequence[Finding], wanted: Sequence[tuple[str, str, str]], with_intervals: bool
) -> Section:
    """The rows of these (kind, category, words), where some system has a score."""
    scores = [{(kind, name): score for kind, name, score in finding.parts()} for finding in findings]
    rows = []
    for kind, name, words in wanted:
        found = [each.get((kind, name)) for each in scores]
        n = next((score.n for score in found if score is not None), None)
        if n is not None:
            rows.append((words, str(n), *(_cell(score, with_intervals) for score in found)))
    return Section(tuple(rows))


def _cell(score: Score | None, with_interval: bool) -> str:
    return score_cell(score) if with_interval or score is None else f"{percent(score.value):>5}"


def confusion_table(confusions: dict[str, Confusion], title: str) -> Table:
    """A section for each system: gold labels down, answers across."""
    labels = next(iter(confusions.values())).labels
    return Table(
        columns=("gold", *labels, "all", "right %"),
        sections=tuple(Section(tuple(_confused(each)), name) for name, each in confusions.items()),
        title=title,
        right=frozenset(range(1, len(labels) + 3)),
    )


def _confused(confusion: Confusion) -> Iterator[tuple[str, ...]]:
    rows = zip(confusion.labels, confusion.counts, confusion.gold, confusion.recall, strict=True)
    for word, counts, total, right in rows:
        yield (word, *map(str, counts), str(total), percent(right))
    hits = sum(row[code] for code, row in enumerate(confusion.counts))
    yield ("all", *map(str, confusion.answered), str(confusion.n), percent(hits / confusion.n))
    yield ("right %", *map(percent, confusion.precision), "", "")


def direction_words(mirrored: str | None) -> dict[str, str]:
    """What each share of pairs is, by its name."""
    words = {
        "both": "both directions right",
        "one": "one direction right",
        "neither": "neither right",
        "alike": "answered alike, of those with one label both ways",
        "apart": "answered differently, of those with two labels",
    }
    return (
        words if mirrored is None else {**words, "one_way": f"{mirrored} one way only, of those answered so"}
    )


def _direction_table(directions: dict[str, Directions], task: Task) -> Table:
    found = list(directions.values())
    words = direction_words(found[0].mirrored)
    rows = [(text, *(_share(each.shares()[name]) for each in found)) for name, text in words.items()]
    left_out = found[0].unpaired
    notes = ["Shares with their 95 % intervals."]
    if found[0].mirrored:
        notes.append(
            f"A {found[0].mirrored} holds in both directions: one way only is wrong on its own terms."
        )
    if left_out:
        notes.append(f"{left_out} examples without their other direction are left out.")
    return Table(("pairs", *directions), (Section(tuple(rows)),), _pair_title(task), notes=tuple(notes))


def _share(share: Share) -> str:
    if share.interval is None:
        return "0 of 0"
    return f"{share.count} of {share.of}: {percent(share.value)}{interval(*share.interval)}"


def _pair_title(task: Task) -> str:
    return f"{task.name}: the two directions of a pair"


def _kind_table(directions: dict[str, Directions], task: Task) -> Table:
    found = list(directions.values())
    kinds = [
        (first, second)
        for at, first in enumerate(task.words)
        for second in task.words[at:]
        if any((first, second) in each.kinds for each in found)
    ]
    rows = []
    for kind in kinds:
        gold = max(each.kinds.get(kind, (0, 0))[0] for each in found)
        rows.append((" / ".join(kind), str(gold), *(str(each.kinds.get(kind, (0, 0))[1]) for each in found)))
    return Table(
        columns=("labels of a pair", "gold", *directions),
        sections=(Section(tuple(rows)),),
        title=f"{task.name}: pairs by the labels of their two directions",
        right=frozenset(range(1, len(directions) + 2)),
    )


def _records(found: Diagnosis) -> Iterator[tuple[object, ...]]:
    for task, each in found.sets.items():
        metric = each.task.metrics[0].name
        for system, finding in each.systems.items():
            for kind, name, score in finding.parts():
                ends = (rounded(score.low), rounded(score.high))
                values = (rounded(score.value), *ends, score.n, score.withheld)
                yield (task, system, kind, name, metric, None, None, *values)
            for (kind, name), confusion in finding.confusions.items():
                for record in _counts(confusion):
                    yield (task, system, kind, name, "count", *record)
            if finding.directions:
                for name, share in finding.directions.shares().items():
                    low, high = share.interval or (None, None)
                    values = (rounded(share.value), rounded(low), rounded(high), share.of, None)
                    yield (task, system, "directions", "", name, None, None, *values)


def _counts(confusion: Confusion) -> Iterator[tuple[object, ...]]:
    """Gold label, answer and count of each cell, with the gold label's examples as n."""
    for gold, row, total in zip(confusion.labels, confusion.counts, confusion.gold, strict=True):
        for answer, count in zip(confusion.labels, row, strict=True):
            yield (gold, answer, count, None, None, total, None)
