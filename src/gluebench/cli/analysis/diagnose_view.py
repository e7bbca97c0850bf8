"""A diagnosis as tables: by category, of one phenomenon, or as the columns of the paper's Table 5."""

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import NamedTuple

from gluebench.analysis.diagnostics.counts import Confusion, Directions, Share
from gluebench.analysis.diagnostics.diagnosis import FIELDS, Diagnosis, SetDiagnosis
from gluebench.analysis.diagnostics.heatmap import MOST_WITH_INTERVALS
from gluebench.analysis.diagnostics.paper import COLUMNS, PAGE, Table5, explain, human_references, table5
from gluebench.benchmark import Benchmark, Phenomenon, Task
from gluebench.benchmark.figures import interval, percent
from gluebench.benchmark.lookup import find
from gluebench.cli.common.output import Output, Section, Table
from gluebench.cli.scoring.grade import BETWEEN_MODELS, categories, score_cell
from gluebench.scoring import Score
from gluebench.scoring.report import record
from gluebench.scoring.tags import OVERALL

MEANINGS = f"What each phenomenon is about, with pairs that show it: --phenomenon NAME, and {PAGE}."


def diagnosis_output(result: Diagnosis, benchmark: Benchmark) -> Output:
    """The diagnosis in every form."""
    tables = [table for part in result.sets.values() for table in _tables(part, benchmark, result.split)]
    scope = result.provenance.get("uncertainty")
    return Output(result.as_dict(), tables, FIELDS, result.records(), ["", scope] if scope else ())


def _tables(part: SetDiagnosis, benchmark: Benchmark, split: str) -> Iterator[Table]:
    yield _score_table(part, f"{benchmark.title}, {split} split: {part.task.name}, {part.task.title}")
    yield from _confusion_tables(part, (OVERALL, ""), part.task.name)
    directions = {name: system.directions for name, system in part.systems.items() if system.directions}
    if directions:
        yield _direction_table(directions, part.task)
        yield _kind_table(directions, part.task)


def _score_table(part: SetDiagnosis, title: str) -> Table:
    task, systems = part.task, list(part.systems.values())
    with_intervals = len(systems) <= MOST_WITH_INTERVALS
    scores = [{(kind, name): score for kind, name, score in system.scores.parts()} for system in systems]
    sections = []
    for entries in [[(OVERALL, "", "overall")], *categories(task, systems[0].scores.metadata)]:
        rows = []
        for kind, name, text in entries:
            row = [system_scores.get((kind, name)) for system_scores in scores]
            n = next((score.n for score in row if score is not None), None)
            if n is not None:
                rows.append((text, str(n), *(_cell(score, with_intervals) for score in row)))
        sections.append(rows)
    notes = [
        f"{name}: {percent(value)} on the whole set ({source})."
        for name, value, source in human_references(task)
    ]
    notes += [BETWEEN_MODELS, *[MEANINGS] * bool(task.phenomena)]
    if not with_intervals:
        notes.append("Intervals are left out for want of room: --csv and --json have them.")
    metric = task.metrics[0].title
    single = len(systems) == 1
    return Table(
        ("category", "n", *([metric] if single else part.systems)),
        [Section(rows) for rows in sections if rows],
        title=f"{title}: {next(iter(part.systems)) if single else metric}",
        right={1},
        notes=notes,
    )


def _cell(score: Score | None, with_interval: bool) -> str:
    return score_cell(score) if with_interval or score is None else f"{percent(score.value):>5}"


def _confusion_tables(part: SetDiagnosis, category: tuple[str, str], name: str) -> Iterator[Table]:
    """The confusion matrices of a category, gold labels in rows, as one table; none if no system has any."""
    tables = {system: entry.confusions.get(category) for system, entry in part.systems.items()}
    confusions = {system: confusion for system, confusion in tables.items() if confusion is not None}
    if confusions:
        labels = next(iter(confusions.values())).labels
        yield Table(
            ("gold", *labels, "all", "right %"),
            [Section([*_confused(confusion)], system) for system, confusion in confusions.items()],
            title=f"{name}: which label is taken for which (gold down, answers across)",
            right=range(1, len(labels) + 3),
        )


