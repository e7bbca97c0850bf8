"""The columns of the paper's Table 5 for some submissions, above the paper's own rows."""

from __future__ import annotations

from collections.abc import Iterator

from gluebench.analysis.diagnostics.diagnosis import Diagnosis, SetDiagnosis
from gluebench.analysis.diagnostics.paper import COLUMNS, Table5, human, table5
from gluebench.benchmark import Benchmark
from gluebench.cli.common.output import Output, Records, Section, Table, percent
from gluebench.cli.scoring.report_view import BETWEEN_MODELS
from gluebench.scoring import Score
from gluebench.scoring.report import record

FIELDS = ("task", "system", "column", "category", "value", "low", "high", "n", "withheld", "printed")
SCHEMA = "gluebench.table5/1"
OF_THE_PAPER = "glue"
"""The benchmark that the paper's numbers are of."""


def table5_output(diagnosis: Diagnosis, benchmark: Benchmark) -> Output:
    """A table for each diagnostic set, in every form."""
    beside = OF_THE_PAPER in (benchmark.name, *benchmark.extends)
    made = {name: table5(part.task, part.reports, beside=beside) for name, part in diagnosis.sets.items()}
    data = {
        "schema": SCHEMA,
        "benchmark": diagnosis.benchmark,
        "split": diagnosis.split,
        "sets": {name: _as_dict(table) for name, table in made.items()},
        "warnings": list(diagnosis.warnings),
        "provenance": dict(diagnosis.provenance),
    }
    tables = tuple(_table(part, made[name]) for name, part in diagnosis.sets.items())
    records = (row for name, table in made.items() for row in _records(name, table))
    return Output(data, tables, Records.of(FIELDS, records))


def _table(part: SetDiagnosis, table: Table5) -> Table:
    blank = [""] * (len(table.headings) - 1)
    systems = [(name, *(percent(score.value) for score in scores)) for name, scores in table.systems.items()]
    people = [(name, percent(value), *blank) for name, value, _ in human(part.task)]
    sections = [Section((("examples", *map(str, table.sizes)),)), Section((*systems, *people))]
    for title, rows in table.printed.items():
        lines = tuple((f"  {row}", *map(_printed, values)) for row, values in rows.items())
        sections.append(Section(lines, f"Paper: {title}"))
    return Table(
        columns=("system", *table.headings),
        sections=tuple(sections),
        title=f"{part.task.name}: {part.task.metrics[0].title} x 100, the columns of the paper's Table 5",
        right=frozenset(range(1, len(table.headings) + 1)),
        notes=tuple(_notes(part, table)),
    )


def _printed(value: float | None) -> str:
    """As in the paper: no decimals."""
    return "-" if value is None else f"{round(100 * value)}"


def _notes(part: SetDiagnosis, table: Table5) -> Iterator[str]:
    yield "; ".join(f"{head}: {COLUMNS[head]}" for head in table.headings if COLUMNS[head] != head) + "."
    for name, scores in table.systems.items():
        for reason in dict.fromkeys(score.withheld for score in scores if score.withheld):
            heads = [
                head for head, score in zip(table.headings, scores, strict=True) if score.withheld == reason
            ]
            which = "every column" if len(heads) == len(scores) else ", ".join(heads)
            yield f"{name}, no interval for {which}: {reason}."
    yield from (f"{name}: {source}." for name, _, source in human(part.task))
    yield BETWEEN_MODELS


def _as_dict(table: Table5) -> dict[str, object]:
    return {
        "columns": {head: COLUMNS[head] for head in table.headings},
        "systems": {name: _by_heading(table, scores) for name, scores in table.systems.items()},
        "printed": [
            {"section": section, "row": row, "values": dict(zip(table.headings, values, strict=True))}
            for section, rows in table.printed.items()
            for row, values in rows.items()
        ],
    }


def _by_heading(table: Table5, scores: tuple[Score, ...]) -> dict[str, object]:
    return {head: score.as_dict() for head, score in zip(table.headings, scores, strict=True)}


def _records(task: str, table: Table5) -> Iterator[dict[str, object]]:
    for system, scores in table.systems.items():
        for head, score in zip(table.headings, scores, strict=True):
            yield record(score, task=task, system=system, column=head, category=COLUMNS[head])
    for section, rows in table.printed.items():
        for row, numbers in rows.items():
            for head, value in zip(table.headings, numbers, strict=True):
                place = {"task": task, "system": row, "column": head, "category": COLUMNS[head]}
                yield {**place, "value": value, "printed": section}
