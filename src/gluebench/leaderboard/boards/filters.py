"""Which systems a visitor wants to see on a board."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from gluebench.leaderboard.boards.standings import Standing
from gluebench.leaderboard.fields import REGIMES

NUMBER = r"\d{1,15}(\.\d{1,3})?[KkMmBbTt]?"
"""How a number of parameters may be written: 110000000, 110M, 1.5B."""
FACTORS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
LETTERS = 80


class Filters(NamedTuple):
    """Conditions that a row has to meet, as the address has them; an empty one is always met."""

    training: str = ""
    since: str = ""
    """The first day, as 2026-01-31."""
    parameters: str = ""
    """At most so many; a system that does not state its parameters does not meet it."""
    team: str = ""
    """A part of the team's name, whatever the case."""
    verified: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filters:
        """From the address; what cannot be read is as unasked."""
        training, parameters = query.get("training", ""), query.get("parameters", "").strip()
        return cls(
            training if training in REGIMES else "",
            _day(query.get("since", "")),
            parameters.upper() if re.fullmatch(NUMBER, parameters, re.ASCII) else "",
            " ".join(query.get("team", "")[:LETTERS].split()),
            "1" if query.get("verified") == "1" else "",
        )

    def accepts(self, row: Standing) -> bool:
        """Whether a system meets all of them."""
        most = number_of(self.parameters)
        return (
            self.training in ("", row.regime)
            and (not self.since or row.submitted.date().isoformat() >= self.since)
            and (most is None or (row.parameters is not None and row.parameters <= most))
            and self.team.casefold() in row.team.casefold()
            and (row.verified or not self.verified)
        )


def number_of(text: str) -> float | None:
    """The number that "110M" stands for; None for nothing."""
    if not text:
        return None
    factor = FACTORS.get(text[-1], 1)
    return float(text.rstrip("KMBT")) * factor


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""
