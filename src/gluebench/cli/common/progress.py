"""Progress of a count of things on standard error."""

import sys
import time

import click

SILENT_FOR = 30.0
"""Seconds between two lines if standard error is not a terminal."""


class Progress:
    """Called with the number done, and the total; prints the rate since the first call, and the time left."""

    def __init__(self, what: str, unit: str) -> None:
        self._what = what
        self._unit = unit
        self._terminal = sys.stderr.isatty()
        self._start = time.monotonic()
        self._printed = self._start
        self._before: int | None = None

    def __call__(self, done: int, of: int) -> None:
        """Print the progress, unless the last line is too recent."""
        now = time.monotonic()
        interval = 0.1 if self._terminal else SILENT_FOR
        if not done or (self._before is None and done < of):
            self._start = now
            self._printed = now
            self._before = done  # an earlier run did these
        elif done == of or now - self._printed >= interval:
            self._printed = now
            self._print(self.line(done, of, now - self._start), ends=done == of)

    def line(self, done: int, of: int, seconds: float) -> str:
        """The line to print after so many seconds."""
        if done == of:
            return f"{self._what} {of:,} {self._unit}: {clock(seconds)}"
        rate = (done - (self._before or 0)) / max(seconds, 1e-9)
        left = clock((of - done) / max(rate, 1e-9))
        if rate >= 10:
            speed = f"{rate:,.0f} a second"
        elif rate >= 1:
            speed = f"{rate:,.1f} a second"
        else:
            speed = f"{60 * rate:.1f} a minute"
        return f"{self._what} {done:,} of {of:,} {self._unit}, {speed}, {left} left"

    def _print(self, line: str, *, ends: bool) -> None:
        if self._terminal:
            click.echo(f"\r\x1b[K{line}", err=True, nl=ends)
        else:
            click.echo(line, err=True)


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, with hours if any: 0:07, 12:30, 3:04:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}"
