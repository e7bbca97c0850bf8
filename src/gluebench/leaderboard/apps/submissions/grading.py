"""Background grading: a lease on the row, a limited process for the work, a sweep for stuck submissions.

The queue's library forgets a task whose worker died, so the submission's row decides: `claim` takes it, signs
of life keep it, and only the attempt that holds it may write the result. All workers time these by one clock,
which outlives each of them.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from math import ceil
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django_tasks import task

from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import Policy
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.signals import submissions_changed
from gluebench.leaderboard.apps.phases.models import GRADED_BY, Phase, at_phase, newest_shown, next_change
from gluebench.leaderboard.apps.phases.moments import require
from gluebench.leaderboard.apps.submissions import feedback, process
from gluebench.leaderboard.apps.submissions.counting import recount, waiting_in
from gluebench.leaderboard.apps.submissions.models import Result, Submission, SubmissionQuerySet
from gluebench.leaderboard.apps.submissions.process import GraderError, InterruptedGradingError, run_grader
from gluebench.leaderboard.apps.submissions.queries import OPEN, Status, clock, lease_renewal
from gluebench.leaderboard.serving.counters import GRADINGS
from gluebench.version import __version__

logger = logging.getLogger(__name__)

stopping = threading.Event()
"""Set when the worker has to stop: the submission that it is grading goes back into the queue."""

QUEUE_LEASE_SECONDS = 300
"""How long a submission may wait before a sweep queues it again."""
SWEEP_SECONDS = 2
"""How often a worker sweeps."""
SHOWN = ("feedback", "smallest_category", "anonymous")
"""Settings of a policy that change what is shown of results, and not how they are graded."""


def bound_minutes() -> int:
    """The longest that grading takes, from when its turn comes until it is final, deaths of workers included.

    Each attempt may take its time, then its lease may run out, and a sweep finds it.
    """
    seconds = settings.GRADER_SECONDS + settings.LEASE_SECONDS + SWEEP_SECONDS
    return ceil(settings.GRADER_ATTEMPTS * seconds / 60)


def claim_submission(pk: int, lease: int | None = None) -> Submission | None:
    """Claim a submission, unless another worker has it, or it is done, or must wait its turn: then None."""
    waiting = Submission.objects.select_related("benchmark").defer("report", "problems").filter(pk=pk).first()
    if waiting is None or (waiting.status == Status.QUEUED and _left_waiting(waiting)):
        return None
    if not Submission.objects.claim(pk, lease):
        return None
    return Submission.objects.select_related("benchmark", "phase", "reproduces").get(pk=pk)


def _here() -> SubmissionQuerySet:
    """What this site's workers grade: reproductions, and all else whose labels are here."""
    return Submission.objects.exclude(benchmark__gold="", reproduces=None)


def grade(pk: int) -> bool:
    """Check and grade one submission, and return whether this worker could claim it.

    Those whose labels are elsewhere wait for a machine of their organizer (`api.work`).
    """
    if not _here().filter(pk=pk).exists():
        return False
    submission = claim_submission(pk)
    if submission is None:
        return False
    store_outcome(submission, lambda held: _work(submission, held))
    return True


def store_outcome(submission: Submission, work: Callable[[SubmissionQuerySet], Facts]) -> None:
    """Store the grader's result of a submission that was taken, which `work` returns, or how it failed."""
    held = Submission.objects.with_lease(submission.pk, submission.attempts)
    try:
        result = work(held)
    except InterruptedGradingError:
        _requeue(held, submission.pk)
    except process.UnreadableFileError:  # the lease runs out, then a sweep retries: the storage may be back
        logger.exception("Submission %s was not graded.", submission.key)
    except process.KilledGraderError as death:
        if _tries(submission) >= settings.GRADER_ATTEMPTS:
            _finish(submission, held, _failure_values(death))
        else:
            _requeue(held, submission.pk)
    except GraderError as failure:
        _finish(submission, held, _failure_values(failure))
    else:
        result = feedback.apply_policy(submission, result)
        values = {
            **dict.fromkeys(("report", "scores", "value")),  # what is shown of it, the policy decides
            "verdict": result["check"]["verdict"],
            "problems": result["check"],
            "failure": "",
            "status": Status.INVALID if result.get("report") is None else Status.GRADED,
        }
        if "agreement" in result and result["check"]["verdict"] != "invalid":
            values["agreement"] = result["agreement"]
            values["status"] = Status.GRADED if result.get("report") else Status.KEPT
        _finish(submission, held, values, graded=result)


