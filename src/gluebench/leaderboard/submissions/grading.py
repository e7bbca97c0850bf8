"""Background grading: a lease on the row, a limited process for the work, a sweep for stuck submissions.

The queue's library forgets a task whose worker died, so the submission's row decides: `claim` takes it, signs
of life keep it, and only the attempt that holds it may write the result. All workers time these by one clock,
which outlives each of them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from math import ceil
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django_tasks import task

from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.policy import Policy
from gluebench.leaderboard.common.signals import submissions_changed
from gluebench.leaderboard.health import GRADINGS
from gluebench.leaderboard.submissions import feedback, models, process
from gluebench.leaderboard.submissions.models import OPEN, Result, Status, Submission, clock, renewed
from gluebench.leaderboard.submissions.process import GraderError, InterruptedGradingError, run_grader
from gluebench.version import __version__

logger = logging.getLogger(__name__)

stopping = threading.Event()
"""Set when the worker has to stop: the submission that it is grading goes back into the queue."""

QUEUE_LEASE_SECONDS = 300
"""How long a submission may wait before a sweep queues it again."""
SWEEP_SECONDS = 2
"""How often a worker sweeps."""


def bound_minutes() -> int:
    """The longest that grading takes, from when its turn comes until it is final, deaths of workers included.

    Each attempt may take its time, then its lease may run out, and a sweep finds it.
    """
    seconds = settings.GRADER_SECONDS + settings.LEASE_SECONDS + SWEEP_SECONDS
    return ceil(settings.GRADER_ATTEMPTS * seconds / 60)


def grade(pk: int) -> None:
    """Check and grade one submission, unless another worker has it, or it is done, or must wait its turn."""
    waiting = Submission.objects.select_related("benchmark").defer("report", "problems").filter(pk=pk).first()
    if waiting is None or (waiting.status == Status.QUEUED and _left_waiting(waiting)):
        return
    if not Submission.objects.claim(pk):
        return
    submission = Submission.objects.select_related("benchmark").get(pk=pk)
    held = Submission.objects.held(pk, submission.attempts)
    try:
        result = _work(submission, held)
    except InterruptedGradingError:
        _requeue(held, pk)
    except process.UnreadableFileError:  # the lease runs out, then a sweep retries: the storage may be back
        logger.exception("Submission %s was not graded.", submission.key)
    except process.KilledGraderError as death:
        if _tries(submission) >= settings.GRADER_ATTEMPTS:
            _finish(submission, held, _failed(death))
        else:
            _requeue(held, pk)
    except GraderError as failure:
        _finish(submission, held, _failed(failure))
    else:
        result = feedback.judged(submission, result)
        values = {
            **dict.fromkeys(("report", "scores", "value")),  # what is shown of it, the policy decides
            "verdict": result["check"]["verdict"],
            "problems": result["check"],
            "failure": "",
            "status": Status.INVALID if result.get("report") is None else Status.GRADED,
        }
        _finish(submission, held, values, graded=result)


@task()
def grade_submission(pk: int) -> None:
    """Grade one submission in the worker, and note how that ended and how long it took.

    Enqueue it in the transaction that sets the submission's status to queued.
    """
    start = time.perf_counter()
    grade(pk)
    for status in Submission.objects.filter(pk=pk).values_list("status", flat=True):
        GRADINGS.labels(status).observe(time.perf_counter() - start)


def sweep() -> int:
    """Queue stuck submissions again; fail those that several workers died over. Returns how many.

    A submission is stuck if neither its worker nor the queue renewed it for as long as its lease.
    """
    rows = Submission.objects.waiting()
    # A new row has no time yet; a time in the future is from before a restart or a change of the clock.
    rows.filter(Q(renewed=None) | Q(renewed__gt=clock())).update(renewed=clock())
    lapsed = rows.filter(renewed__lte=clock() - F("lease")).select_related("benchmark")
    lapsed = lapsed.defer("report", "problems", "scores")
    for row in lapsed:
        stuck = Submission.objects.filter(pk=row.pk, status=row.status, renewed=row.renewed)
        tries = _tries(row)
        if tries >= settings.GRADER_ATTEMPTS and row.status == Status.RUNNING:
            failure = GraderError(f"Grading was interrupted {tries} times. Ask the organizer.")
            _finish(row, stuck, _failed(failure))
        else:
            _requeue(stuck, row.pk)
    return len(lapsed)


def regrade(benchmark: Benchmark, reason: str, **_: Any) -> int:
    """Put every submission whose grading has begun back in the queue; returns how many.

    What they scored before stays in their history, and the reason is stored with the new result. One that
    waits is graded once only; one that is being graded leaves its worker. Receives `benchmark_changed`.
    """
    with transaction.atomic():
        Benchmark.objects.held(benchmark.pk)
        Benchmark.objects.filter(pk=benchmark.pk).touch()
        rows = benchmark.submissions.exclude(status=Status.QUEUED).exclude(file="")
        rows = rows.exclude(withdrawn__isnull=False, verdict="")  # withdrawn before its grading
        rows = rows.select_for_update(of=("self",)).order_by("submitted", "pk")
        pks = list(rows.values_list("pk", flat=True))
        benchmark.submissions.filter(pk__in=pks).update(
            status=Status.QUEUED, why=reason[:200], spent=F("attempts"), **renewed(QUEUE_LEASE_SECONDS)
        )
        for pk in pks:
            grade_submission.enqueue(pk)
    return len(pks)


def follow_policy(benchmark: Benchmark, before: Policy) -> None:
    """Bring results in line with a policy that was just saved; in the transaction that saved it."""
    after = benchmark.policy
    other_rows = (before.public_share, before.reveal) != (after.public_share, after.reveal)
    with transaction.atomic():
        if benchmark.revealed is not None and not _reveal_is_due(after):
            benchmark.revealed = None
            Benchmark.objects.filter(pk=benchmark.pk).update(revealed=None)
        if other_rows or (before.feedback == "ladder") != (after.feedback == "ladder"):
            regrade(benchmark, "The organizer changed what is shown of a score.")
            return
        if (before.feedback, before.smallest_category) != (after.feedback, after.smallest_category):
            graded = benchmark.submissions.filter(status=Status.GRADED).select_for_update()
            for submission in graded.defer("report", "problems", "scores").iterator(chunk_size=50):
                feedback.show(submission)
            submissions_changed.send(Submission, submissions=list(graded.values_list("pk", flat=True)))
        Benchmark.objects.filter(pk=benchmark.pk).touch()


def reveal_due() -> None:
    """Score the rows that were held back once their date has come; all workers check, one does it."""
    for row in Benchmark.objects.filter(revealed=None, settings__has_key="reveal"):
        with transaction.atomic():
            benchmark = Benchmark.objects.held(row.pk)  # the organizer may just have postponed it
            if benchmark.revealed is None and _reveal_is_due(benchmark.policy):
                Benchmark.objects.filter(pk=benchmark.pk).update(revealed=timezone.now())
                record("reveal", benchmark=benchmark)
                regrade(benchmark, "The rows that were held back count now.")


def _reveal_is_due(policy: Policy) -> bool:
    return policy.reveal is not None and timezone.now().date() >= policy.reveal


def _left_waiting(submission: Submission) -> bool:
    """Whether it must wait, on the Ladder, for an earlier submission of the same person or team.

    The earlier one enqueues it when it is done. If it never is, a sweep checks again soon.
    """
    if not (feedback.climbs(submission) and feedback.earlier(submission).filter(status__in=OPEN).exists()):
        return False
    Submission.objects.filter(pk=submission.pk, status=Status.QUEUED).update(**renewed())
    return True


def _tries(submission: Submission) -> int:
    return submission.attempts - submission.spent


def _work(submission: Submission, held: models.SubmissionQuerySet) -> Mapping[str, Any]:
    bests = feedback.files_of(feedback.bests_before(submission)) if feedback.climbs(submission) else None
    with ExitStack() as files:

        def place(row: Submission) -> str:
            """The path of a file; copying one from a bucket may take a while."""
            if not held.update(**renewed()):
                raise InterruptedGradingError
            return str(files.enter_context(process.local_path(row)))

        job = {**job_of(submission.benchmark), "submission": place(submission)}
        if bests is not None:
            job["bests"] = {task: place(earlier) for task, earlier in bests.items()}
        return run_grader(job, alive=lambda: bool(held.update(**renewed())), stop=stopping)


def job_of(benchmark: Benchmark) -> dict[str, Any]:
    """What the grader opens: the manifest, the labels, and which rows count."""
    paths = {"manifest": str(benchmark.manifest_path), "gold": str(benchmark.gold_path)}
    return {**paths, **feedback.graded_rows(benchmark)}


def _failed(error: GraderError) -> dict[str, Any]:
    """The row's new values; a message longer than its column would be refused by some databases."""
    longest = Submission._meta.get_field("failure").max_length
    return {"status": Status.FAILED, "failure": str(error)[:longest]}


