"""Submitting and the free check: the same way in as the page's, with a name for each upload."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile as Uploaded
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import File, Form, Header, Router
from ninja.files import UploadedFile

from gluebench.leaderboard.accounts.models import Scope
from gluebench.leaderboard.api import schemas
from gluebench.leaderboard.api.benchmarks import benchmark_or_404
from gluebench.leaderboard.api.callers import SIGNED_IN, user_with
from gluebench.leaderboard.api.schemas import answers
from gluebench.leaderboard.api.submissions import facts
from gluebench.leaderboard.common.problems import FieldError, ProblemError, invalid
from gluebench.leaderboard.limits.quota import usage
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.process import GraderError
from gluebench.leaderboard.uploads.accept import accept_once, digest, sent_before
from gluebench.leaderboard.uploads.checking import free_check

RETRY_KEY = r"^[!-~]{1,64}$"

router = Router(tags=["Submitting"], auth=SIGNED_IN)


@router.post("/{slug:name}/check", response=answers(schemas.CheckFacts, 400, 403, 404, 413, 422))
def check(request: HttpRequest, name: str, file: File[UploadedFile]) -> HttpResponse:
    """The validator's full list of findings. Costs no quota; the file is not kept."""
    user = user_with(request, Scope.SUBMIT)
    benchmark = benchmark_or_404(name)
    _only(request, set())
    _within_size(file)
    try:
        return JsonResponse(free_check(benchmark, file, user.pk)["check"])
    except GraderError as failure:
        raise invalid([FieldError(field="file", message=str(failure))]) from None


@router.get("/{slug:name}/quota", response=answers(schemas.Quota, 403, 404))
def quota(request: HttpRequest, name: str) -> HttpResponse:
    """What may still be sent: of each limit what is used, what remains, and when the next one is possible."""
    user = user_with(request, Scope.READ)
    return JsonResponse(usage(benchmark_or_404(name), user).as_dict())


@router.post(
    "/{slug:name}/submissions", response=answers(schemas.SubmissionFacts, 201, 400, 403, 404, 409, 413, 422)
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
    row = Submission(
        owner=user, benchmark=benchmark, retry_key=idempotency_key, **details.dict(exclude_unset=True)
    )
    if sent_before(row) is None:
        row.clean_fields(
            exclude={field.name for field in row._meta.fields} - set(schemas.Details.model_fields)
        )
        row.clean()
    found = accept_once(row, file)
    if found is not row and (found.benchmark_id, found.sha256) != (benchmark.pk, digest(file)):
        raise ProblemError(
            409,
            "retry-key",
            f"This Idempotency-Key was used for another upload, submission {found.key}. Choose a new one.",
        )
    answer = JsonResponse(facts(found), status=201 if found is row else 200)
    answer["Location"] = f"/api/v1/submissions/{found.key}"
    return answer


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
