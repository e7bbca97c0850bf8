"""Which version of a benchmark's pages is current, in one small query: most requests need no more."""

from __future__ import annotations

from typing import NamedTuple

from django.db import connection
from django.http import Http404

from gluebench.leaderboard.benchmarks.models import Benchmark

# Written out, because the query's building would take longer than the query.
_ONE = "SELECT version FROM benchmarks_benchmark WHERE name = %s"
_ONLY = "SELECT name, version FROM benchmarks_benchmark LIMIT 2"
_ALL = "SELECT COUNT(*), COALESCE(SUM(version), 0), COALESCE(MAX(id), 0) FROM benchmarks_benchmark"


class Live(NamedTuple):
    """A benchmark as far as the address and the cache go."""

    name: str
    version: int

    def benchmark(self) -> Benchmark:
        """The whole row. Raises Http404 where it has gone since."""
        found = Benchmark.objects.filter(name=self.name).first()
        if found is None:
            raise Http404("There is no such benchmark.")
        return found


def live(name: str) -> Live:
    """The benchmark of that name. Raises Http404."""
    version = version_of(name)
    if version is None:
        raise Http404("There is no such benchmark.")
    return Live(name, version)


def version_of(name: str) -> int | None:
    """The version of a benchmark's pages, or None where there is no such benchmark."""
    with connection.cursor() as cursor:
        cursor.execute(_ONE, [name])
        row = cursor.fetchone()
    return row[0] if row else None


def only_one() -> Live | None:
    """The benchmark of a site that has exactly one."""
    with connection.cursor() as cursor:
        cursor.execute(_ONLY)
        rows = cursor.fetchall()
    return Live(*rows[0]) if len(rows) == 1 else None


def site_version() -> str:
    """Changes whenever any benchmark shows something new."""
    with connection.cursor() as cursor:
        cursor.execute(_ALL)
        return " ".join(map(str, cursor.fetchone()))
