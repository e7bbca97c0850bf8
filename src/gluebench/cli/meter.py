"""Progress on standard error: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from gluebench.data.sources.meter import Silent

if TYPE_CHECKING:
    from tqdm import tqdm


class LineMeter(Silent):
    """For a pipe or a file: the lines alone, nothing per chunk."""

    def say(self, line: str) -> None:
        """Print the line."""
        click.echo(line, err=True)


class BarMeter(LineMeter):
    """For a terminal: a bar that goes when it is full."""

    def __init__(self) -> None:
        self._bar: tqdm[None] | None = None

    def say(self, line: str) -> None:
        """Print the line above the bar."""
        if self._bar is not None:
            self._bar.clear()
        click.echo(line, err=True)
        if self._bar is not None:
            self._bar.refresh()

    def start(self, name: str, total: int | None) -> None:
        """Draw the bar."""
        from tqdm import tqdm

        self._bar = tqdm(
            desc=name,
            total=total,
            unit="B",
            unit_scale=True,
            leave=False,
            file=sys.stderr,
            dynamic_ncols=True,
        )

    def expect(self, total: int) -> None:
        """Measure it by this."""
        if self._bar is not None:
            self._bar.total = total

    def advance(self, number: int) -> None:
        """Move it."""
        if self._bar is not None:
            self._bar.update(number)

    def stop(self) -> None:
        """Take it away."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None


def meter() -> LineMeter:
    """The one for where standard error goes."""
    return BarMeter() if sys.stderr.isatty() else LineMeter()