def _confused(confusion: Confusion) -> Iterator[tuple[str, ...]]:
    classes = confusion.classes
    for word, counts, score in zip(confusion.labels, confusion.counts, classes, strict=True):
        yield (word, *map(str, counts), str(score.support), percent(score.recall))
    hits = sum(row[code] for code, row in enumerate(confusion.counts))
    predicted = [str(score.predicted) for score in classes]
    precisions = [percent(score.precision) for score in classes]
    yield ("all", *predicted, str(confusion.n), percent(hits / confusion.n))
    yield ("right %", *precisions, "", "")


def _direction_table(directions: dict[str, Directions], task: Task) -> Table:
    pairs = list(directions.values())
    mirrored = pairs[0].mirrored
    words = {
        "both": "both directions right",
        "one": "one direction right",
        "neither": "neither right",
        "alike": "answered alike, of those with one label both ways",
        "apart": "answered differently, of those with two labels",
    }
    notes = ["Shares with their 95 % intervals."]
    if mirrored is not None:
        words["one_way"] = f"{mirrored} one way only, of those answered so"
    if mirrored:
        notes.append(f"A {mirrored} holds in both directions: one way only is wrong on its own terms.")
    if pairs[0].unpaired:
        notes.append(f"{pairs[0].unpaired} examples without their other direction are left out.")
    rows = [(text, *(_share(pair.shares()[name]) for pair in pairs)) for name, text in words.items()]
    title = f"{task.name}: the two directions of a pair"
    return Table(("pairs", *directions), [Section(rows)], title, notes=notes)


def _share(share: Share) -> str:
    if share.interval is None:
        return "0 of 0"
    return f"{share.count} of {share.of}: {percent(share.value)}{interval(*share.interval)}"


def _kind_table(directions: dict[str, Directions], task: Task) -> Table:
    pairs = list(directions.values())
    rows = []
    for kind in combinations_with_replacement(task.words, 2):
        gold, answers = zip(*(pair.kinds.get(kind, (0, 0)) for pair in pairs), strict=True)
        if any(gold + answers):
            rows.append((" / ".join(kind), str(max(gold)), *map(str, answers)))
    return Table(
        ("labels of a pair", "gold", *directions),
        [Section(rows)],
        title=f"{task.name}: pairs by the labels of their two directions",
        right=range(1, len(directions) + 2),
    )


# ---------------------------------------------------------------- one phenomenon

PHENOMENON_FIELDS = ("task", "system", "category", "value", "low", "high", "n", "withheld")


class _Category(NamedTuple):
    kind: str
    name: str


def category(query: str, tasks: Iterable[Task]) -> _Category:
    """The fine phenomenon or coarse category of that name or alias. Raises UnknownNameError."""
    fine = [phenomenon for task in tasks for phenomenon in task.phenomena]
    coarse = [Phenomenon(name, name) for name in dict.fromkeys(phenomenon.coarse for phenomenon in fine)]
    match = find(query, [*fine, *coarse], what="phenomenon")
    return _Category("fine" if match in fine else "coarse", match.name)


def phenomenon_output(diagnosis: Diagnosis, query: str) -> Output:
    """The scores on one phenomenon, for every diagnostic set that has it, in every form."""
    phenomenon = category(query, [part.task for part in diagnosis.sets.values()])
    explained = explain(phenomenon.name)
    examples = explained.examples if explained else ()
    tables: list[Table] = []
    sets: dict[str, dict[str, object]] = {}
    records: list[dict[str, object]] = []
    for task, part in diagnosis.sets.items():
        scores = {
            name: next((score for *place, score in report.parts() if tuple(place) == phenomenon), None)
            for name, report in part.reports.items()
        }
        scored = {name: score for name, score in scores.items() if score is not None}
        if scored:
            tables.append(_phenomenon_table(part.task, phenomenon, scored))
            tables += _confusion_tables(part, phenomenon, phenomenon.name)
        sets[task] = {}
        for name, score in scores.items():
            confusion = part.systems[name].confusions.get(phenomenon)
            values = score.as_dict() if score else {}
            sets[task][name] = {**values, "confusion": confusion.as_dict() if confusion else None}
        where = {"task": task, "category": phenomenon.name}
        records += [record(score, **where, system=name) for name, score in scored.items()]
    if explained and examples:
        rows = [(pair.first, pair.second, pair.forward, pair.backward) for pair in examples]
        columns = ("first", "second", "forward", "backward")
        tables.append(Table(columns, [Section(rows)], f"{explained.name}: pairs of the sample benchmark"))
    data = {
        "schema": "gluebench.phenomenon/1",
        "phenomenon": phenomenon.name,
        "about": explained.words if explained else None,
        "link": explained.link if explained else None,
        "examples": [example._asdict() for example in examples],
        "sets": sets,
    }
    words = [explained.words, f"More: {explained.link}."] if explained else []
    return Output(data, tables, PHENOMENON_FIELDS, records, ["", *words])


