"""Announce final results, take them back, and make their archive once everything is graded and ranked."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.adding import keep_public
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.limits.acts import change_policy
from gluebench.leaderboard.apps.phases.models import Extension, PhaseVisibility
from gluebench.leaderboard.apps.phases.moments import require_own_labels
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.phases.times import MINUTE
from gluebench.leaderboard.apps.ranks.places import latest_ranking
from gluebench.leaderboard.apps.results.models import Results
from gluebench.leaderboard.apps.results.pack import pack
from gluebench.leaderboard.apps.submissions.grading import follow_clock


def announce(benchmark: Benchmark, actor: User, *, labels: bool, reason: str = "") -> str:
    """End the benchmark: no more submissions, phases closed and shown, held-back rows scored.

    The archive is made by a worker when everything is graded and ranked on them. Raises ActError where the
    results are announced already, and for labels of others.
    """
    with transaction.atomic():
        if Results.objects.filter(benchmark=benchmark).exists():
            raise ActError("The results are announced already.", "results")
        if labels:
            require_own_labels(benchmark, actor)
        due = {}
        if benchmark.policy.public_share is not None:
            due["reveal"] = timezone.now().date()
        change_policy(benchmark, due, actor=actor, open=False, reason=reason or "Results day.")
        _close_phases(benchmark)
        Results.objects.create(benchmark=benchmark, labels=labels)
        seals = seals_of_parts(benchmark, "phases", "results")
        record("results", actor=actor, benchmark=benchmark, reason=reason, labels=labels, sealed=seals)
        Benchmark.objects.filter(pk=benchmark.pk).touch()
    return "The benchmark is closed. Its results are being made."


def extensions_ended(benchmark: Benchmark) -> str:
    """Of whom, and until when, the extensions are that `announce` would end now; empty if there are none."""
    now = timezone.now()
    running = Extension.objects.filter(
        phase__benchmark=benchmark, phase__opens__lte=now, closes__gt=now - MINUTE
    )
    texts = []
    for extension in running.exclude(user=None, team=None).select_related("phase", "team"):
        whose = extension.team or f"Account {extension.user_id}"
        texts.append(f"{whose} (until {extension.phase.text_of(extension.closes)})")
    return ", ".join(texts)


def _close_phases(benchmark: Benchmark) -> None:
    """Close the phases that are open, extensions too, and show the board of those that have begun."""
    now = timezone.now()
    for phase in benchmark.phases.filter(opens__lte=now):
        if phase.over is None or phase.over > now:
            phase.closes = max(phase.opens, now - MINUTE)
            phase.last = None
            phase.extensions.all().delete()
        if not phase.is_shown:
            phase.shown = PhaseVisibility.ALWAYS
        phase.save()
    follow_clock(benchmark)


def take_back(benchmark: Benchmark, actor: User, reason: str) -> str:
    """Remove the final results. Submissions stay closed until the organizer opens them again.

    Raises ActError where there are none.
    """
    with transaction.atomic():
        Benchmark.objects.lock(benchmark.pk)
        if not Results.objects.filter(benchmark=benchmark).delete()[0]:
            raise ActError("There are no final results to take back.", "results")
        seals = seals_of_parts(benchmark, "results")
        record("results taken back", actor=actor, benchmark=benchmark, reason=reason, sealed=seals)
        Benchmark.objects.filter(pk=benchmark.pk).touch()
    return "The results are removed. Open the benchmark again under its limits."


def waiting_for(benchmark: Benchmark) -> str:
    """What the archive has to wait for; empty if nothing."""
    policy = benchmark.policy
    if policy.public_share is not None and benchmark.revealed is None:
        return "The rows that were held back are not scored yet."
    if number := benchmark.submissions.waiting().count():
        return f"{number:,} submissions are still to be graded."
    _, _, waiting = latest_ranking(benchmark)
    return "The ranks are being computed." if waiting else ""


def make_due(**_: Any) -> None:
    """Make the archives that nothing waits for any more; a worker calls this every few seconds."""
    for row in Results.objects.filter(made=None).select_related("benchmark"):
        if not waiting_for(row.benchmark):
            _make(row)


def _make(row: Results) -> None:
    made = pack(row.benchmark, row.announced, labels=row.labels)
    name = keep_public(row.benchmark.name, made.data)
    sha256 = name.rpartition("/")[2]
    with transaction.atomic():
        benchmark = Benchmark.objects.lock(row.benchmark_id)
        if benchmark.version != row.benchmark.version:
            return  # the board has changed meanwhile; the next look makes it
        values = {"file": name, "size": len(made.data), "sha256": sha256}
        values |= {"places": made.places, "leaders": made.leaders}
        rows = Results.objects.filter(pk=row.pk, made=None, announced=row.announced)
        if rows.update(made=timezone.now(), **values):
            seals = seals_of_parts(benchmark, "results")
            facts: dict[str, Any] = {"sha256": sha256, "places": made.places[:3], "sealed": seals}
            record("results made", benchmark=benchmark, **facts)
            Benchmark.objects.filter(pk=benchmark.pk).touch()
