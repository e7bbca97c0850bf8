"""Which version of a benchmark's pages is current, in one small query: most requests need no more."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db import connection
from django.http import Http404
from django.shortcuts import get_object_or_404

from gluebench.leaderboard.benchmarks.models import Benchmark

# Written out: to build the query takes three times as long as to ask it.
_ONE = "SELECT name, version FROM benchmarks_benchmark WHERE name = %s"
_ONLY = "SELECT name, version FROM benchmarks_benchmark LIMIT 2"
_ALL = "SELECT COUNT(*), COALESCE(SUM(version), 0), COALESCE(MAX(id), 0) FROM benchmarks_benchmark"


class Live(NamedTuple):
    """A benchmark as far as the address and the cache go."""

    name: str
    version: int

    def benchmark(self) -> Benchmark:
        """The whole row. Raises Http404 where it has gone since."""
        return get_object_or_404(Benchmark, name=self.name)


def live(name: str) -> Live:
    """The benchmark of that name. Raises Http404."""
    rows = _rows(_ONE, name)
    if not rows:
        raise Http404("There is no such benchmark.")
    return Live(*rows[0])


def only_one() -> Live | None:
    """The benchmark of a site that has exactly one."""
    rows = _rows(_ONLY)
    return Live(*rows[0]) if len(rows) == 1 else None


def site_version() -> str:
    """Changes whenever any benchmark shows something new."""
    return " ".join(map(str, _rows(_ALL)[0]))


def _rows(query: str, *values: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[Any] = cursor.fetchall()
        return rows
