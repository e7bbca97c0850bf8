"""What a test does after it wrote rows beside the acts that seal them."""

from __future__ import annotations

from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.seals import PARTS, sealed
from gluebench.leaderboard.ledger.models import follow
from gluebench.leaderboard.submissions.models import Submission


def catch_up() -> None:
    """Put into log and ledger what benchmarks and boards show now."""
    for benchmark in Benchmark.objects.all():
        record("sealed", benchmark=benchmark, sealed=sealed(benchmark, *PARTS))
    follow(list(Submission.objects.order_by("submitted", "pk").values_list("pk", flat=True)))
