"""How far a count of things is, on standard error: one moving line on a terminal, few lines elsewhere."""

from __future__ import annotations

import sys
import time

import click

SILENT_FOR = 30.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Called with the number done, 0 first, and the number of all; says rate and time left."""

    def __init__(self, what: str, unit: str) -> None:
        self._what = what
        self._unit = unit
        self._terminal = sys.stderr.isatty()
        self._start = self._said = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        """Say where it is, unless that was said just now."""
        now = time.monotonic()
        if not done:
            self._start = self._said = now
        elif done == of or now - self._said >= (0.1 if self._terminal else SILENT_FOR):
            self._said = now
            self._print(self.line(done, of, now - self._start), ends=done == of)

    def line(self, done: int, of: int, seconds: float) -> str:
        """What there is to say after so many seconds."""
        if done == of:
            return f"{self._what} {of:,} {self._unit}: {clock(seconds)}"
        rate = done / max(seconds, 1e-9)
        left = clock((of - done) / max(rate, 1e-9))
        return f"{self._what} {done:,} of {of:,} {self._unit}, {rate:,.0f} a second, {left} left"

    def _print(self, line: str, *, ends: bool) -> None:
        if self._terminal:
            click.echo(f"\r\x1b[K{line}", err=True, nl=ends)
        else:
            click.echo(line, err=True)


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, with hours where there are any: 0:07, 12:30, 3:04:05."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
