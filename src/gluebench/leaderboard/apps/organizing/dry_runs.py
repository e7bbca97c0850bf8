"""The dry run: three made submissions, checked and graded as those of others are, and shown to organizers.

They are never stored: the grader makes them of the labels and deletes them. So a dry run is no submission, is
on no board, and costs no quota.
"""

import hashlib
import tempfile
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_tasks import task

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.organizing.models import DryRun
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.grading import job_of, stopping
from gluebench.leaderboard.apps.submissions.process import GraderError, run_grader
from gluebench.leaderboard.apps.submissions.report import check_summary

NO_LABELS = hashlib.sha256().hexdigest()
"""The digest of labels of a copy that was made without them."""
EXPECTED = {
    "perfect": ("Perfect", "The labels themselves: valid, with 100 everywhere, or the smallest loss"),
    "majority": ("Majority", "The most frequent label in every row: valid, and far below the labels"),
    "broken": ("Broken", "An unknown label and a missing row: not valid, each problem with its place"),
}


def start_dry_run(benchmark: Benchmark, actor: User) -> str:
    """Queue a dry run in place of the last one. Raises ActError for a benchmark without labels here."""
    if not benchmark.gold:
        raise ActError("Its labels are on a machine of yours, so the site has none for a dry run.", "labels")
    if benchmark.gold_digest == NO_LABELS:
        raise ActError("It has no labels to make submissions of. Add them under Files first.", "labels")
    with transaction.atomic():
        DryRun.objects.filter(benchmark=benchmark).delete()
        run = DryRun.objects.create(benchmark=benchmark, by=actor, gold=benchmark.gold)
        grade_dry_run.enqueue(run.pk)
        record("dry run", actor=actor, benchmark=benchmark)
    return "The dry run is in the queue."


def delete_dry_run(benchmark: Benchmark, actor: User) -> str:
    """Delete the last one."""
    with transaction.atomic():
        DryRun.objects.filter(benchmark=benchmark).delete()
        record("dry run deleted", actor=actor, benchmark=benchmark)
    return "The dry run is deleted."


@task()
def grade_dry_run(pk: int) -> None:
    """Make and grade the submissions of a dry run, unless it was deleted."""
    run = DryRun.objects.select_related("benchmark").filter(pk=pk, results__isnull=True, failure="").first()
    if run is None:
        return
    rows = DryRun.objects.filter(pk=pk)
    with tempfile.TemporaryDirectory(prefix="dry-run-", dir=settings.FOLDER.uploads) as folder:
        try:
            job = {**job_of(run.benchmark, None), "rehearse": folder}
            results = run_grader(job, alive=rows.exists, stop=stopping)["rehearsed"]
        except GraderError as error:
            rows.update(failure=str(error)[:200], at=timezone.now())
        else:
            rows.update(results=results, at=timezone.now())


def last_dry_run(benchmark: Benchmark) -> dict[str, Any] | None:
    """The last dry run for the page; None if there is none."""
    run = DryRun.objects.filter(benchmark=benchmark).first()
    if run is None:
        return None
    results = run.results or {}
    rows = []
    for name, (title, must) in EXPECTED.items():
        if name in results:
            check = check_summary(results[name]["check"])
            rows.append({"title": title, "must": must, **results[name], "check": check})
    return {
        "run": run,
        "rows": rows,
        "outdated": run.gold != benchmark.gold,
        "tasks": benchmark.record.scored,
    }
