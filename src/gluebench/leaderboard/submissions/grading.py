"""Grading in the background: a lease on the row, a limited process for the work, a sweep for what got stuck.

The queue's library forgets a task whose worker died, so the submission's row is the truth: `claim` takes
it, a sign of life every few seconds keeps it, and only the attempt that holds it may write the result.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.models import Status, Submission, SubmissionQuerySet, lease_end
from gluebench.leaderboard.submissions.process import GraderError, InterruptedGradingError, run_grader
from gluebench.leaderboard.submissions.tasks import hand_out

stopping = threading.Event()
"""Set when the worker was asked to stop: what it is grading goes back into the queue."""

QUEUE_LEASE_SECONDS = 300
"""How long a waiting submission is left alone before it is handed out once more."""


def grade(pk: int) -> None:
    """Check and grade one submission, unless another worker has it or it is done."""
    if not Submission.objects.claim(pk):
        return
    submission = Submission.objects.select_related("benchmark").get(pk=pk)
    held = Submission.objects.held(pk, submission.attempts)
    try:
        result = _work(submission, held)
    except InterruptedGradingError:
        _requeue(held, pk)
    except GraderError as failure:
        _finish(submission, held, {"status": Status.FAILED, "failure": str(failure)})
    else:
        _finish(submission, held, _outcome(result))


def sweep() -> int:
    """Hand out what got stuck; after several workers died over it, call it failed. Returns how many."""
    lapsed = list(Submission.objects.lapsed().select_related("benchmark"))
    for submission in lapsed:
        worn_out = submission.attempts >= settings.GRADER_ATTEMPTS
        if worn_out and submission.status == Status.RUNNING:
            failure = f"Grading was interrupted {submission.attempts} times. Ask the organiser."
            held = Submission.objects.held(submission.pk, submission.attempts).lapsed()
            _finish(submission, held, {"status": Status.FAILED, "failure": failure})
        else:
            _requeue(Submission.objects.filter(pk=submission.pk).lapsed(), submission.pk)
    return len(lapsed)


def regrade(benchmark: Benchmark) -> int:
    """Put every finished submission of a benchmark back in the queue, as after a change of its labels."""
    with transaction.atomic():
        pks = list(benchmark.submissions.exclude(status__in=[Status.QUEUED]).values_list("pk", flat=True))
        benchmark.submissions.filter(pk__in=pks).update(
            status=Status.QUEUED, attempts=0, lease=lease_end(QUEUE_LEASE_SECONDS)
        )
        for pk in pks:
            hand_out(pk)
    return len(pks)


def _work(submission: Submission, held: SubmissionQuerySet) -> Mapping[str, Any]:
    job = {
        "manifest": str(submission.benchmark.manifest_path),
        "gold": str(submission.benchmark.gold_path),
        "submission": submission.file.path,
    }
    return run_grader(job, alive=lambda: bool(held.update(lease=lease_end())), stop=stopping)


def _outcome(result: Mapping[str, Any]) -> dict[str, Any]:
    """The row's new values from what the grader's process said."""
    check, report = result["check"], result.get("report")
    values = {"verdict": check["verdict"], "problems": check, "report": report, "failure": ""}
    if report is None:
        return {**values, "status": Status.INVALID, "scores": None}
    shown = ("complete", "missing", "score", "tasks")
    return {**values, "status": Status.GRADED, "scores": {name: report[name] for name in shown}}


def _finish(submission: Submission, held: SubmissionQuerySet, values: Mapping[str, Any]) -> None:
    """Write the result if this attempt still holds the row, and let the board know."""
    with transaction.atomic():
        if held.update(finished=timezone.now(), **values) and submission.public:
            Benchmark.objects.filter(pk=submission.benchmark_id).touch()


def _requeue(waiting: SubmissionQuerySet, pk: int) -> None:
    with transaction.atomic():
        if waiting.update(status=Status.QUEUED, lease=lease_end(QUEUE_LEASE_SECONDS)):
            hand_out(pk)
