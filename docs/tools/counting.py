"""The reference page of what counts, from its table: `python -m docs.tools.counting`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gluebench.leaderboard.apps.phases.table import TABLE, ActEffect, Moment

SIGNS = {"changes": "yes", "keeps": "done", "refused": "–"}
_INTRODUCTION = """# What counts, and when

Which acts change what counts in a [phase](../how-to/phases.md), at each of its moments. The site decides
by this table. This page is generated: `make docs` writes it again, and a test fails while it differs.

- **before**: the phase has not opened.
- **open**: it takes submissions.
- **extended**: it is closed to others, and open to this person, who has an extension.
- **grace**: the deadline has passed; uploads that began before it may end, for ten minutes.
- **after**: nothing more can come of this person. The results wait for the last extension, its ten minutes,
  and the queue.
- **revealed**: what counts is settled, and the board shows it.
- **archived**: it is settled, and the final results are announced.

Submissions may count if they are scored, public, approved and not late. The rule of the phase chooses
among these. A board ranks scores of the same labels, tasks and rows; others stand there without a rank
until they are graded again.

yes: it may change what counts. done: it is done, and what counts stays. –: it is refused.
"""


def page() -> str:
    """The page as Markdown."""
    return "\n".join([_INTRODUCTION, *_matrix(), "", *_reasons()])


def _matrix() -> Iterator[str]:
    yield f"| act | {' | '.join(Moment)} |"
    yield f"|---{'|---' * len(Moment)}|"
    for act in TABLE.values():
        signs = " | ".join(SIGNS[act.cells[moment].outcome] for moment in Moment)
        yield f"| {act.title} | {signs} |"


def _reasons() -> Iterator[str]:
    for act in TABLE.values():
        yield f"## {act.title}\n\nBy the {act.by}.\n"
        for cell, moments in groupby(Moment, key=lambda moment: act.cells[moment]):
            yield f"- {', '.join(moments)}: {_text(cell)}"
        yield ""


def _text(cell: ActEffect) -> str:
    reason = cell.reason.replace("The phase {phase}", "The phase")
    return reason.format(phase="the phase", opens="its start", deadline="the deadline")


if __name__ == "__main__":
    print(page().rstrip("\n"))
