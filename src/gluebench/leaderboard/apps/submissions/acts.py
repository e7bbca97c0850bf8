"""Actions of authors, organizers and the site on a stored submission, each in one transaction.

The callers check permissions. The actions of organizers are logged in the same transaction.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.storage import Storage
from django.db import transaction
from django.utils import timezone

from gluebench.benchmark.figures import counted
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.fields import FIELDS
from gluebench.leaderboard.apps.common.signals import (
    act_begun,
    files_deleted,
    submission_decided,
    submissions_changed,
)
from gluebench.leaderboard.apps.common.tables import toml_beside
from gluebench.leaderboard.apps.phases.models import CountingRule, Phase
from gluebench.leaderboard.apps.phases.moments import ends_for, phases_where, require
from gluebench.leaderboard.apps.phases.table import ActEffect, ActError
from gluebench.leaderboard.apps.submissions import feedback, models
from gluebench.leaderboard.apps.submissions.anonymity import NOBODY, TEXTS
from gluebench.leaderboard.apps.submissions.counting import recount
from gluebench.leaderboard.apps.submissions.grading import QUEUE_LEASE_SECONDS, grade_next, regrade, settle
from gluebench.leaderboard.apps.submissions.models import Revision, Submission, SubmissionQuerySet
from gluebench.leaderboard.apps.submissions.queries import OPEN, Kind, Status, lease_renewal
from gluebench.leaderboard.keeping.folder import SiteError

UNGRADED = "It was withdrawn before it was graded, and counts against no limit."
REASON_DELETED = "The reason went with its author's account."
"""Replaces an organizer's reason why an entry is off the board, so that it stays off."""
ORPHAN_KEPT = timedelta(days=1)
"""Age from which stored files without a submission are deleted: the row of a newer one may be on its way."""


def edit(submission: Submission, by: User, values: Mapping[str, Any]) -> Revision | None:
    """Change fields of a submission and keep the former values. None where nothing changes.

    Raises ValidationError, by field and for a reproduction, ValueError for what is not in `FIELDS`, and
    ActError for a blocked account.
    """
    if submission.reproduces_id is not None:
        raise ValidationError("A reproduction cannot be edited. Withdraw it and send another one.")
    if foreign := values.keys() - FIELDS.keys():
        raise ValueError(f"not for authors to set: {', '.join(sorted(foreign))}")
    act_begun.send(None, submission=submission, by=by)
    if submission.has_team_name and values.get("team", submission.team) != submission.team:
        raise ValidationError({"team": "The board shows the name of your team."})
    with _lock_submission(submission) as row:
        changes = _changes(row, values)
        if not changes:
            return None
        cell = _require("edit", row)
        for name, (_, value) in changes.items():
            setattr(row, name, value)
        row.clean_fields(exclude={field.name for field in row._meta.fields} - changes.keys())
        row.clean()
        _write(row, cell, **{name: getattr(row, name) for name in changes})
        return Revision.objects.create(submission=row, by=by, changes=changes)


