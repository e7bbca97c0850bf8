"""What each act does at each moment of a phase, and what it changes of what counts: `table.toml`, read."""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple


class Moment(StrEnum):
    """The stages of a phase for one person, in their order."""

    BEFORE = "before"
    OPEN = "open"
    EXTENDED = "extended"
    """Closed to others, open to this person."""
    GRACE = "grace"
    """Closed; uploads that began in time may end."""
    AFTER = "after"
    """Nothing more can come of this person; others, or the queue, are not done."""
    REVEALED = "revealed"
    """What counts is settled."""
    ARCHIVED = "archived"
    """It is settled, and the final results are announced."""


class Cell(NamedTuple):
    """What an act does at a moment."""

    outcome: str
    """ "changes", "keeps" (it is done, what counts stays) or "refused"."""
    reason: str
    """A sentence; `require` fills in the names in braces."""


class Act(NamedTuple):
    """A line of the table."""

    title: str
    by: str
    """ "author", "organizer" or "site"."""
    cells: dict[Moment, Cell]


class ActError(ValueError):
    """An act that is refused at this moment; the message may be shown."""


_NOTHING = Cell("keeps", "Nothing was sent yet.")


def _read(facts: dict[str, Any]) -> Act:
    title, by = facts.pop("title"), facts.pop("by")
    cells = {Moment.BEFORE: _NOTHING}
    for moments, (outcome, reason) in facts.items():
        for moment in moments.split():
            cells[Moment(moment)] = Cell(outcome, reason)
    return Act(title, by, {moment: cells[moment] for moment in Moment})


TABLE: dict[str, Act] = {
    name: _read(facts)
    for name, facts in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
"""The acts, each with its cell for every moment."""
