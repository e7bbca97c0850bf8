"""A diagnosis as tables: by category, of one phenomenon, or as the columns of the paper's Table 5."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

from gluebench.analysis.diagnostics.counts import Confusion, Directions, Share
from gluebench.analysis.diagnostics.diagnosis import FIELDS, Diagnosis, SetDiagnosis
from gluebench.analysis.diagnostics.heatmap import MOST_WITH_INTERVALS
from gluebench.analysis.diagnostics.paper import (
    COLUMNS,
    PAGE,
    PhenomenonPage,
    Table5,
    explain,
    human_references,
    table5,
)
from gluebench.benchmark import Benchmark, Phenomenon, Task
from gluebench.benchmark.figures import percent, with_interval
from gluebench.benchmark.lookup import find
from gluebench.benchmark.tables import Column, Section, Table, names_and_numbers, numeric
from gluebench.cli.common.output import Output
from gluebench.cli.scoring.grade import BETWEEN_MODELS, categories, score_cell
from gluebench.scoring import Score
from gluebench.scoring.report import DiagnosticReport, record
from gluebench.scoring.tags import OVERALL

MEANINGS = f"What each phenomenon is about, with pairs that show it: --phenomenon NAME, and {PAGE}."


def diagnosis_output(result: Diagnosis, benchmark: Benchmark) -> Output:
    """The diagnosis in every form."""
    tables: list[Table] = []
    for part in result.sets.values():
        tables += _tables(part, benchmark, result.split)
    scope = result.provenance.get("uncertainty")
    words = ["", scope] if scope else []
    return Output(result.as_dict(), tables, FIELDS, result.records(), words)


def _tables(part: SetDiagnosis, benchmark: Benchmark, split: str) -> Iterator[Table]:
    yield _score_table(part, f"{benchmark.title}, {split} split: {part.task.name}, {part.task.title}")
    yield from _confusion_tables(part, (OVERALL, ""), part.task.name)
    directions = {name: system.directions for name, system in part.systems.items() if system.directions}
    if directions:
        yield _direction_table(directions, part.task)
        yield _kind_table(directions, part.task)


def _score_table(part: SetDiagnosis, title: str) -> Table:
    task = part.task
    systems = list(part.systems.values())
    with_intervals = len(systems) <= MOST_WITH_INTERVALS
    sections = []
    scores_of_systems = [_scores_by_category(system.scores) for system in systems]
    for entries in [[(OVERALL, "", "overall")]] + categories(task, systems[0].scores.metadata):
        rows = []
        for kind, name, text in entries:
            scores = [by_category.get((kind, name)) for by_category in scores_of_systems]
            sizes = [score.n for score in scores if score is not None]
            if sizes:
                rows.append([text, sizes[0]] + scores)
        if rows:
            sections.append(Section(rows))
    notes = []
    for name, value, source in human_references(task):
        notes.append(f"{name}: {percent(value)} on the whole set ({source}).")
    notes.append(BETWEEN_MODELS)
    if task.phenomena:
        notes.append(MEANINGS)
    if not with_intervals:
        notes.append("Intervals are left out for want of room: --csv and --json have them.")
    metric = task.metrics[0].title
    headings = list(part.systems)
    if len(headings) == 1:
        title = f"{title}: {headings[0]}"
        headings = [metric]
    else:
        title = f"{title}: {metric}"
    show = score_cell if with_intervals else _value_cell
    columns = [Column("category"), numeric("n")]
    columns += [Column(heading, show=show) for heading in headings]
    return Table(columns, sections=sections, title=title, notes=notes)


def _scores_by_category(report: DiagnosticReport) -> dict[tuple[str, str], Score]:
    """Kind and name of each category to its score."""
    return {(kind, name): score for kind, name, score in report.parts()}


def _value_cell(score: Score | None) -> str:
    return f"{percent(score and score.value):>5}"


def _confusion_tables(part: SetDiagnosis, category: tuple[str, str], name: str) -> Iterator[Table]:
    """The confusion matrices of a category, gold labels in rows, as one table; none if no system has any."""
    sections = []
    labels: Sequence[str] = ()
    for system, entry in part.systems.items():
        confusion = entry.confusions.get(category)
        if confusion is not None:
            labels = confusion.labels
            sections.append(Section(list(_confusion_rows(confusion)), system))
    if sections:
        columns = names_and_numbers("gold", [*labels, "all", "right %"])
        title = f"{name}: which label is taken for which (gold down, answers across)"
        yield Table(columns, sections=sections, title=title)


def _confusion_rows(confusion: Confusion) -> Iterator[list[str]]:
    """The counts of each gold label, then of all, and the precision of each predicted one."""
    classes = confusion.classes
    for word, counts, score in zip(confusion.labels, confusion.counts, classes, strict=True):
        yield [word] + [str(count) for count in counts] + [str(score.support), percent(score.recall)]
    hits = sum(row[code] for code, row in enumerate(confusion.counts))
    predicted = [str(score.predicted) for score in classes]
    precisions = [percent(score.precision) for score in classes]
    yield ["all"] + predicted + [str(confusion.n), percent(hits / confusion.n)]
    yield ["right %"] + precisions + ["", ""]


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
    rows = []
    for name, text in words.items():
        rows.append([text] + [_share_cell(pair.shares()[name]) for pair in pairs])
    title = f"{task.name}: the two directions of a pair"
    return Table(["pairs", *directions], rows, title=title, notes=notes)


def _share_cell(share: Share) -> str:
    if share.interval is None:
        return "0 of 0"
    low, high = share.interval
    return f"{share.count} of {share.of}: {with_interval(share.value, low, high)}"


def _kind_table(directions: dict[str, Directions], task: Task) -> Table:
    pairs = list(directions.values())
    rows = []
    for kind in combinations_with_replacement(task.words, 2):
        counts = [pair.kinds.get(kind, (0, 0)) for pair in pairs]
        if any(gold or answers for gold, answers in counts):
            most_gold = max(gold for gold, _ in counts)
            rows.append([" / ".join(kind), str(most_gold)] + [str(answers) for _, answers in counts])
    columns = names_and_numbers("labels of a pair", ["gold", *directions])
    title = f"{task.name}: pairs by the labels of their two directions"
    return Table(columns, rows, title=title)


# ---------------------------------------------------------------- one phenomenon

PHENOMENON_FIELDS = ("task", "system", "category", "value", "low", "high", "n", "withheld")


class _Category(NamedTuple):
    kind: str
    name: str


def category(query: str, tasks: Iterable[Task]) -> _Category:
    """The fine phenomenon or coarse category of that name or alias. Raises UnknownNameError."""
    fine: list[Phenomenon] = []
    for task in tasks:
        fine += task.phenomena
    coarse_names = dict.fromkeys(phenomenon.coarse for phenomenon in fine)
    coarse = [Phenomenon(name, name) for name in coarse_names]
    match = find(query, fine + coarse, what="phenomenon")
    return _Category("fine" if match in fine else "coarse", match.name)


def phenomenon_output(diagnosis: Diagnosis, query: str) -> Output:
    """The scores on one phenomenon, for every diagnostic set that has it, in every form."""
    phenomenon = category(query, [part.task for part in diagnosis.sets.values()])
    tables: list[Table] = []
    sets: dict[str, dict[str, object]] = {}
    records: list[dict[str, object]] = []
    for task, part in diagnosis.sets.items():
        scores: dict[str, Score] = {}
        sets[task] = {}
        for name, report in part.reports.items():
            values: dict[str, object] = {}
            score = _scores_by_category(report).get(phenomenon)
            if score is not None:
                scores[name] = score
                values |= score.as_dict()
                records.append(record(score, task=task, category=phenomenon.name, system=name))
            confusion = part.systems[name].confusions.get(phenomenon)
            values["confusion"] = None if confusion is None else confusion.as_dict()
            sets[task][name] = values
        if scores:
            tables.append(_phenomenon_table(part.task, phenomenon, scores))
            tables += _confusion_tables(part, phenomenon, phenomenon.name)
    data: dict[str, object] = {
        "schema": "gluebench.phenomenon/1",
        "phenomenon": phenomenon.name,
        "about": None,
        "link": None,
        "examples": [],
        "sets": sets,
    }
    words = [""]
    explanation = explain(phenomenon.name)
    if explanation is not None:
        data["about"] = explanation.words
        data["link"] = explanation.link
        data["examples"] = [example._asdict() for example in explanation.examples]
        words += [explanation.words, f"More: {explanation.link}."]
        if explanation.examples:
            tables.append(_examples_table(explanation))
    return Output(data, tables, PHENOMENON_FIELDS, records, words)


def _examples_table(explanation: PhenomenonPage) -> Table:
    rows = [(pair.first, pair.second, pair.forward, pair.backward) for pair in explanation.examples]
    columns = ("first", "second", "forward", "backward")
    return Table(columns, rows, title=f"{explanation.name}: pairs of the sample benchmark")


def _phenomenon_table(task: Task, phenomenon: _Category, scores: dict[str, Score]) -> Table:
    return Table(
        ("system", Column(task.metrics[0].title, show=score_cell), numeric("n")),
        [(name, score, score.n) for name, score in scores.items()],
        title=f"{task.name}: {phenomenon.name}",
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
    tables = []
    records: list[dict[str, object]] = []
    for name, part in diagnosis.sets.items():
        tables.append(_table5(part.task, by_set[name]))
        records += _records(name, by_set[name])
    return Output(data, tables, TABLE5_FIELDS, records)


def _table5(task: Task, table: Table5) -> Table:
    columns = names_and_numbers("system", table.headings)
    systems = []
    for name, scores in table.systems.items():
        systems.append([name] + [percent(score.value) for score in scores])
    for name, value, _ in human_references(task):
        row = [""] * len(columns)
        row[0] = name
        row[1] = percent(value)
        systems.append(row)
    sizes = ["examples"] + [str(size) for size in table.sizes]
    sections = [Section([sizes]), Section(systems)]
    for title, printed in table.printed.items():
        rows = []
        for name, values in printed.items():
            # As in the paper: no decimals.
            cells = ["-" if value is None else f"{round(100 * value)}" for value in values]
            rows.append([f"  {name}"] + cells)
        sections.append(Section(rows, f"Paper: {title}"))
    return Table(
        columns,
        sections=sections,
        title=f"{task.name}: {task.metrics[0].title} x 100, the columns of the paper's Table 5",
        notes=_table5_notes(task, table),
    )


def _table5_notes(task: Task, table: Table5) -> Iterator[str]:
    meanings = [f"{head}: {COLUMNS[head]}" for head in table.headings if COLUMNS[head] != head]
    yield "; ".join(meanings) + "."
    for name, scores in table.systems.items():
        heads_by_reason: dict[str, list[str]] = {}
        for head, score in zip(table.headings, scores, strict=True):
            if score.withheld:
                heads_by_reason.setdefault(score.withheld, []).append(head)
        for reason, heads in heads_by_reason.items():
            which = "every column" if len(heads) == len(scores) else ", ".join(heads)
            yield f"{name}, no interval for {which}: {reason}."
    for name, _, source in human_references(task):
        yield f"{name}: {source}."
    yield BETWEEN_MODELS


def _as_dict(table: Table5) -> dict[str, object]:
    systems = {}
    for name, scores in table.systems.items():
        values = [score.as_dict() for score in scores]
        systems[name] = dict(zip(table.headings, values, strict=True))
    printed = []
    for section, rows in table.printed.items():
        for row, numbers in rows.items():
            values_by_head = dict(zip(table.headings, numbers, strict=True))
            printed.append({"section": section, "row": row, "values": values_by_head})
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
                yield {
                    "task": task,
                    "system": row,
                    "column": head,
                    "category": COLUMNS[head],
                    "value": value,
                    "printed": section,
                }
