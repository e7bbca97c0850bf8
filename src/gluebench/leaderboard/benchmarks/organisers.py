"""Who organizes a benchmark."""

from __future__ import annotations

from django.db import transaction

from gluebench.leaderboard.accounts.people import account, require_vouched
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark


def set_organiser(email: str, benchmark: str, *, remove: bool = False, unconfirmed: bool = False) -> None:
    """Let this account organise a benchmark, or no longer.

    Raises SiteError for an unknown account or benchmark, and for an address that is not confirmed.
    """
    user = account(email)
    if not (remove or unconfirmed):
        require_vouched(user)
    row = Benchmark.objects.named(benchmark)
    with transaction.atomic():
        if remove:
            row.organisers.remove(user)
        else:
            row.organisers.add(user)
        action = "organiser removed" if remove else "organiser added"
        record(action, benchmark=row, account=user.pk, by="command line")