@task()
def grade_next(pk: int) -> None:
    """Grade the submission whose turn it is, and note how that ended and how long it took.

    Enqueue it for each submission, in the transaction that sets its status to queued; `pk` says for which.
    """
    start = time.perf_counter()
    for turn in _here().turns():
        if grade(turn):
            for status in Submission.objects.filter(pk=turn).values_list("status", flat=True):
                GRADINGS.observe(time.perf_counter() - start, status)
            return


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
            _finish(row, stuck, _failure_values(failure))
        else:
            _requeue(stuck, row.pk)
    return len(lapsed)


def follow_benchmark(benchmark: Benchmark, reason: str, act: str, **_: Any) -> None:
    """Grade again all that a change of labels or of the manifest concerns. Receives `benchmark_changed`."""
    regrade(benchmark, reason, act=act)
    for phase in benchmark.phases_elsewhere.select_related("benchmark"):
        regrade(phase.benchmark, reason, phase, act=act)


def regrade(benchmark: Benchmark, reason: str, phase: Phase | None = None, *, act: str = "regrade") -> int:
    """Put every submission whose grading has begun back in the queue, or those of a phase; returns how many.

    What they scored before stays in their history, and the reason is stored with the new result. One that
    waits is graded once only; one that is being graded leaves its worker.
    `act`: why, as the table of acts names it. Raises ActError.
    """
    with transaction.atomic():
        Benchmark.objects.lock(benchmark.pk)
        Benchmark.objects.filter(pk=benchmark.pk).touch()
        rows = (phase or benchmark).submissions.exclude(file="")
        rows = rows.exclude(status__in=(Status.QUEUED, Status.KEPT))
        rows = rows.exclude(withdrawn__isnull=False, verdict="")  # withdrawn before its grading
        rows = rows.select_for_update(of=("self",)).order_by("submitted", "pk")
        pks = list(rows.values_list("pk", flat=True))
        benchmark.submissions.filter(pk__in=pks).update(
            status=Status.QUEUED, why=reason[:200], spent=F("attempts"), **lease_renewal(QUEUE_LEASE_SECONDS)
        )
        for pk in pks:
            grade_next.enqueue(pk)
        feedback.set_apart((phase or benchmark).submissions.all())
        phases = benchmark.phases.select_related("benchmark")
        if phase is not None:
            phases = phases.filter(pk=phase.pk)
        for row in phases:
            if require(act, row).outcome == "changes":
                recount(row)
    return len(pks)


REGRADED = "All submissions would be graded again."
SHOWN_AGAIN = "What is shown of all submissions would change at once; none is graded again."


def effect_of(before: Policy, after: Policy) -> str:
    """What a change of policy does to results, in a sentence; empty where they stay as they are."""
    has_other_rows = before.public_share != after.public_share or before.reveal != after.reveal
    ladder_changes = (before.feedback == "ladder") != (after.feedback == "ladder")
    if has_other_rows or ladder_changes:
        return REGRADED
    if any(getattr(before, name) != getattr(after, name) for name in SHOWN):
        return SHOWN_AGAIN
    return ""


def follow_policy(benchmark: Benchmark, before: Policy) -> None:
    """Bring results in line with a policy that was just saved; in the transaction that saved it."""
    after = benchmark.policy
    effect = effect_of(before, after)
    with transaction.atomic():
        if benchmark.revealed is not None and not _reveal_is_due(after):
            benchmark.revealed = None
            Benchmark.objects.filter(pk=benchmark.pk).update(revealed=None)
        if effect == REGRADED:
            regrade(benchmark, "The organizer changed what is shown of a score.")
        else:
            if effect:
                _show_again(benchmark.submissions.all())
            Benchmark.objects.filter(pk=benchmark.pk).touch()
        follow_clock(benchmark)


def reveal_due() -> None:
    """Score the rows that were held back once their date has come; all workers check, one does it."""
    for row in Benchmark.objects.filter(revealed=None, settings__has_key="reveal"):
        with transaction.atomic():
            benchmark = Benchmark.objects.lock(row.pk)  # the organizer may just have postponed it
            if benchmark.revealed is None and _reveal_is_due(benchmark.policy):
                Benchmark.objects.filter(pk=benchmark.pk).update(revealed=timezone.now())
                record("reveal", benchmark=benchmark, sealed=seals_of_parts(benchmark, "revealed"))
                regrade(benchmark, "The rows that were held back count now.")


