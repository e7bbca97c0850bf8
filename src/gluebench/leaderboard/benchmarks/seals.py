"""Keyed digests of what pages show of a benchmark: an act puts those of what it wrote into its log entry.

So an edit in the database shows: `integrity` compares the last digest of each part with the part as it is.
"""

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
ALL = "all"
"""Stands for the digest of a table of which all rows are sealed, each by itself."""


def sealed(benchmark: Any, *parts: str, row: int | None = None) -> dict[str, str]:
    """The digests of these parts as the database has them now, for `record(..., sealed=...)`.

    Each row of a table has its own, so that an act on one row does not cover an edit of another. `row` is the
    one that the act wrote, or deleted, which has an empty digest then; without it, all rows are sealed.
    """
    chosen, digests = Benchmark.objects.filter(pk=benchmark.pk), {}
    for part in parts:
        if part in COLUMNS:
            digests[part] = seal("benchmark", benchmark.name, part, list(chosen.values_list(part)))
            continue
        model: Any = Benchmark._meta.get_field(part).related_model
        rows = model.objects.filter(benchmark=benchmark.pk)
        if row is not None:
            digests[f"{part} {row}"] = ""
            rows = rows.filter(pk=row)
        else:
            digests[part] = ALL
        for pk, *values in rows.values_list("pk", *RELATED[part]):
            digests[f"{part} {pk}"] = seal("benchmark", benchmark.name, part, values)
    return digests
