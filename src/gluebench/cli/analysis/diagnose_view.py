"""A diagnosis as tables: scores by category, confusions, and the two directions of a pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gluebench.analysis.diagnostics.counts import Confusion, Directions, Share
from gluebench.analysis.diagnostics.diagnosis import FIELDS, Diagnosis, SetDiagnosis, SystemDiagnosis
from gluebench.analysis.diagnostics.heatmap import MOST_WITH_INTERVALS
from gluebench.analysis.diagnostics.paper import PAGE, human
from gluebench.benchmark import Benchmark, Task
from gluebench.cli.common.output import Output, Records, Section, Table, interval, percent
from gluebench.cli.scoring.report_view import BETWEEN_MODELS, score_cell
from gluebench.scoring import Score
from gluebench.scoring.tags import OVERALL

MEANINGS = f"What each phenomenon is about, with pairs that show it: --phenomenon NAME, and {PAGE}."
CONFUSED = "which label is taken for which (gold down, answers across)"


def diagnosis_output(result: Diagnosis, benchmark: Benchmark) -> Output:
    """The diagnosis in every form."""
    tables = [table for part in result.sets.values() for table in _tables(part, benchmark, result.split)]
    return Output(result.as_dict(), tuple(tables), Records.of(FIELDS, result.records()))


def _tables(part: SetDiagnosis, benchmark: Benchmark, split: str) -> Iterator[Table]:
    yield _score_table(part, f"{benchmark.title}, {split} split: {part.task.name}, {part.task.title}")
    whole = {name: finding.confusions.get((OVERALL, "")) for name, finding in part.systems.items()}
    confusions = {name: confusion for name, confusion in whole.items() if confusion is not None}
    if confusions:
        yield confusion_table(confusions, f"{part.task.name}: {CONFUSED}")
    directions = {name: finding.directions for name, finding in part.systems.items() if finding.directions}
    if directions:
        yield _direction_table(directions, part.task)
        yield _kind_table(directions, part.task)


def _score_table(part: SetDiagnosis, title: str) -> Table:
    findings = list(part.systems.values())
    with_intervals = len(findings) <= MOST_WITH_INTERVALS
    sections = [_section(findings, [(OVERALL, "", "overall")], with_intervals)]
    for coarse in part.task.coarse():
        fine = [phenomenon.name for phenomenon in part.task.phenomena if phenomenon.coarse == coarse]
        categories = [("coarse", coarse, coarse), *(("fine", name, f"  {name}") for name in fine)]
        sections.append(_section(findings, categories, with_intervals))
    for column, values in findings[0].scores.metadata.items():
        categories = [(column, value, f"{column}: {value}") for value in values]
        sections.append(_section(findings, categories, with_intervals))
    metric = part.task.metrics[0].title
    systems = (metric,) if len(findings) == 1 else tuple(part.systems)
    return Table(
        columns=("category", "n", *systems),
        sections=tuple(section for section in sections if section.rows),
        title=f"{title}: {next(iter(part.systems))}" if len(findings) == 1 else f"{title}: {metric}",
        right=frozenset({1}),
        notes=tuple(_notes(part.task, with_intervals)),
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
    findings: Sequence[SystemDiagnosis], categories: Sequence[tuple[str, str, str]], with_intervals: bool
) -> Section:
    """The rows of these (kind, category, words), where some system has a score."""
    scores = [{(kind, name): score for kind, name, score in finding.parts()} for finding in findings]
    rows = []
    for kind, name, words in categories:
        row_scores = [of_system.get((kind, name)) for of_system in scores]
        n = next((score.n for score in row_scores if score is not None), None)
        if n is not None:
            rows.append((words, str(n), *(_cell(score, with_intervals) for score in row_scores)))
    return Section(tuple(rows))


def _cell(score: Score | None, with_interval: bool) -> str:
    return score_cell(score) if with_interval or score is None else f"{percent(score.value):>5}"


def confusion_table(confusions: dict[str, Confusion], title: str) -> Table:
    """A section for each system: gold labels down, answers across."""
    labels = next(iter(confusions.values())).labels
    return Table(
        columns=("gold", *labels, "all", "right %"),
        sections=tuple(Section(tuple(_confused(confusion)), name) for name, confusion in confusions.items()),
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
    pairs = list(directions.values())
    words = direction_words(pairs[0].mirrored)
    rows = [(text, *(_share(pair.shares()[name]) for pair in pairs)) for name, text in words.items()]
    left_out = pairs[0].unpaired
    notes = ["Shares with their 95 % intervals."]
    if pairs[0].mirrored:
        notes.append(
            f"A {pairs[0].mirrored} holds in both directions: one way only is wrong on its own terms."
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
    pairs = list(directions.values())
    kinds = [
        (first, second)
        for at, first in enumerate(task.words)
        for second in task.words[at:]
        if any((first, second) in pair.kinds for pair in pairs)
    ]
    rows = []
    for kind in kinds:
        gold = max(pair.kinds.get(kind, (0, 0))[0] for pair in pairs)
        rows.append((" / ".join(kind), str(gold), *(str(pair.kinds.get(kind, (0, 0))[1]) for pair in pairs)))
    return Table(
        columns=("labels of a pair", "gold", *directions),
        sections=(Section(tuple(rows)),),
        title=f"{task.name}: pairs by the labels of their two directions",
        right=frozenset(range(1, len(directions) + 2)),
    )
