"""Submitting and the free check: the same way in as the page's, with a name for each upload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadedfile import UploadedFile as Uploaded
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from ninja import File, Form, Header, Router
from ninja.files import UploadedFile

from gluebench.leaderboard.accounts.models import Scope, User
from gluebench.leaderboard.api import schemas
from gluebench.leaderboard.api.answering import told
from gluebench.leaderboard.api.benchmarks import benchmark_or_404
from gluebench.leaderboard.api.callers import SIGNED_IN, user_with
from gluebench.leaderboard.api.facts import own
from gluebench.leaderboard.api.schemas import answers
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.problems import FieldError, ProblemError, invalid
from gluebench.leaderboard.common.rates import spend
from gluebench.leaderboard.limits.gate import QuotaError
from gluebench.leaderboard.limits.quota import usage
from gluebench.leaderboard.submissions.feedback import as_policy
from gluebench.leaderboard.submissions.files import under_own_name
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.process import GraderError, run_check
from gluebench.leaderboard.uploads.accept import accept, digest

RETRY_KEY = r"^[!-~]{1,64}$"

router = Router(tags=["Submitting"], auth=SIGNED_IN)


@router.post("/{slug:name}/check", response=answers(schemas.CheckFacts, 400, 403, 404, 413, 422))
def check(request: HttpRequest, name: str, file: File[UploadedFile]) -> HttpResponse:
    """The validator's full list of findings. Costs no quota; the file is not kept."""
    user = user_with(request, Scope.SUBMIT)
    benchmark = benchmark_or_404(name)
    _only(request, set())
    _within_size(file)
    spend("check", str(user.pk))
    try:
        with under_own_name(_place(file), file.name or "") as path:
            found = run_check(benchmark.manifest_path, path, account=user.pk)
    except GraderError as failure:
        raise invalid([FieldError(field="file", message=str(failure))]) from None
    return told(as_policy(benchmark.policy, found))


@router.get("/{slug:name}/quota", response=answers(schemas.Quota, 403, 404))
def quota(request: HttpRequest, name: str) -> HttpResponse:
    """What may still be sent: of each limit what is used, what remains, and when the next one is possible."""
    user = user_with(request, Scope.READ)
    return told(usage(benchmark_or_404(name), user).as_dict())


@router.post(
    "/{slug:name}/submissions",
    response={
        **answers(schemas.SubmissionFacts, 400, 403, 404, 409, 413, 422),
        201: schemas.SubmissionFacts,
    },
)
def submit(
    request: HttpRequest,
    name: str,
    details: Form[schemas.Details],
    file: File[UploadedFile],
    idempotency_key: str | None = Header(  # type: ignore[type-arg]
        None, alias="Idempotency-Key", pattern=RETRY_KEY
    ),
) -> HttpResponse:
    """Send a submission: one zip, and what is said of it. It is safe once this answers, and soon graded.

    With an Idempotency-Key, sending the same file again answers 200 with the submission that is there
    already; another file under the same key is refused with 409.
    """
    user = user_with(request, Scope.SUBMIT)
    benchmark = benchmark_or_404(name)
    _only(request, set(schemas.Details.model_fields))
    _within_size(file)
    found = _there_already(user, benchmark, file, idempotency_key)
    status = 200 if found else 201
    if found is None:
        row = Submission(
            owner=user, benchmark=benchmark, retry_key=idempotency_key, **details.dict(exclude_unset=True)
        )
        found = _take(row, file)
    answer = told(own(found), status=status)
    answer["Location"] = f"/api/v1/submissions/{found.key}"
    return answer


def _take(row: Submission, file: Uploaded[Any]) -> Submission:
    """Let it in. Of two with the same key at the same time, the second is the first."""
    told = schemas.Details.model_fields
    row.clean_fields(exclude={field.name for field in row._meta.fields} - set(told))
    row.clean()
    try:
        return accept(row, file)
    except (IntegrityError, QuotaError):
        twin = _there_already(row.owner, row.benchmark, file, row.retry_key)
        if twin is None:
            raise
        return twin


def _there_already(
    user: User, benchmark: Benchmark, file: Uploaded[Any], retry_key: str | None
) -> Submission | None:
    """The submission that this upload made before. Raises ProblemError where it was another upload."""
    if retry_key is None:
        return None
    twin = Submission.objects.owned_by(user).select_related("benchmark").filter(retry_key=retry_key).first()
    if twin is not None and (twin.benchmark_id, twin.sha256) != (benchmark.pk, digest(file)):
        raise ProblemError(
            409,
            "retry-key",
            f"This Idempotency-Key was used for another upload, submission {twin.key}. Choose a new one.",
        )
    return twin


def _only(request: HttpRequest, fields: set[str]) -> None:
    """Refuse what nobody asked for: a field that only the site sets, or one that is mistyped."""
    strange = sorted(set(request.POST) - fields) + sorted(set(request.FILES) - {"file"})
    if strange:
        raise invalid([FieldError(field=name, message="There is no such field.") for name in strange])
    twice = sorted(name for name in request.POST if len(request.POST.getlist(name)) > 1)
    if len(request.FILES.getlist("file")) > 1:
        twice.append("file")
    if twice:
        raise invalid([FieldError(field=name, message="Given more than once.") for name in twice])


def _within_size(file: Uploaded[Any]) -> None:
    most = settings.UPLOAD_BYTES
    if file.size is None or file.size > most:
        raise ProblemError(
            413, "too-large", f"The file is larger than {most // 1024**2} MB. Compress it as a zip."
        )


def _place(file: Uploaded[Any]) -> Path:
    """Where the upload was put: this site writes every one to disk as it comes in."""
    assert isinstance(file, TemporaryUploadedFile)
    return Path(file.temporary_file_path())
