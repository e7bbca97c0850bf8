"""`gluebench reproduce findings`: what the paper says of its results, tested on its numbers and on yours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.options import Form, output_options

if TYPE_CHECKING:
    from gluebench.cli.output import Output
    from gluebench.systems.rows.findings import Finding, Outcome
    from gluebench.systems.rows.numbers import Numbers
    from gluebench.systems.rows.row import TableName

_FIELDS = ("finding", "section", "claim", "reading", "whose", "table", "verdict", "detail")
_SHORT: Mapping[str, str] = {"table4": "test", "table5": "diagnostic", "table6": "dev"}
_NOTES = (
    "Sections 6 and 8 speak of test scores; the same claims are put to the dev scores too.",
    "Only which number is above which is tested, not whether the difference could be chance.",
)


@click.command
@click.option(
    "--results",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A results.json that table4, table5 or table6 wrote.",
)
@output_options
def findings(results: Path | None, form: Form) -> None:
    """Test each directional claim of the paper on the numbers it printed.

    With --results, on yours as well. What each claim is taken to mean stands in the JSON and CSV, and in
    docs/reproduce.md.

    \b
    Example:
      gluebench reproduce findings
      gluebench reproduce findings --results reproduced/glue/small/results.json
    """
    from gluebench.cli.output import emit
    from gluebench.systems.rows.findings import read_results

    own: Mapping[TableName, Numbers] = read_results(results) if results else {}
    emit(_output(own), form)


def _output(own: Mapping[TableName, Numbers]) -> Output:
    from gluebench.cli.formats import Records
    from gluebench.cli.output import Output
    from gluebench.cli.tables import Section, Table
    from gluebench.systems.rows.findings import FINDINGS

    answers = [answer for finding in FINDINGS for answer in _answers(finding, own)]
    rows = []
    for finding, whose, table, outcome in answers:
        first = (whose, table) == ("paper", finding.tables[0])
        title = (finding.section, finding.claim) if first else ("", "")
        rows.append((*title, f"{whose}, {_SHORT[table]}", outcome.verdict, outcome.detail))
    shown = Table(
        columns=("section", "claim", "numbers", "verdict", "because"),
        sections=(Section(tuple(rows)),),
        title="What the paper says of its results",
        notes=_NOTES,
    )
    records = [
        (each.name, each.section, each.claim, each.reading, whose, table, *outcome)
        for each, whose, table, outcome in answers
    ]
    data = [dict(zip(_FIELDS, record, strict=True)) for record in records]
    return Output(data, (shown,), Records(_FIELDS, tuple(records)))


def _answers(finding: Finding, own: Mapping[TableName, Numbers]) -> list[tuple[Finding, str, str, Outcome]]:
    """The paper's numbers, then the user's."""
    from gluebench.systems.rows.findings import judged, paper_outcome

    found = [(finding, "paper", str(table), paper_outcome(finding, table)) for table in finding.tables]
    yours = [(table, own[table]) for table in finding.tables if table in own]
    return found + [(finding, "yours", str(table), judged(finding, numbers)) for table, numbers in yours]
