"""What each act does at each moment of a phase, and what it changes of what counts: `table.toml`, read."""

from enum import StrEnum
from typing import Any, NamedTuple

from gluebench.leaderboard.apps.common.problems import ProblemError
from gluebench.leaderboard.apps.common.tables import toml_beside


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


class ActEffect(NamedTuple):
    """What an act does at a moment."""

    outcome: str
    """ "changes", "keeps" (it is done, what counts stays) or "refused"."""
    reason: str
    """A sentence; `require` fills in the names in braces."""


class PhaseAct(NamedTuple):
    """A line of the table."""

    title: str
    by: str
    """ "author", "organizer" or "site"."""
    cells: dict[Moment, ActEffect]


class ActError(ProblemError):
    """An act that is refused as things are now; its `detail` says why."""

    def __init__(self, reason: str, kind: str = "moment") -> None:
        super().__init__(409, kind, reason)


_NOTHING = ActEffect("keeps", "Nothing was sent yet.")


def _read(facts: dict[str, Any]) -> PhaseAct:
    title = facts.pop("title")
    by = facts.pop("by")
    cells = {Moment.BEFORE: _NOTHING}
    for moments, (outcome, reason) in facts.items():
        for moment in moments.split():
            cells[Moment(moment)] = ActEffect(outcome, reason)
    return PhaseAct(title, by, {moment: cells[moment] for moment in Moment})


TABLE = {name: _read(facts) for name, facts in toml_beside(__file__).items()}
"""The acts, each with its cell for every moment."""
