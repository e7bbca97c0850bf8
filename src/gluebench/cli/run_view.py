"""How a run goes, line by line on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gluebench.cli.progress import clock

if TYPE_CHECKING:
    from gluebench.systems.adapters.results import TaskResult
    from gluebench.systems.adapters.session import Place, Session


class Terminal:
    """Says when a task is begun and done, and how long the rest may take."""

    def __init__(self, session: Session) -> None:
        """What was done before is told at once."""
        self._session = session
        self._at: str | None = None
        units = session.plan.units()
        todo = {unit.task.name for unit in session.missing()}
        done = [unit.task.name for unit in units if unit.task.name not in todo]
        if done:
            rest = "going on with the rest" if todo else "nothing is left to do"
            _echo(f"{', '.join(done)}: already done, in {session.folder}; {rest}.")
        if outdated := session.outdated():
            _echo(
                f"note: the model's Python file has changed since {', '.join(outdated)} "
                f"{'was' if len(outdated) == 1 else 'were'} done; --again does everything anew."
            )

    def say(self, line: str) -> None:
        """Steps within a task are told by their own counters."""

    def began(self, place: Place) -> None:
        """A line with the task's name."""
        self._at = place.unit.task.name
        _echo(f"[{place.number}/{place.of}] {self._at}")

    def ended(self, place: Place, result: TaskResult) -> None:
        """A line with its time, what the system has to tell of it, and the time left."""
        words = [f"done in {clock(result.seconds)}", *_notes(result.notes)]
        if place.left and place.number < place.of:
            words.append(f"about {clock(place.left)} left")
        _echo(f"[{place.number}/{place.of}] {place.unit.task.name}: {', '.join(words)}")
        self._at = None

    @contextmanager
    def told_if_stopped(self) -> Iterator[None]:
        """Says, whatever ends the run too soon, that what is done is kept."""
        try:
            yield
        except BaseException:
            kept = len(self._session.results())
            where = f" at {self._at}" if self._at else ""
            _echo(
                f"\nStopped{where}. {kept} task{'s' * (kept != 1)} done, kept in {self._session.folder}: "
                "the same command goes on from there."
            )
            raise


def not_understood_lines(session: Session) -> list[str]:
    """How many answers of each task were not understood, and what became of them."""
    from gluebench.systems.adapters.dev_scores import not_understood

    found = not_understood(session)
    if not found:
        return []
    counts = ", ".join(f"{name} {count:,}" for name, count in found.items())
    return [
        f"Answers that were not understood: {counts}. They count as wrong in the dev scores; in the "
        "submission stands the most frequent training label (or the mean score)."
    ]


def _notes(notes: Any) -> Iterator[str]:
    """What a chat model's answers came to."""
    if "asked" not in notes:
        return
    yield f"{notes['asked']:,} asked"
    if notes["from_cache"]:
        yield f"{notes['from_cache']:,} from the cache"
    yield f"{notes['tokens_in']:,} + {notes['tokens_out']:,} tokens"
    if "cost" in notes:
        yield f"cost {notes['cost']:.4g}"
    if notes["not_understood"]:
        yield f"{notes['not_understood']:,} not understood"


def _echo(line: str) -> None:
    click.echo(line, err=True)