def follow_clock(benchmark: Benchmark, **_: Any) -> None:
    """Bring a benchmark in line with what its phases say at this moment. Receives `benchmark_due`.

    Each phase stores what its results are in line with, so that one of several callers does the work, and
    whoever comes first after a moment: the sweep of a worker, or a visitor.
    """
    with transaction.atomic():
        row = Benchmark.objects.lock(benchmark.pk)
        now = timezone.now()
        phases = list(row.phases.select_related("benchmark"))
        for phase in phases:
            _follow_in_phase(row, phase, now)

        shown = newest_shown(phases)
        moments = [next_change(phases, now)]
        if row.names_hidden_until is not None:
            moments.append(int(row.names_hidden_until.timestamp()))
        due = min((moment for moment in moments if moment), default=None)
        if due or phases or row.due is not None or row.board_phase is not None:
            Benchmark.objects.filter(pk=row.pk).touch(due=due, board_phase=shown and shown.pk)

        moved = row.submissions.none()
        if row.policy.anonymous is not None:
            moved = row.submissions.all()
        elif (row.board_phase is None) != (shown is None):  # those without a phase leave the board, or return
            moved = row.submissions.filter(phase=None)
        pks = list(moved.values_list("pk", flat=True))
        if pks:
            submissions_changed.send(Submission, submissions=pks)


def _follow_in_phase(benchmark: Benchmark, phase: Phase, now: datetime) -> None:
    """Bring the results of a phase in line with its state at this moment, and log what visitors notice."""
    before = phase.state
    phase.state = phase.state_at(now, waits=waiting_in(phase).exists())
    if phase.state == before:
        return
    phase.save(update_fields=["state"])
    changes: Values = {name: [before.get(name), phase.state[name]] for name in ("rows", "shown")}
    if before and any(earlier != later for earlier, later in changes.values()):
        record("phase follows", benchmark=benchmark, phase=phase.name, **changes)
    _renew(phase, before)


def _renew(phase: Phase, before: Facts) -> None:
    """Grade, show or count the submissions of a phase again, whose state was another before."""
    if before and any(before.get(name) != phase.state.get(name) for name in GRADED_BY):
        regrade(phase.benchmark, f"The phase {phase} scores other rows, or otherwise.", phase)
    elif before:
        _show_again(phase.submissions.all())
    recount(phase)


def _show_again(submissions: SubmissionQuerySet) -> None:
    """Update what is shown of these; in a transaction."""
    graded = (
        submissions.filter(status=Status.GRADED)
        .select_related("benchmark", "phase")
        .select_for_update(of=("self",))
    )
    for submission in graded.defer("report", "problems", "scores").iterator(chunk_size=50):
        feedback.show(submission)
    submissions_changed.send(Submission, submissions=list(graded.values_list("pk", flat=True)))


def settle(phase: Phase | None) -> None:
    """Follow the clock if the results of a phase waited for a submission that is done now."""
    if phase is not None and phase.over is not None and not phase.is_settled and phase.over <= timezone.now():
        follow_clock(phase.benchmark)
        phase.refresh_from_db(fields=["state"])


def phases_due() -> None:
    """Follow the clock on the benchmarks of which a phase changes what is shown or graded."""
    for benchmark in Benchmark.objects.filter(due__lte=timezone.now().timestamp()):
        follow_clock(benchmark)


def _reveal_is_due(policy: Policy) -> bool:
    return policy.reveal is not None and timezone.now().date() >= policy.reveal


def _left_waiting(submission: Submission) -> bool:
    """Whether it must wait, on the Ladder, for an earlier submission of the same person or team.

    The earlier one enqueues it when it is done. If it never is, a sweep checks again soon.
    """
    if not feedback.climbs(submission):
        return False
    if not feedback.earlier(submission).filter(status__in=OPEN).exists():
        return False
    Submission.objects.filter(pk=submission.pk, status=Status.QUEUED).update(**lease_renewal())
    return True


def _tries(submission: Submission) -> int:
    return submission.attempts - submission.spent


def _work(submission: Submission, held: SubmissionQuerySet) -> Facts:
    with files_of(submission, held) as files:
        benchmark = submission.in_phase
        is_only_compared = submission.late or not benchmark.gold
        if submission.reproduces is not None and is_only_compared:
            job: Values = {"manifest": str(benchmark.manifest_path), "gold": None}
        else:
            job = job_of(benchmark, submission.phase) | feedback.parts_of(submission)
        return run_grader(job | files, alive=lambda: bool(held.update(**lease_renewal())), stop=stopping)


