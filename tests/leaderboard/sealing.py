"""What tests do about seals: make them for rows written beside the acts, and leave their log entries out."""

from __future__ import annotations

from django.db.models import QuerySet

from gluebench.leaderboard.apps.audit.models import SEAL, Entry, record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.seals import PARTS, seals_of_parts
from gluebench.leaderboard.apps.ledger.models import follow
from gluebench.leaderboard.apps.submissions.models import Submission


def catch_up() -> None:
    """Put into log and ledger what benchmarks and boards show now."""
    for benchmark in Benchmark.objects.all():
        record("sealed", benchmark=benchmark, sealed=seals_of_parts(benchmark, *PARTS))
    follow(list(Submission.objects.order_by("submitted", "pk").values_list("pk", flat=True)))


def logged_acts() -> QuerySet[Entry]:
    """The log's entries of acts, newest first, without those that only seal what an act wrote."""
    return Entry.objects.exclude(action=SEAL)
