"""Names that a benchmark hides until the day that its policy says: each system has a number instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.submissions.models import Kind, Submission

TEXTS = [name for name, field in FIELDS.items() if not field.is_numeric and field.kind != "choice"]
"""Fields in which a person or team may name itself."""
NOBODY = "Anonymous"
"""What pages call an entry without a name."""


def numbered(benchmark: Benchmark) -> dict[int, str]:
    """What pages call each system while names are hidden, by primary key; empty otherwise.

    Systems are numbered in the order in which they were first public, so that each keeps its number.
    """
    if benchmark.named_from is None:
        return {}
    rows = benchmark.submissions.order_by(F("published").asc(nulls_last=True), "pk")
    pairs = enumerate(rows.values_list("pk", "kind"), start=1)
    return {pk: f"{NOBODY} {number}" for number, (pk, kind) in pairs if kind == Kind.SYSTEM}


def masked(benchmark: Benchmark, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of columns, with the texts of those blank whose names are hidden; each row has its `pk`."""
    names = numbered(benchmark)
    return [{**row, **_texts(row.keys(), names[row["pk"]])} if row["pk"] in names else row for row in rows]


def mask(benchmark: Benchmark, *submissions: Submission | None) -> None:
    """The same for submissions that are only shown, and never saved."""
    names = numbered(benchmark)
    for row in submissions:
        if row is not None and row.pk in names:
            vars(row).update(_texts(vars(row).keys(), names[row.pk]))


def _texts(columns: Iterable[str], name: str) -> dict[str, str]:
    return {column: name if column == "name" else "" for column in columns if column in TEXTS}
