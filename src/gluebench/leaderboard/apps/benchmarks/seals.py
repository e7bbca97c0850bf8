"""Keyed digests of a benchmark: an act puts those of what it wrote into its log entry.

So an edit in the database shows: `integrity` compares the last digest of each part with the part as it is.
"""

from typing import Any

from django.apps import apps

from gluebench.leaderboard.apps.audit.models import seal
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.scoring.gold import KEY_FILE

COLUMNS = (
    "title",
    "manifest",
    "parents",
    "settings",
    "open",
    "draft",
    "restricted",
    "texts",
    "looks",
    "revealed",
)
RELATED = {
    "data_files": ("path", "task", "split", "rows", "file", "size", "sha256"),
    "phases": (
        ("name", "opens", "closes", "last", "zone", "settings", "rows", "share", "shown", "shown_from")
        + ("counting", "most", "otherwise", "late")
    ),
    "phase_files": ("phase_id", "path", "release", "moment", "file", "size", "sha256"),
    "announcements": ("title", "text", "at", "changed"),
    "results": ("announced", "labels", "made", "file", "size", "sha256", "places"),
    "overrides": ("user_id", "team_id", "per_day", "per_month", "total", "at_once", "until"),
    "extensions": ("phase_id", "user_id", "team_id", "before", "closes"),
    "organizers": ("user_id",),
    "reviewers": ("user_id",),
}
"""Tables of which each benchmark has rows, and the columns that pages show or that decide what counts."""
ADDED = {"phases": ("tasks", "tasks_of_id")}
"""Columns that came later, in a digest only where they are not empty: that of an older row is as it was."""
LABEL_KEY = "label-key"
"""The file that selects the rows that are held back."""
PARTS = COLUMNS + tuple(RELATED) + (LABEL_KEY,)
ALL = "all"
"""Stands for the digest of a table of which all rows are sealed, each by itself."""


def seals_of_parts(benchmark: Any, *parts: str, row: int | None = None) -> dict[str, str]:
    """The digests of these parts as the database has them now, for `record(..., sealed=...)`.

    Each row of a table has its own, so that an act on one row does not cover an edit of another. `row` is the
    one that the act wrote, or deleted, which has an empty digest then; without it, all rows are sealed.
    """
    chosen = Benchmark.objects.filter(pk=benchmark.pk)
    digests = {}
    for part in parts:
        if part in COLUMNS:
            digests[part] = seal("benchmark", benchmark.name, part, list(chosen.values_list(part)))
            continue
        if part == LABEL_KEY:
            digests[part] = seal("benchmark", benchmark.name, part, _label_key(benchmark))
            continue
        rows, name = _table_rows(benchmark, part)
        if row is not None:
            digests[f"{part} {row}"] = ""
            rows = rows.filter(**{name: row})
        else:
            digests[part] = ALL
        number = len(RELATED[part])
        for key, *columns in rows.values_list(name, *RELATED[part], *ADDED.get(part, ())):
            values = columns[:number] + [value for value in columns[number:] if value]
            digests[f"{part} {key}"] = seal("benchmark", benchmark.name, part, values)
    return digests


def _label_key(benchmark: Any) -> str:
    """The key of the labels in hexadecimal digits; empty without one."""
    if not benchmark.gold:
        return ""
    path = benchmark.gold_path / KEY_FILE
    return path.read_bytes().hex() if path.exists() else ""


def _table_rows(benchmark: Any, part: str) -> tuple[Any, str]:
    """The rows of a table that belong to a benchmark, and the column that names one of them."""
    if part == "extensions":
        return apps.get_model("phases", "Extension").objects.filter(phase__benchmark=benchmark.pk), "pk"
    field: Any = Benchmark._meta.get_field(part)
    if field.many_to_many:
        return field.remote_field.through.objects.filter(benchmark=benchmark.pk), "user_id"
    return field.related_model.objects.filter(benchmark=benchmark.pk), "pk"
