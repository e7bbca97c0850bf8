"""One phenomenon: what it is about, how systems fare, and pairs of the sample's own that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gluebench.analysis.diagnostics.diagnosis import Diagnosis, Finding, SetDiagnosis
from gluebench.analysis.diagnostics.phenomena import Explained, explain
from gluebench.benchmark import Task, UnknownNameError
from gluebench.benchmark.lookup import fold
from gluebench.cli.diagnose_view import CONFUSED, confusion_table
from gluebench.cli.output import Output, Records
from gluebench.cli.report_view import BETWEEN_MODELS, record, score_cell
from gluebench.cli.tables import Section, Table
from gluebench.scoring import Score

FIELDS = ("task", "system", "category", "value", "low", "high", "n", "withheld")
SCHEMA = "gluebench.phenomenon/1"


class _Category(NamedTuple):
    kind: str
    name: str


def category(asked: str, tasks: Iterable[Task]) -> _Category:
    """The fine phenomenon or coarse category of that name or alias. Raises UnknownNameError."""
    fine = {
        fold(spelling): _Category("fine", each.name)
        for task in tasks
        for each in task.phenomena
        for spelling in (each.name, *each.aliases)
    }
    coarse = {fold(name): _Category("coarse", name) for task in tasks for name in task.coarse()}
    known = {**coarse, **fine}
    if fold(asked) not in known:
        valid = list(dict.fromkeys(each.name for each in known.values()))
        raise UnknownNameError(asked, valid, what="phenomenon")
    return known[fold(asked)]


def phenomenon_output(found: Diagnosis, asked: str) -> Output:
    """The phenomenon on every diagnostic set that has it, in every form."""
    wanted = category(asked, [each.task for each in found.sets.values()])
    explained = explain(wanted.name)
    words = (explained.words, f"More: {explained.link}.") if explained else ()
    tables = [table for each in found.sets.values() for table in _tables(each, wanted)]
    if explained and explained.examples:
        tables.append(_examples(explained))
    data = {
        "schema": SCHEMA,
        "phenomenon": wanted.name,
        "about": explained.words if explained else None,
        "link": explained.link if explained else None,
        "examples": [each._asdict() for each in explained.examples] if explained else [],
        "sets": {name: _as_dict(each, wanted) for name, each in found.sets.items()},
    }
    return Output(data, tuple(tables), Records.of(FIELDS, _records(found, wanted)), ("", *words))


def _score(finding: Finding, wanted: _Category) -> Score | None:
    scores = finding.scores.coarse if wanted.kind == "coarse" else finding.scores.fine
    return scores.get(wanted.name)


def _tables(found: SetDiagnosis, wanted: _Category) -> Iterator[Table]:
    scores = {name: _score(finding, wanted) for name, finding in found.systems.items()}
    rows = [(name, score_cell(score), str(score.n)) for name, score in scores.items() if score is not None]
    if not rows:
        return
    yield Table(
        columns=("system", found.task.metrics[0].title, "n"),
        sections=(Section(tuple(rows)),),
        title=f"{found.task.name}: {wanted.name}",
        right=frozenset({2}),
        notes=(BETWEEN_MODELS,),
    )
    tables = {name: finding.confusions.get(wanted) for name, finding in found.systems.items()}
    confusions = {name: confusion for name, confusion in tables.items() if confusion is not None}
    if confusions:
        yield confusion_table(confusions, f"{wanted.name}: {CONFUSED}")


def _examples(explained: Explained) -> Table:
    rows = tuple((pair.first, pair.second, pair.forward, pair.backward) for pair in explained.examples)
    return Table(
        columns=("first", "second", "forward", "backward"),
        sections=(Section(rows),),
        title=f"{explained.name}: pairs of the sample benchmark",
    )


def _as_dict(found: SetDiagnosis, wanted: _Category) -> dict[str, object]:
    systems: dict[str, object] = {}
    for name, finding in found.systems.items():
        score, confusion = _score(finding, wanted), finding.confusions.get(wanted)
        systems[name] = {
            **(score.as_dict() if score else {}),
            "confusion": confusion.as_dict() if confusion else None,
        }
    return systems


def _records(found: Diagnosis, wanted: _Category) -> Iterator[dict[str, object]]:
    for task, each in found.sets.items():
        for system, finding in each.systems.items():
            score = _score(finding, wanted)
            if score is not None:
                yield record(score, task=task, system=system, category=wanted.name)
