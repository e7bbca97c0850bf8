"""Names that a benchmark hides until the day that its policy says: each system has a number instead."""

from collections.abc import Iterable

from django.db.models import F

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.fields import FIELDS
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Kind

TEXTS = [name for name, field in FIELDS.items() if not field.is_numeric and field.kind != "choice"]
"""Fields in which people may name themselves."""
NOBODY = "Anonymous"
"""What pages call those without a name."""


def mask_names(benchmark: Benchmark, rows: Iterable[Values]) -> list[Values]:
    """Rows of columns, each with its `pk`, without the names that are hidden now.

    Systems are numbered in the order in which they were first public, so that each keeps its number.
    """
    if benchmark.names_hidden_until is None:
        return list(rows)
    order = benchmark.submissions.order_by(F("published").asc(nulls_last=True), "pk")
    names = {}
    for number, (pk, kind) in enumerate(order.values_list("pk", "kind"), start=1):
        if kind == Kind.SYSTEM:
            names[pk] = f"{NOBODY} {number}"
    shown = []
    for row in rows:
        if row["pk"] in names:
            row = _without_names(row, names[row["pk"]])
        shown.append(row)
    return shown


def mask(benchmark: Benchmark, *submissions: Submission) -> None:
    """The same for submissions that are only shown, and never saved."""
    columns = mask_names(benchmark, [{"pk": row.pk, **vars(row)} for row in submissions])
    for row, values in zip(submissions, columns, strict=True):
        for name in TEXTS:
            if name in values:
                setattr(row, name, values[name])


def _without_names(row: Values, name: str) -> Values:
    blank = dict.fromkeys([column for column in TEXTS if column in row], "")
    return row | blank | {"name": name}