@contextmanager
def files_of(submission: Submission, held: SubmissionQuerySet) -> Iterator[Values]:
    """The paths of the files of a grading: `submission` and, under the Ladder, `bests` by task.

    Raises InterruptedGradingError if another worker has taken it, UnreadableFileError, GraderError.
    """
    climbs = feedback.climbs(submission)
    bests = {}
    if climbs:
        bests = feedback.files_of(feedback.bests_before(submission))
    with ExitStack() as files:

        def local_path_of(row: Submission) -> str:
            """The path of a file; copying one from a bucket may take a while."""
            if not held.update(**lease_renewal()):
                raise InterruptedGradingError
            return str(files.enter_context(process.local_path(row)))

        paths: Values = {"submission": local_path_of(submission)}
        if submission.reproduces is not None:
            paths["original"] = local_path_of(submission.reproduces)
        if climbs:  # also without any: it says that the Ladder decides
            paths["bests"] = {task: local_path_of(earlier) for task, earlier in bests.items()}
        yield paths


def job_of(benchmark: Benchmark, phase: Phase | None) -> Values:
    """What the grader opens: the manifest, the labels, and which rows count."""
    board = at_phase(benchmark, phase)
    paths = {"manifest": str(board.manifest_path), "gold": str(board.gold_path)}
    return {**paths, **feedback.rows_to_grade(benchmark, phase)}


def _failure_values(error: GraderError) -> Values:
    """The row's new values; a message longer than its column would be refused by some databases."""
    longest = Submission._meta.get_field("failure").max_length
    return {"status": Status.FAILED, "failure": str(error)[:longest]}


def _finish(
    submission: Submission,
    held: SubmissionQuerySet,
    values: Facts,
    *,
    graded: Facts | None = None,
) -> None:
    """Write the outcome if this attempt still holds the row, and mark the board as changed.

    If the benchmark changed meanwhile, grade it again instead: `regrade` skips waiting submissions, and a
    worker may have started on this one just before the change.
    """
    with transaction.atomic():
        benchmark = Benchmark.objects.lock(submission.benchmark_id)
        phase = None if submission.phase is None else Phase.objects.get(pk=submission.phase.pk)
        if _basis(benchmark, phase) != _basis(submission.benchmark, submission.phase):
            _requeue(held, submission.pk, spent=F("attempts"))
            return
        moment = timezone.now()
        if not held.update(finished=moment, **values):
            return
        if graded is not None:
            kept: Values = {"best": feedback.bests_before(submission) if "new" in graded else {}}
            if graded.get("report"):
                kept |= {name: graded.get(name) for name in ("report", "diagnosis", "shown")}
                kept["best"] |= dict.fromkeys(graded.get("new", ()), submission.key)
            if graded.get("also"):
                public_value = feedback.score_value(submission, graded["also"])
                Submission.objects.filter(pk=submission.pk).rewrite(public_value=public_value)
            before = feedback.key_now(benchmark, phase)
            Result.objects.create(
                submission=submission,
                created=moment,
                why=submission.why,
                labels=submission.in_phase.gold_digest or graded.get("labels", ""),
                package=__version__,
                verdict=graded["check"]["verdict"],
                **kept,
            )
        now = Submission.objects.select_related("benchmark", "phase").get(pk=submission.pk)
        if graded is not None and feedback.key_now(benchmark, phase) != before:  # new labels, elsewhere
            feedback.set_apart(benchmark.submissions.exclude(pk=submission.pk))
        feedback.show(now)  # by the row as it is now: its author may have published it meanwhile
        if require("grade", now.phase).outcome == "changes":
            settle(now.phase)
            recount(now.phase)
        if now.public:
            Benchmark.objects.filter(pk=submission.benchmark_id).touch()
        submissions_changed.send(Submission, submissions=[submission.pk])
        following = feedback.next_in_turn(submission)
        if following is not None:
            grade_next.enqueue(following)


def _basis(benchmark: Benchmark, phase: Phase | None) -> tuple[Any, ...]:
    """The inputs of a result, apart from the submitted file."""
    board = at_phase(benchmark, phase)
    texts = (board.gold, board.manifest, board.parents)
    return texts + (benchmark.settings, benchmark.revealed, phase and phase.state)


def _requeue(waiting: SubmissionQuerySet, pk: int, **values: Any) -> None:
    with transaction.atomic():
        if waiting.update(status=Status.QUEUED, **lease_renewal(QUEUE_LEASE_SECONDS), **values):
            grade_next.enqueue(pk)
