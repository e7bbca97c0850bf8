"""Accept submissions from pages, API and commands: check the file, ask its sender, store file and row."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.files import File
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.db import DatabaseError, IntegrityError, transaction
from django.http import Http404, HttpRequest
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import Membership, User, team_for
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import Policy
from gluebench.leaderboard.apps.common.problems import ProblemError, spend
from gluebench.leaderboard.apps.limits import quota
from gluebench.leaderboard.apps.phases.models import (
    UPLOAD_TIME,
    CountingRule,
    LatePolicy,
    Phase,
    at_phase,
    policy_at,
)
from gluebench.leaderboard.apps.phases.moments import slot_of
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.feedback import as_policy
from gluebench.leaderboard.apps.submissions.grading import grade_next
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.process import GraderError, run_check, under_own_name
from gluebench.leaderboard.apps.submissions.queries import UNSCORED, Status
from gluebench.leaderboard.apps.submissions.report import CheckSummary, check_summary
from gluebench.leaderboard.apps.submissions.views import visible
from gluebench.leaderboard.keeping.folder import remove_all_but_last
from gluebench.leaderboard.serving.front import BEGAN


class PendingFile(UploadedFile[Any]):
    """A kept file as an upload. The storage copies it, so that a page that is sent twice finds it again."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path.open("rb"), name, size=path.stat().st_size)
        self.path = path


class PendingUpload:
    """An upload that is kept while its sender decides about it, and possibly a fixed copy of it.

    Its token is valid for its sender only. Each account has its last few, for a day at most, like
    everything in the folder of uploads.
    """

    name = ""
    """The file name that its sender gave it."""

    def __init__(self, account: int, token: str) -> None:
        self.account = account
        self.token = token
        self.folder = Path(settings.FOLDER.uploads, f"held-{account}-{token}")

    @classmethod
    def new(cls, account: int) -> PendingUpload:
        """Create a folder for an upload; call `store`, or delete the folder."""
        held = cls(account, secrets.token_hex(8))
        held.folder.mkdir(mode=0o700)
        return held

    @classmethod
    def find(cls, account: int, token: str) -> PendingUpload | None:
        """Return the upload kept for this account under this token; None if there is none."""
        held = cls(account, token)
        if token.isalnum():
            with suppress(FileNotFoundError):
                held.name = (held.folder / "name").read_text()
        if not held.name:
            return None
        return held

    @property
    def since(self) -> datetime:
        """When its file was complete."""
        return datetime.fromtimestamp((self.folder / "name").stat().st_mtime, UTC)

    def store(self, upload: UploadedFile[Any], *, own: bool) -> None:
        """Keep the upload, or its fixed copy alone; of the account's earlier ones the last few stay."""
        if own:
            shutil.copyfile(path_of(upload), self.folder / "own")
        self.name = (upload.name or "submission.zip")[-120:]
        (self.folder / "name").write_text(self.name)
        remove_all_but_last(self.folder.parent.glob(f"held-{self.account}-*"), "name")

    def file(self, which: Literal["own", "fixed"]) -> PendingFile | None:
        """Return this copy as an upload; None if it was not kept."""
        name = self.name if which == "own" else f"{Path(self.name).stem}-fixed.zip"
        try:
            return PendingFile(self.folder / which, name)
        except FileNotFoundError:
            return None


def path_of(upload: UploadedFile[Any]) -> Path:
    """The path of an upload on this machine."""
    if isinstance(upload, PendingFile):
        return upload.path
    assert isinstance(upload, TemporaryUploadedFile)  # this site writes every upload to disk as it comes in
    return Path(upload.temporary_file_path())


def free_check(
    benchmark: Benchmark, upload: UploadedFile[Any], account: int, *, fixed: Path | None = None
) -> Mapping[str, Any]:
    """The validator's check of an upload, as the benchmark judges it; as `run_check`. Costs no quota.

    Raises GraderError, and ProblemError for too many checks.
    """
    spend("check", str(account))
    with under_own_name(path_of(upload), upload.name or "") as path:
        manifest = at_phase(benchmark, _phase_of(benchmark, account)).manifest_path
        result = run_check(manifest, path, account=account, fixed=fixed)
    return {**result, "check": as_policy(benchmark, _policy_for(benchmark, account), result["check"])}