def _finish(
    submission: Submission,
    held: models.SubmissionQuerySet,
    values: Mapping[str, Any],
    *,
    graded: Mapping[str, Any] | None = None,
) -> None:
    """Write the outcome if this attempt still holds the row, and mark the board as changed.

    If the benchmark changed meanwhile, grade it again instead: `regrade` skips waiting submissions, and a
    worker may have started on this one just before the change.
    """
    with transaction.atomic():
        benchmark = Benchmark.objects.held(submission.benchmark_id)
        if _basis(benchmark) != _basis(submission.benchmark):
            _requeue(held, submission.pk, spent=F("attempts"))
            return
        if not held.update(finished=timezone.now(), **values):
            return
        if graded is not None:
            kept: dict[str, Any] = {"best": feedback.bests_before(submission) if "new" in graded else {}}
            if graded.get("report"):
                kept |= {name: graded.get(name) for name in ("report", "diagnosis", "shown")}
                kept["best"] |= dict.fromkeys(graded.get("new", ()), submission.key)
            Result.objects.create(
                submission=submission,
                why=submission.why,
                labels=submission.benchmark.gold_digest,
                package=__version__,
                verdict=graded["check"]["verdict"],
                **kept,
            )
        now = Submission.objects.select_related("benchmark").get(pk=submission.pk)
        feedback.show(now)  # by the row as it is now: its author may have published it meanwhile
        if now.public:
            Benchmark.objects.filter(pk=submission.benchmark_id).touch()
        submissions_changed.send(Submission, submissions=[submission.pk])
        following = feedback.next_in_turn(submission)
        if following is not None:
            grade_submission.enqueue(following)


def _basis(benchmark: Benchmark) -> tuple[Any, ...]:
    """The inputs of a result, apart from the submitted file."""
    return (benchmark.gold, benchmark.manifest, benchmark.parents, benchmark.settings, benchmark.revealed)


def _requeue(waiting: models.SubmissionQuerySet, pk: int, **values: Any) -> None:
    with transaction.atomic():
        if waiting.update(status=Status.QUEUED, **renewed(QUEUE_LEASE_SECONDS), **values):
            grade_submission.enqueue(pk)
