"""Keyed digests of what pages show of a benchmark: an act puts those of what it wrote into its log entry.

So an edit in the database shows: `integrity` compares the last digest of each part with the part as it is.
"""

from __future__ import annotations

from typing import Any

from gluebench.leaderboard.audit.models import seal
from gluebench.leaderboard.benchmarks.models import Benchmark

COLUMNS = ("title", "manifest", "parents", "settings", "open", "draft", "texts", "looks")
RELATED = {
    "data_files": ("path", "task", "split", "rows", "file", "size", "sha256"),
    "phases": (
        *("name", "opens", "closes", "last", "zone", "settings", "rows", "share", "shown", "shown_from"),
        *("counting", "most", "otherwise", "late"),
    ),
    "announcements": ("title", "text", "at", "changed"),
    "results": ("announced", "labels", "made", "file", "size", "sha256", "places"),
}
"""Tables of which each benchmark has rows, and the columns that its pages show."""
PARTS = (*COLUMNS, *RELATED)


def sealed(benchmark: Any, *parts: str) -> dict[str, str]:
    """The digests of these parts as the database has them now, for `record(..., sealed=...)`.

    Lock the benchmark before writing a part, so that no other act writes it before this one is in the log.
    """
    rows = Benchmark.objects.filter(pk=benchmark.pk)
    values = {
        part: rows.order_by(f"{part}__pk").values_list(*(f"{part}__{name}" for name in RELATED[part]))
        if part in RELATED
        else rows.values_list(part)
        for part in parts
    }
    return {part: seal("benchmark", benchmark.name, part, list(rows)) for part, rows in values.items()}
