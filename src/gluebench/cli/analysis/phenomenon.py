"""One phenomenon: what it is about, how systems fare, and pairs of the sample's own that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gluebench.analysis.diagnostics.diagnosis import Diagnosis, SetDiagnosis, SystemDiagnosis
from gluebench.analysis.diagnostics.paper import Explained, explain
from gluebench.benchmark import Task, UnknownNameError
from gluebench.benchmark.lookup import fold
from gluebench.cli.analysis.diagnose_view import CONFUSED, confusion_table
from gluebench.cli.common.output import Output, Records, Section, Table
from gluebench.cli.scoring.report_view import BETWEEN_MODELS, score_cell
from gluebench.scoring import Score
from gluebench.scoring.report import record

FIELDS = ("task", "system", "category", "value", "low", "high", "n", "withheld")
SCHEMA = "gluebench.phenomenon/1"


class _Category(NamedTuple):
    kind: str
    name: str


def category(query: str, tasks: Iterable[Task]) -> _Category:
    """The fine phenomenon or coarse category of that name or alias. Raises UnknownNameError."""
    fine = {
        fold(spelling): _Category("fine", phenomenon.name)
        for task in tasks
        for phenomenon in task.phenomena
        for spelling in (phenomenon.name, *phenomenon.aliases)
    }
    coarse = {fold(name): _Category("coarse", name) for task in tasks for name in task.coarse()}
    known = {**coarse, **fine}
    if fold(query) not in known:
        valid = list(dict.fromkeys(entry.name for entry in known.values()))
        raise UnknownNameError(query, valid, what="phenomenon")
    return known[fold(query)]


def phenomenon_output(diagnosis: Diagnosis, query: str) -> Output:
    """The phenomenon on every diagnostic set that has it, in every form."""
    phenomenon = category(query, [part.task for part in diagnosis.sets.values()])
    explained = explain(phenomenon.name)
    words = (explained.words, f"More: {explained.link}.") if explained else ()
    tables = [table for part in diagnosis.sets.values() for table in _tables(part, phenomenon)]
    if explained and explained.examples:
        tables.append(_examples(explained))
    data = {
        "schema": SCHEMA,
        "phenomenon": phenomenon.name,
        "about": explained.words if explained else None,
        "link": explained.link if explained else None,
        "examples": [example._asdict() for example in explained.examples] if explained else [],
        "sets": {name: _as_dict(part, phenomenon) for name, part in diagnosis.sets.items()},
    }
    return Output(data, tuple(tables), Records.of(FIELDS, _records(diagnosis, phenomenon)), ("", *words))


def _score(finding: SystemDiagnosis, phenomenon: _Category) -> Score | None:
    scores = finding.scores.coarse if phenomenon.kind == "coarse" else finding.scores.fine
    return scores.get(phenomenon.name)


def _tables(part: SetDiagnosis, phenomenon: _Category) -> Iterator[Table]:
    scores = {name: _score(finding, phenomenon) for name, finding in part.systems.items()}
    rows = [(name, score_cell(score), str(score.n)) for name, score in scores.items() if score is not None]
    if not rows:
        return
    yield Table(
        columns=("system", part.task.metrics[0].title, "n"),
        sections=(Section(tuple(rows)),),
        title=f"{part.task.name}: {phenomenon.name}",
        right=frozenset({2}),
        notes=(BETWEEN_MODELS,),
    )
    tables = {name: finding.confusions.get(phenomenon) for name, finding in part.systems.items()}
    confusions = {name: confusion for name, confusion in tables.items() if confusion is not None}
    if confusions:
        yield confusion_table(confusions, f"{phenomenon.name}: {CONFUSED}")


def _examples(explained: Explained) -> Table:
    rows = tuple((pair.first, pair.second, pair.forward, pair.backward) for pair in explained.examples)
    return Table(
        columns=("first", "second", "forward", "backward"),
        sections=(Section(rows),),
        title=f"{explained.name}: pairs of the sample benchmark",
    )


def _as_dict(part: SetDiagnosis, phenomenon: _Category) -> dict[str, object]:
    systems: dict[str, object] = {}
    for name, finding in part.systems.items():
        score, confusion = _score(finding, phenomenon), finding.confusions.get(phenomenon)
        systems[name] = {
            **(score.as_dict() if score else {}),
            "confusion": confusion.as_dict() if confusion else None,
        }
    return systems


def _records(diagnosis: Diagnosis, phenomenon: _Category) -> Iterator[dict[str, object]]:
    for task, part in diagnosis.sets.items():
        for system, finding in part.systems.items():
            score = _score(finding, phenomenon)
            if score is not None:
                yield record(score, task=task, system=system, category=phenomenon.name)
