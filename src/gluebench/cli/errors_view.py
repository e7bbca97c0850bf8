"""Errors as an answer of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from gluebench.cli.formats import Records
from gluebench.cli.output import Output, interval, percent
from gluebench.cli.tables import Section, Table

if TYPE_CHECKING:
    from gluebench.analysis.errors import Case, CaseFile, Rate, Wanted

SCHEMA = "gluebench.errors/1"
WITHIN = "Compare systems within a row; rows differ in difficulty and are not to be compared with each other."
FIELDS = ("file", "index", "gold", "system", "answer", "wrong", "words", "overlap", "phenomena")


def errors_output(
    files: Sequence[CaseFile],
    wanted: Sequence[Wanted],
    counted: Mapping[str, Sequence[Rate]],
    *,
    limit: int | None,
) -> Output:
    """Rates of each file, then the examples that were asked for."""
    chosen = [
        [case for case in file.cases if passes(case)] for file, passes in zip(files, wanted, strict=True)
    ]
    tables: list[Table] = []
    words: list[str] = []
    rows: list[tuple[Any, ...]] = []
    data: dict[str, Any] = {"schema": SCHEMA, "files": {}}
    for file, found in zip(files, chosen, strict=True):
        shown = list(islice(found, limit))
        tables.append(_rates_table(file, counted[file.file]))
        if shown:
            tables.append(_cases_table(file, shown))
        words.append(_verdict(file, len(found), len(shown)))
        rows += [row for case in shown for row in _records(file, case, len(_text_fields(files)))]
        data["files"][file.file] = {
            "task": file.task.name,
            "split": file.split,
            "systems": list(file.systems),
            "rates": [_rate_data(file, each) for each in counted[file.file]],
            "found": len(found),
            "examples": [_case_data(file, case) for case in shown],
        }
    return Output(data, tuple(tables), Records((*FIELDS, *_text_fields(files)), tuple(rows)), tuple(words))


def _verdict(file: CaseFile, found: int, shown: int) -> str:
    first = f"; the first {shown:,} are shown" if shown < found else ""
    return f"{file.file}: {found:,} of {len(file.cases):,} examples{first}."


def _rates_table(file: CaseFile, found: Sequence[Rate]) -> Table:
    columns = ("", "examples", *(f"{system} wrong %" for system in file.systems))
    kinds: dict[str, list[tuple[str, ...]]] = {}
    for each in found:
        shares = [
            f"{percent(each.share(number))}{interval(bar.low, bar.high)}"
            for number, bar in enumerate(each.bars)
        ]
        kinds.setdefault(each.kind, []).append((each.name or each.kind, f"{each.n:,}", *shares))
    sections = tuple(Section(tuple(rows), kind if len(rows) > 1 else "") for kind, rows in kinds.items())
    title = f"Errors on {file.file}, {file.split} split"
    return Table(columns, sections, title, frozenset(range(1, len(columns))), (WITHIN,))


def _cases_table(file: CaseFile, cases: Sequence[Case]) -> Table:
    """Each example with its texts one under the other."""
    columns = ("index", "gold", *file.systems, "text")
    rows: list[tuple[str, ...]] = []
    for case in cases:
        head = [str(case.index), _told(case.gold)]
        head += [
            f"{_told(answer)}{' (wrong)' * wrong}"
            for answer, wrong in zip(case.answers, case.wrong, strict=True)
        ]
        for number, (name, text) in enumerate(case.inputs.items()):
            rows.append((*(head if number == 0 else [""] * len(head)), f"{name}: {text}"))
    return Table(columns, (Section(tuple(rows)),), f"Examples of {file.file}", frozenset({0}))


def _told(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.3f}"


def _text_fields(files: Sequence[CaseFile]) -> list[str]:
    """A column for each input, numbered, since files may call them differently."""
    return [f"text{number}" for number in range(1, max(len(file.task.columns) for file in files) + 1)]


def _records(file: CaseFile, case: Case, inputs: int) -> list[tuple[Any, ...]]:
    texts = [*case.inputs.values(), *[None] * (inputs - len(case.inputs))]
    return [
        (
            file.file,
            case.index,
            case.gold,
            system,
            case.answers[number],
            int(case.wrong[number]),
            case.length,
            case.overlap,
            "; ".join(case.phenomena),
            *texts,
        )
        for number, system in enumerate(file.systems)
    ]


def _rate_data(file: CaseFile, rate: Rate) -> dict[str, Any]:
    return {
        "kind": rate.kind,
        "name": rate.name,
        "n": rate.n,
        "systems": {
            system: {
                "wrong": rate.wrong[number],
                "share": rate.share(number),
                "low": rate.bars[number].low,
                "high": rate.bars[number].high,
                "withheld": rate.bars[number].withheld,
            }
            for number, system in enumerate(file.systems)
        },
    }


def _case_data(file: CaseFile, case: Case) -> dict[str, Any]:
    return {
        "index": case.index,
        "inputs": dict(case.inputs),
        "gold": case.gold,
        "answers": dict(zip(file.systems, case.answers, strict=True)),
        "wrong": dict(zip(file.systems, case.wrong, strict=True)),
        "phenomena": list(case.phenomena),
        "about": dict(case.about),
        "words": case.length,
        "overlap": case.overlap,
    }
