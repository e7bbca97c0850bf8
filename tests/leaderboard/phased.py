"""A benchmark with phases, a clock that a test moves, and files of a known quality."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.test import Client
from leaderboard.material import GOLD, zip_bytes

if TYPE_CHECKING:
    from gluebench.leaderboard.apps.phases.models import Phase

BOARD = "/benchmarks/tiny"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Clock:
    """The server's clock, which a test moves."""

    now = at("2027-05-01 00:00")

    def move(self, text: str) -> None:
        self.now = at(text)


class Visitor(Client):
    """A client that is signed in anew for each request, since the clock leaves sessions behind."""

    def __init__(self, user: Any) -> None:
        super().__init__()
        self.user = user

    def request(self, **request: Any) -> Any:
        self.force_login(self.user)
        return super().request(**request)


Make = Callable[..., "Phase"]


def of_answers(para: str) -> bytes:
    """A zip with these answers to one task; the others are the same in all."""
    return zip_bytes({**GOLD, "Sim": ["1.5", "2.5", "0.5", "4", "3.5"], "Para": para})


def of_quality(right: int) -> bytes:
    """A zip with so many right answers of six for one task; the others are the same in all."""
    return of_answers(
        "".join(label if at < right else str(1 - int(label)) for at, label in enumerate(GOLD["Para"]))
    )


def names(client: Client, query: str = "") -> list[str]:
    return [row["name"] for row in client.get(f"{BOARD}.json{query}").json()["rows"]]