def _policy_for(benchmark: Benchmark, account: int) -> Policy:
    return policy_at(benchmark, _phase_of(benchmark, account))


def _phase_of(benchmark: Benchmark, account: int) -> Phase | None:
    """The phase that a file of this person would be for, sent now; None before the first one."""
    return slot_of(benchmark, User.objects.get(pk=account), timezone.now()).phase


class UploadReview(NamedTuple):
    """What a page shows of a file, and what its sender may choose."""

    check: CheckSummary | None = None
    changes: tuple[str, ...] = ()
    """What is changed in the fixed copy."""
    fixed: CheckSummary | None = None
    """The check of that copy; None where there is none, or none that is better."""
    duplicate: Submission | None = None
    """A submission of the same file."""
    kept: str = ""
    """The token of the kept upload (`PendingUpload`)."""
    can_send: bool = False
    """Whether it may be sent as it is."""


def check_and_keep(
    benchmark: Benchmark, upload: UploadedFile[Any], account: int, *, own: bool, sure: bool = False
) -> UploadReview:
    """Check a file and keep what its sender may choose: the fixed copy and, if `own`, the file itself.

    If `sure`, its sender has declined the fixed copy. Raises as `free_check`.
    """
    held = PendingUpload.new(account)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, held.folder, ignore_errors=True)
        result = free_check(benchmark, upload, account, fixed=held.folder / "fixed")
        check = result["check"]
        fixed = result.get("fixed")
        review = UploadReview(check_summary(check), can_send=check["verdict"] != "invalid")
        if fixed is not None and not (sure and review.can_send):
            better = as_policy(benchmark, _policy_for(benchmark, account), fixed["check"])
            completes = not review.can_send or len(better["missing"]) < len(check["missing"])
            if better["verdict"] != "invalid" and completes:
                review = review._replace(changes=tuple(fixed["changes"]), fixed=check_summary(better))
        if review.fixed or (own and not review.can_send):
            held.store(upload, own=own)
            stack.pop_all()
            return review._replace(kept=held.token)
    return review


def review_before_storing(
    submission: Submission, upload: UploadedFile[Any], *, sure: bool
) -> UploadReview | None:
    """Return what to ask before storing a file: about a duplicate or its problems; None for nothing.

    A duplicate is a submission of the same file by its author or the author's team. Invalid and failed ones
    do not count: the check says what is wrong, or another attempt may succeed.
    A file that cannot be checked now is taken as it is: the worker checks it, and its author can replace it.
    """
    duplicates = Submission.objects.of_same_people(submission).filter(sha256=submission.sha256)
    duplicates = duplicates.exclude(UNSCORED).defer("report", "problems", "scores")
    if submission.retry_key is not None:  # sent twice at once from one page: `accept_once` finds it
        duplicates = duplicates.exclude(retry_key=submission.retry_key)
    if not sure:
        duplicate = duplicates.first()
        if duplicate is not None:
            held = PendingUpload.new(submission.owner_id)
            held.store(upload, own=True)
            return UploadReview(duplicate=duplicate, kept=held.token, can_send=True)
    try:
        review = check_and_keep(submission.benchmark, upload, submission.owner_id, own=True, sure=sure)
    except (GraderError, ProblemError):
        return None
    if review.can_send and review.fixed is None:
        return None
    return review


def reproducible(user: User, key: str) -> Submission:
    """The public row of other people that this user may reproduce. Raises Http404, PermissionDenied."""
    row = visible(user, key)
    if not (row.is_listed and row.file):
        raise Http404("Only a system on a board whose file is still kept can be reproduced.")
    teams = {row.group_id, team_for(row.owner_id, row.benchmark_id)} - {None}
    members = Membership.objects.filter(user=user, team__in=teams)  # who has left too
    if user.pk == row.owner_id or members.exists():
        raise PermissionDenied("Its author and the author's team cannot reproduce a system.")
    return row


