"""Who organizes a benchmark."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.people import account, require_vouched
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.folder import SiteError


def set_organiser(email: str, benchmark: str, *, remove: bool = False, unconfirmed: bool = False) -> None:
    """Let this account organise a benchmark, or no longer.

    Raises SiteError for an unknown account or benchmark, and for an address that is not confirmed.
    """
    user = account(email)
    if not (remove or unconfirmed):
        require_vouched(user)
    row = Benchmark.objects.filter(name=benchmark).first()
    if row is None:
        known = ", ".join(Benchmark.objects.values_list("name", flat=True)) or "none yet"
        raise SiteError(f"There is no benchmark {benchmark!r} on this site. It has: {known}.")
    with transaction.atomic():
        if remove:
            row.organisers.remove(user)
        else:
            row.organisers.add(user)
        action = "organiser removed" if remove else "organiser added"
        record(action, benchmark=row, account=user.pk, by="command line")


def export_organised(*, user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: the benchmarks that it organizes."""
    return {"organises": list(user.organised.values_list("name", flat=True))}


def remove_from_all(*, user: User, **_: Any) -> None:
    """A deleted account organizes nothing."""
    user.organised.clear()