def _changes(row: Submission, values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Of the columns that would change, the value before and after."""
    changes = {}
    for name, value in values.items():
        before = getattr(row, name)
        if before != value:
            changes[name] = [before, value]
    return changes


def publish(submission: Submission, *, public: bool) -> Submission:
    """Show it on the board, or to its author alone. One that was declined or withdrawn stays hidden.

    So does a reproduction. Raises ActError.
    """
    with _lock_submission(submission) as row:
        # Where a rule says what counts, hiding a submission may let another one count.
        is_ruled = row.phase is not None and row.phase.counting != CountingRule.EVERY and not row.late
        act = "publish"
        if not public:
            act = "hide" if is_ruled else "unpublish"
        _write(row, _require(act, row), public=public and row.reproduces_id is None)
        feedback.show(row)
        return row


def withdraw(submission: Submission) -> Submission:
    """Withdraw it. If its grading has not begun, it is never graded, and `restore` cannot undo this."""
    with _lock_submission(submission) as row:
        if row.withdrawn is None:
            cell = _require("withdraw", row)
            now = timezone.now()
            if row.status == Status.QUEUED and row.finished is None:
                _write(row, cell, withdrawn=now, status=Status.FAILED, finished=now, failure=UNGRADED)
            else:
                _write(row, cell, withdrawn=now)
        return row


def restore(submission: Submission) -> Submission:
    """Undo `withdraw`: it is as visible as it was before. Raises ActError."""
    with _lock_submission(submission) as row:
        if row.failure == UNGRADED:
            raise ActError(
                "It was withdrawn before it was graded. This cannot be undone: send the file again."
            )
        if Submission.objects.filter(replaces=row.pk).exists():
            raise ActError("Another file took its place, so it stays withdrawn. Replace that file instead.")
        if row.withdrawn is not None:
            ends = None
            if row.phase is not None:
                ends = ends_for(row.phase, row.owner_id)
            if ends is None or row.withdrawn < ends:
                _write(row, _require("restore", row), withdrawn=None, chosen=None)
            else:  # it was withdrawn after the deadline, and still counts as chosen
                _write(row, _require("return", row), withdrawn=None)
            feedback.show(row)
        return row


def require_replaceable(submission: Submission) -> None:
    """Raise ActError for a submission whose file may not be replaced, or no longer."""
    if not submission.is_replaceable:
        reason = "Only an invalid file can be replaced, and this one is valid or withdrawn."
        raise ActError(reason, "replace")


def replace(earlier: Submission, submission: Submission) -> None:
    """Give an upload the address and fields of one that is not valid; in the transaction that saves it.

    The earlier upload stays under another address, and counts against the limits as before.
    """
    with _lock_submission(earlier) as row:
        cell = _require("replace", row)
        require_replaceable(row)
        submission.key = row.key
        submission.replaces = row
        for name in list(FIELDS) + ["kind", "public", "reproduces"]:
            setattr(submission, name, getattr(row, name))
        _write(row, cell, key=models.new_key(), public=False, withdrawn=timezone.now())
        _log("replace", submission, submission.owner, sha256=[row.sha256, submission.sha256])


def choose(submission: Submission, by: User, *, chosen: bool) -> Submission:
    """Let it count in a phase in which authors choose, or no longer. Raises ActError."""
    act_begun.send(None, submission=submission, by=by)
    with _lock_submission(submission) as row:
        phase = row.phase
        if (
            phase is None
            or phase.counting != CountingRule.CHOSEN
            or row.late
            or row.reproduces_id is not None
        ):
            raise ActError("In its phase, authors do not choose which submissions count.", "choice")
        cell = _require("choose", row)
        if chosen and (row.withdrawn is not None or not row.is_scored):
            raise ActError("Only a graded submission that is not withdrawn can be chosen.", "choice")
        mine = Submission.objects.of_same_people(row, team=row.policy.per == "team")
        others = mine.filter(phase=phase, chosen__isnull=False, withdrawn=None).exclude(pk=row.pk).count()
        if chosen and others >= phase.most:
            reason = f"You may choose {phase.most}, and have: take another one back first."
            raise ActError(reason, "choice")
        _write(row, cell, chosen=timezone.now() if chosen else None)
        _log("choose" if chosen else "choose no longer", row, by)
        return row


def _by_colleague(act: Callable[[Submission], Submission], name: str) -> Callable[..., Submission]:
    """An act that another member of the author's team may do too, which the log has then."""

    def act_and_log(row: Submission, by: User) -> Submission:
        act_begun.send(None, submission=row, by=by)
        with transaction.atomic():
            after = act(row)
            if by.pk != row.owner_id:
                _log(name, row, by)
        return after

    return act_and_log


OF_AUTHORS: dict[str, Callable[[Submission, User], Submission]] = {
    "publish": _by_colleague(partial(publish, public=True), "publish"),
    "unpublish": _by_colleague(partial(publish, public=False), "unpublish"),
    "withdraw": _by_colleague(withdraw, "withdraw"),
    "restore": _by_colleague(restore, "restore"),
    "choose": partial(choose, chosen=True),
    "unchoose": partial(choose, chosen=False),
}
"""The buttons of an author, by the names of their addresses in the API."""
WORDS = toml_beside(__file__)


def approve(submission: Submission, by: User, reason: str = "") -> str:
    """An organizer agrees that the board shows it."""
    with _lock_submission(submission) as row:
        _write(row, require("approve", row.phase), approved=True, declined="")
        _log("approve", row, by, reason=reason)
        submission_decided.send(Submission, submission=row, approved=True)
        return f"Approved: {row.standing.label.lower()}."


def decline(submission: Submission, by: User, reason: str) -> str:
    """An organizer keeps it off the board, or takes it off; the reason is shown to its author."""
    with _lock_submission(submission) as row:
        action = "take off" if row.is_listed else "decline"
        _write(row, require("reject", row.phase), approved=False, declined=reason)
        _log(action, row, by, reason=reason)
        submission_decided.send(Submission, submission=row, approved=False)
    return "It is off the board, and its author reads why."


def mark(submission: Submission, by: User, *, kind: Kind, verified: bool, reason: str = "") -> str:
    """An organizer sets its kind, and whether it is verified."""
    with _lock_submission(submission) as row:
        changes = _changes(row, {"kind": str(kind), "verified": verified})
        if changes:
            _write(row, require("mark", row.phase), kind=kind, verified=verified)
            _log("mark", row, by, reason=reason, **changes)
    return "Its marks are saved."


def grade_again(submission: Submission, by: User, reason: str) -> str:
    """Put it back in the queue. Raises ActError if it is there, has no file, or was withdrawn ungraded."""
    with _lock_submission(submission) as row:
        if row.is_open:
            raise ActError("It is being graded.", "queue")
        if row.failure == UNGRADED or not row.file:
            raise ActError("It has no file that could be graded.", "queue")
        cell = require("regrade", row.phase)
        _write(row, cell, status=Status.QUEUED, spent=row.attempts, why=reason)
        Submission.objects.filter(pk=row.pk).update(**lease_renewal(QUEUE_LEASE_SECONDS))
        grade_next.enqueue(row.pk)
        _log("regrade", row, by, reason=reason)
    return "It is graded again."


def grade_all_again(benchmark: Benchmark, by: User, reason: str) -> str:
    """Put all submissions of a benchmark back in the queue."""
    with transaction.atomic():
        count = regrade(benchmark, reason)
        record("regrade", actor=by, benchmark=benchmark, reason=reason, submissions=count)
    return f"{counted(count, 'submission')} will be graded again."


@contextmanager
def _lock_submission(submission: Submission) -> Iterator[Submission]:
    """A transaction with the row as it is now, locked until it ends; tells of the change at its end."""
    with transaction.atomic():
        Benchmark.objects.lock(submission.benchmark_id)
        rows = Submission.objects.select_for_update(of=("self",)).select_related(
            "benchmark", "phase", "owner"
        )
        yield rows.defer("report", "problems").get(pk=submission.pk)
        submissions_changed.send(Submission, submissions=[submission.pk])


def _require(act: str, row: Submission) -> ActEffect:
    """What the table of acts says that this act of the author does now. Raises ActError if it is refused."""
    return require(act, row.phase, user=row.owner_id)


def _write(row: Submission, cell: ActEffect, **values: Any) -> None:
    """Write these columns and mark the pages as changed; count again if the act's cell says so."""
    row.rewrite(**values)
    settle(row.phase)
    if row.phase is not None and cell.outcome == "changes":
        recount(row.phase)
        row.refresh_from_db(fields=["counts"])
    Benchmark.objects.filter(pk=row.benchmark_id).touch()


def _log(action: str, row: Submission, by: User, **detail: Any) -> None:
    record(action, actor=by, benchmark=row.benchmark, submission=row, **detail)


def forget_old_files(**_: Any) -> int:
    """Delete the files of submissions that were finished longer ago than the site keeps them."""
    if settings.KEEP_DAYS is None:
        return 0
    end = timezone.now() - timedelta(days=settings.KEEP_DAYS)
    return forget_files(Submission.objects.filter(finished__lt=end))


def forget_files(submissions: SubmissionQuerySet, act: str = "expire_file") -> int:
    """Delete the files of finished submissions, once the transaction that forgets them is committed.

    Those of phases in which the act is refused are kept.
    """
    with transaction.atomic():
        phases = Phase.objects.filter(submissions__in=submissions)
        rows = submissions.exclude(status__in=OPEN).exclude(file="").select_for_update()
        rows = rows.exclude(phase__in=phases_where(act, "refused", phases))
        files = dict(rows.values_list("pk", "file"))
        Submission.objects.filter(pk__in=files).update(file="")
        files_deleted.send(Submission, submissions=files.keys())
        for phase in phases_where(act, "changes", phases):
            recount(phase)
        for name in files.values():

            def delete(name: str = name) -> None:  # not a partial: Django logs the function's name on failure
                models.submission_storage().delete(name)

            transaction.on_commit(delete, robust=True)  # robust: one failure does not keep the other files
    return len(files)


def forget_orphans(**_: Any) -> int:
    """Delete stored files that no submission names: a process was killed before it wrote the row."""
    storage = models.submission_storage()
    # Uploads are stored one folder deep; files elsewhere were put there by hand.
    names = [name for name in orphans(ORPHAN_KEPT) if name.count("/") == 1]
    for name in names:
        storage.delete(name)
    return len(names)


def orphans(age: timedelta) -> list[str]:
    """The names of stored files that are older than `age` and that no submission names, in order."""
    storage = models.submission_storage()
    end = timezone.now() - age
    stored = set(_files_in_storage(storage))  # before the rows: a file is written before its row
    named = set(Submission.objects.exclude(file="").values_list("file", flat=True))
    return [name for name in sorted(stored - named) if storage.get_modified_time(name) < end]


def _files_in_storage(storage: Storage, folder: str = "") -> Iterator[str]:
    folders, names = storage.listdir(folder)
    for name in names:
        yield f"{folder}{name}"
    for subfolder in folders:
        yield from _files_in_storage(storage, f"{folder}{subfolder}/")


def anonymize(*, user: User, **_: Any) -> None:
    """Remove names, links and texts from the submissions of a deleted account.

    The kind of model, its sizes and its scores stay. So does the team that it counts for, which no page
    names, so that the team's quota is used up as before. Raises SiteError while one is being graded, and
    ActError.
    """
    mine = Submission.objects.owned_by(user)
    waiting = mine.waiting().count()
    if waiting:
        verb = "is" if waiting == 1 else "are"
        raise SiteError(
            f"{waiting} of your submissions {verb} still being graded. "
            "Wait until that is done, which takes minutes at most, and try again."
        )
    benchmarks = sorted(set(mine.values_list("benchmark", flat=True)))
    for benchmark in benchmarks:
        Benchmark.objects.lock(benchmark)
    Revision.objects.filter(submission__in=mine.values("pk")).delete()
    for phase in Phase.objects.filter(submissions__in=mine).distinct():
        require("delete_account", phase)
    forget_files(mine, "delete_account")
    mine.exclude(declined="").update(declined=REASON_DELETED)
    blank: dict[str, Any] = dict.fromkeys(TEXTS, "") | {"name": NOBODY, "filename": ""}
    del blank["model"]
    mine.update(**blank, problems={}, retry_key=None)
    Benchmark.objects.filter(pk__in=benchmarks).touch()
    submissions_changed.send(Submission, submissions=list(mine.values_list("pk", flat=True)), erased=True)