def upload_started_at(request: HttpRequest) -> datetime:
    """When a request began, as the server in front saw it; now behind a server that does not say."""
    seconds = request.META.get(BEGAN)
    if seconds is None:
        return timezone.now()
    return datetime.fromtimestamp(seconds, UTC)


def accept(
    submission: Submission, file: File[bytes], *, limited: bool = True, replaces: Submission | None = None
) -> Submission:
    """Store the file, then row and background task together; all is durable when this returns.

    Raises QuotaError where a limit of the benchmark does not allow it now, and ActError where it may not
    take the place of `replaces`; nothing is kept of it then. `limited=False` is for the operator of the
    site: no limit applies.
    """
    if submission.began is not None:  # an upload has a bound, so that nobody sends the rest of it much later
        submission.began = max(submission.began, timezone.now() - UPLOAD_TIME)
    if limited:
        quota.check_quota(submission)
    submission.filename = (file.name or "submission.zip")[-120:]
    submission.sha256 = submission.sha256 or digest(file)  # already set if a caller looked for duplicates
    submission.size = file.size
    # The file is written before the transaction opens, so that the database is locked for an instant only.
    submission.file.save(submission.filename, file, save=False)
    try:
        with transaction.atomic():
            quota.reserve_quota(submission, limited=limited)
            submission.approved = not submission.policy.approval
            if replaces is not None:
                acts.replace(replaces, submission)
            _follow_phase(submission)
            submission.save()
            if submission.is_open:
                grade_next.enqueue(submission.pk)
    except BaseException:
        with suppress(DatabaseError):  # the row may be stored although the database's answer was lost
            if not Submission.objects.filter(file=submission.file.name).exists():
                submission.file.delete(save=False)
        raise
    return submission


def _follow_phase(submission: Submission) -> None:
    """Set what follows from the phase of a new submission: until it is graded, it counts nowhere."""
    phase = submission.phase
    submission.counts = phase is None and submission.reproduces_id is None
    if phase is None:
        submission.began = None
    elif submission.reproduces_id is not None:
        pass  # a late one is compared, and not scored
    elif submission.late and phase.late == LatePolicy.KEPT:
        submission.status = Status.KEPT
        submission.finished = timezone.now()
    elif phase.counting != CountingRule.EVERY:
        submission.public = True


def digest(file: File[bytes]) -> str:
    """SHA-256 of a file, which is left at its start."""
    file.seek(0)
    sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return sha256


class UploadReviewError(Exception):
    """A file that is not stored before its sender has decided about it."""

    def __init__(self, review: UploadReview) -> None:
        self.review = review


def accept_once(
    submission: Submission,
    file: UploadedFile[Any],
    *,
    replaces: Submission | None = None,
    sure: bool | None = None,
) -> Submission:
    """Accept it, unless an upload with its `retry_key` is already stored: then return that one.

    `sure`: whether its sender has decided; without it, nobody is asked. Raises QuestionError and as `accept`.
    """
    known = earlier_attempt(submission)
    if known is not None:
        return known
    try:
        if sure is not None:
            if replaces is not None:
                acts.require_replaceable(replaces)
            quota.check_quota(submission)
            review = review_before_storing(submission, file, sure=sure)
            if review is not None:
                raise UploadReviewError(review)
        return accept(submission, file, replaces=replaces)
    except (IntegrityError, ProblemError):
        known = earlier_attempt(submission)
        if known is None:
            raise
        return known


def earlier_attempt(submission: Submission) -> Submission | None:
    """Return the submission that its owner sent with the same `retry_key`, or None."""
    if submission.retry_key is None:
        return None
    rows = Submission.objects.owned_by(submission.owner).select_related("benchmark")
    return rows.filter(retry_key=submission.retry_key).first()
