"""What answers about diagnostic sets look like, beyond their tables."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Schema

from gluebench.leaderboard.api.schemas import Open


class Phenomenon(Open):
    """One phenomenon: what it is about, and each entry's score in it."""

    benchmark: str
    task: str
    phenomenon: str
    kind: Literal["coarse", "fine"]
    about: str | None
    rows: list[dict[str, Any]]


class PeopleFacts(Open):
    """What came of one study; `agreement` is as `gluebench annotate score --json` gives it."""

    key: str
    url: str
    task: str
    agreement: dict[str, Any] | None


class PeopleList(Schema):
    """Studies of how well people do."""

    items: list[PeopleFacts]