def _phenomenon_table(task: Task, phenomenon: _Category, scores: dict[str, Score]) -> Table:
    return Table(
        ("system", task.metrics[0].title, "n"),
        [Section([(name, score_cell(score), str(score.n)) for name, score in scores.items()])],
        title=f"{task.name}: {phenomenon.name}",
        right={2},
        notes=[BETWEEN_MODELS],
    )


# ---------------------------------------------------------------- Table 5

TABLE5_FIELDS = ("task", "system", "column", "category", "value", "low", "high", "n", "withheld", "printed")
OF_THE_PAPER = "glue"
"""The benchmark whose numbers the paper prints."""


def table5_output(diagnosis: Diagnosis, benchmark: Benchmark) -> Output:
    """Table 5 for each diagnostic set, in every form."""
    beside = OF_THE_PAPER in benchmark.lineage
    by_set = {name: table5(part.task, part.reports, beside=beside) for name, part in diagnosis.sets.items()}
    data = {
        "schema": "gluebench.table5/1",
        "benchmark": diagnosis.benchmark,
        "split": diagnosis.split,
        "sets": {name: _as_dict(table) for name, table in by_set.items()},
        "warnings": list(diagnosis.warnings),
        "provenance": dict(diagnosis.provenance),
    }
    tables = [_table5(part.task, by_set[name]) for name, part in diagnosis.sets.items()]
    records = (row for name, table in by_set.items() for row in _records(name, table))
    return Output(data, tables, TABLE5_FIELDS, records)


def _table5(task: Task, table: Table5) -> Table:
    blank = [""] * (len(table.headings) - 1)
    systems = [(name, *(percent(score.value) for score in scores)) for name, scores in table.systems.items()]
    people = [(name, percent(value), *blank) for name, value, _ in human_references(task)]
    sections = [Section([("examples", *map(str, table.sizes))]), Section([*systems, *people])]
    for title, printed in table.printed.items():
        rows = [  # as in the paper: no decimals
            (f"  {row}", *("-" if value is None else f"{round(100 * value)}" for value in values))
            for row, values in printed.items()
        ]
        sections.append(Section(rows, f"Paper: {title}"))
    return Table(
        ("system", *table.headings),
        sections,
        title=f"{task.name}: {task.metrics[0].title} x 100, the columns of the paper's Table 5",
        right=range(1, len(table.headings) + 1),
        notes=[*_table5_notes(task, table)],
    )


def _table5_notes(task: Task, table: Table5) -> Iterator[str]:
    yield "; ".join(f"{head}: {COLUMNS[head]}" for head in table.headings if COLUMNS[head] != head) + "."
    for name, scores in table.systems.items():
        for reason in dict.fromkeys(score.withheld for score in scores if score.withheld):
            heads = [
                head for head, score in zip(table.headings, scores, strict=True) if score.withheld == reason
            ]
            which = "every column" if len(heads) == len(scores) else ", ".join(heads)
            yield f"{name}, no interval for {which}: {reason}."
    yield from (f"{name}: {source}." for name, _, source in human_references(task))
    yield BETWEEN_MODELS


def _as_dict(table: Table5) -> dict[str, object]:
    systems = {
        name: {head: score.as_dict() for head, score in zip(table.headings, scores, strict=True)}
        for name, scores in table.systems.items()
    }
    printed = [
        {"section": section, "row": row, "values": dict(zip(table.headings, values, strict=True))}
        for section, rows in table.printed.items()
        for row, values in rows.items()
    ]
    return {
        "columns": {head: COLUMNS[head] for head in table.headings},
        "systems": systems,
        "printed": printed,
    }


def _records(task: str, table: Table5) -> Iterator[dict[str, object]]:
    for system, scores in table.systems.items():
        for head, score in zip(table.headings, scores, strict=True):
            yield record(score, task=task, system=system, column=head, category=COLUMNS[head])
    for section, rows in table.printed.items():
        for row, numbers in rows.items():
            for head, value in zip(table.headings, numbers, strict=True):
                place = {"task": task, "system": row, "column": head, "category": COLUMNS[head]}
                yield {**place, "value": value, "printed": section}
