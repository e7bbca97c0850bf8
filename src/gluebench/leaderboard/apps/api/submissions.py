"""Submissions: sending and checking them, reading them, and what their authors may do with theirs."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile as Uploaded
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from ninja import Field, File, Form, Header, Query, Router, Schema
from ninja.files import UploadedFile
from pydantic import BeforeValidator, StringConstraints, create_model

from gluebench.leaderboard.apps.accounts.models import Scope
from gluebench.leaderboard.apps.api import schemas
from gluebench.leaderboard.apps.api.benchmarks import benchmark_or_404
from gluebench.leaderboard.apps.api.callers import ANYBODY, PUBLIC, SIGNED_IN, reader, user_with
from gluebench.leaderboard.apps.api.schemas import Paging, answers
from gluebench.leaderboard.apps.common.fields import FIELDS
from gluebench.leaderboard.apps.common.fields import Field as Described
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.problems import FieldError, ProblemError, invalid, not_found
from gluebench.leaderboard.apps.ledger.views import TEXT, receipt_of
from gluebench.leaderboard.apps.limits.quota import usage
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions import facts as values
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.process import GraderError
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.apps.submissions.views import file_response, own_submission, visible
from gluebench.leaderboard.apps.uploads.accept import (
    accept_once,
    digest,
    earlier_attempt,
    free_check,
    reproducible,
    upload_started_at,
)

router = Router(tags=["Submissions"], auth=ANYBODY)
sending = Router(tags=["Submitting"], auth=SIGNED_IN)
"""Routes below a benchmark: uploads are taken as on the page, with a key for retries."""

RETRY_KEY = r"^[!-~]{1,64}$"

ZIP = {
    "responses": {200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}}
}
NOTE = {"responses": {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}}
ACT = answers(schemas.SubmissionDetail, 403, 404, 409)


def _reject_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("Give a number, not true or false.")
    return value


def _parse_flag(value: Any) -> bool:
    """A flag that a form sends as text: only "true" and "false" are taken."""
    flag = {"true": True, "false": False}.get(str(value).lower())
    if flag is None:
        raise ValueError("Give true or false.")
    return flag


Flag = Annotated[bool, BeforeValidator(_parse_flag)]
PATTERNS = {"text": r"^[^\x00]*$", "address": r"^(https?://\S+)?$"}


def _member(field: Described, *, sent: bool) -> tuple[Any, Any]:
    """Type and default of a field; when a submission is `sent`, some are required."""
    column: Any = Submission._meta.get_field(field.name)
    default = column.get_default()
    shape: Any = type(default)  # for a choice, its enumeration
    if field.is_numeric:
        limits = Field(ge=field.least, le=field.most)
        number = int if field.kind == "count" else float
        shape = Annotated[number, limits, BeforeValidator(_reject_bool)] | None
    elif field.kind != "choice":
        limits = StringConstraints(
            strip_whitespace=True,
            min_length=1 if field.required else None,
            max_length=column.max_length,
            pattern=PATTERNS.get(field.kind),
        )
        shape = Annotated[str, limits]
    return shape, Field(... if sent and field.required else default, description=field.help)


CHANGED = {name: _member(field, sent=False) for name, field in FIELDS.items()}
SENT = {name: _member(field, sent=True) for name, field in FIELDS.items()}


class SubmissionChanges(create_model("Changes", __base__=schemas.Strict, **CHANGED)):  # type: ignore[misc]
    """Fields that an author edits. Those that are not sent stay as they are."""


class Details(create_model("Details", __base__=schemas.Strict, **SENT)):  # type: ignore[misc]
    """The fields of a new submission."""

    public: Flag = False
    """Whether the board shows it once it is graded."""
    reproduces: str | None = Field(None, pattern=r"^[0-9A-Za-z]{1,12}$")
    """Key of another party's public row that this is a second run of; `team` says who ran it."""


class SubmissionFilter(Schema):
    """Filters of a list of submissions."""

    benchmark: str | None = Field(None, pattern=r"^[-a-zA-Z0-9_]{1,80}$")
    status: Status | None = None


@router.get("", response=answers(schemas.SubmissionList, 403, 422), auth=SIGNED_IN)
def submissions(request: HttpRequest, paging: Query[Paging], only: Query[SubmissionFilter]) -> HttpResponse:
    """The submissions of the caller and the caller's team, newest first; of one benchmark or status."""
    mine = Submission.objects.managed_by(user_with(request, Scope.READ)).current().select_related("benchmark")
    if only.benchmark is not None:
        mine = mine.filter(benchmark__name=only.benchmark)
    if only.status is not None:
        mine = mine.filter(status=only.status)
    rows = mine.defer("report", "problems")
    page, paged = paging.page_of(request, rows, **only.dict(exclude_none=True))
    return JsonResponse({**paged, "items": [_submission_line(row) for row in page]})


@router.get("/{slug:key}", response=answers(schemas.SubmissionDetail, 404), openapi_extra=PUBLIC)
def submission(request: HttpRequest, key: str) -> HttpResponse:
    """A submission with its report. Its author also gets the problems of the check."""
    submission = visible(reader(request), key)
    return JsonResponse(facts(submission, owned=submission.is_managed_by(reader(request))))


@router.get("/{slug:key}/status", response=answers(schemas.SubmissionStatus, 404), openapi_extra=PUBLIC)
def status(request: HttpRequest, key: str) -> Values:
    """Its status and its position in the queue; cheap enough to poll."""
    return {"key": key, **values.queue_status(visible(reader(request), key))}


@router.get("/{slug:key}/report", response=answers(schemas.Report, 404), openapi_extra=PUBLIC)
def report(request: HttpRequest, key: str) -> HttpResponse:
    """The full report, as `gluebench grade --json` prints one; the policy may hold a part of it back."""
    submission = visible(reader(request), key)
    whole = values.report_of(submission)
    if whole is None:
        raise not_found(f"There is no report of {key} to show: {submission.get_status_display().lower()}.")
    return JsonResponse(whole)


@router.get("/{slug:key}/history", response=answers(schemas.History, 403, 404), auth=SIGNED_IN)
def history(request: HttpRequest, key: str) -> Values:
    """Every grading of one's own submission and every edit, newest first."""
    submission = own_submission(user_with(request, Scope.READ), key)
    return {
        # Without the digest of its labels, which could reveal those of a small set.
        "results": [
            {
                "at": result.created,
                "why": result.why,
                "package": result.package,
                "verdict": result.verdict,
                "score": (result.scores or {}).get("score"),
            }
            for result in submission.results.all()
        ],
        "edits": [{"at": edit.at, "changes": edit.changes} for edit in submission.revisions.all()],
    }


@router.get("/{slug:key}/file", response=answers(None, 403, 404), auth=SIGNED_IN, openapi_extra=ZIP)
def file(request: HttpRequest, key: str) -> FileResponse:
    """The file of one's own submission, as it was sent."""
    row = own_submission(user_with(request, Scope.READ), key)
    if not row.file:
        raise not_found(f"The file of {key} is no longer kept; its scores are.")
    return file_response(row)


@router.get("/{slug:key}/receipt", response=answers(None, 403, 404), auth=SIGNED_IN, openapi_extra=NOTE)
def receipt(request: HttpRequest, key: str) -> HttpResponse:
    """The signed receipt of one's own submission: file hash, time, benchmark and version of its labels."""
    return HttpResponse(receipt_of(own_submission(user_with(request, Scope.READ), key)), content_type=TEXT)


@router.patch("/{slug:key}", response=answers(schemas.SubmissionDetail, 400, 403, 404, 422), auth=SIGNED_IN)
def edit(request: HttpRequest, key: str, changes: SubmissionChanges) -> HttpResponse:
    """Change fields of one's own submission. Its history keeps the former values."""
    user = user_with(request, Scope.SUBMIT)
    acts.edit(own_submission(user, key), user, changes.dict(exclude_unset=True))
    return JsonResponse(facts(own_submission(user, key)))


def _act_of_author(name: str, does: str) -> Callable[[HttpRequest, str], HttpResponse]:
    def operation(request: HttpRequest, key: str) -> HttpResponse:
        user = user_with(request, Scope.SUBMIT)
        return JsonResponse(facts(acts.OF_AUTHORS[name](own_submission(user, key), user)))

    operation.__name__ = name
    operation.__doc__ = does
    return operation


for _name, _does in acts.WORDS["does"].items():
    router.post(f"/{{slug:key}}/{_name}", response=ACT, auth=SIGNED_IN)(_act_of_author(_name, _does))


REPLACED = answers(schemas.SubmissionDetail, 201, 403, 404, 409, 413, 422)


@router.post("/{slug:key}/replace", response=REPLACED, auth=SIGNED_IN)
def replace(request: HttpRequest, key: str, file: File[UploadedFile]) -> HttpResponse:
    """Send another file for one's own that is not valid, which keeps its address and fields."""
    user = user_with(request, Scope.SUBMIT)
    earlier = own_submission(user, key)
    _require_known_fields(request, set())
    _within_size(file)
    row = Submission(owner=user, benchmark=earlier.benchmark, began=upload_started_at(request))
    return JsonResponse(facts(accept_once(row, file, replaces=earlier)), status=201)


def facts(submission: Submission, *, owned: bool = True) -> Values:
    """All that the author of a submission may know or, unless `owned`, its other readers."""
    facts_of = values.author_facts if owned else values.public_facts
    return facts_of(submission) | _publication(submission)


def _submission_line(submission: Submission) -> Values:
    """A submission in its author's list; of its report, only the score."""
    brief = values.facts_in_brief(submission) | values.private_in_brief(submission)
    return {**brief, **_publication(submission), "score": (submission.scores or {}).get("score")}


def _publication(submission: Submission) -> Values:
    return {
        "url": submission.get_absolute_url(),
        "listed": submission.is_listed,
        "published": _moment(submission.published),
        "withdrawn": _moment(submission.withdrawn),
        "chosen": _moment(submission.chosen),
        "apart": submission.why_apart,
        "why": submission.why,
        "reproduces": submission.reproduces and submission.reproduces.key,
    }


def _moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


@sending.post("/{slug:name}/check", response=answers(schemas.CheckReport, 400, 403, 404, 413, 422))
def check(request: HttpRequest, name: str, file: File[UploadedFile]) -> HttpResponse:
    """The validator's full list of problems. Costs no quota; the file is not kept."""
    user = user_with(request, Scope.SUBMIT)
    benchmark = benchmark_or_404(request, name)
    _require_known_fields(request, set())
    _within_size(file)
    try:
        return JsonResponse(free_check(benchmark, file, user.pk)["check"])
    except GraderError as failure:
        raise invalid([FieldError(field="file", message=str(failure))]) from None


@sending.get("/{slug:name}/quota", response=answers(schemas.Quota, 403, 404))
def quota(request: HttpRequest, name: str) -> HttpResponse:
    """The remaining quota: of each limit what is used, what remains, and when the next one is possible."""
    user = user_with(request, Scope.READ)
    return JsonResponse(usage(benchmark_or_404(request, name), user).as_dict())


@sending.post(
    "/{slug:name}/submissions", response=answers(schemas.SubmissionDetail, 201, 400, 403, 404, 409, 413, 422)
)
def submit(
    request: HttpRequest,
    name: str,
    details: Form[Details],
    file: File[UploadedFile],
    idempotency_key: str | None = Header(  # type: ignore[type-arg]
        None, alias="Idempotency-Key", pattern=RETRY_KEY
    ),
) -> HttpResponse:
    """Send a submission: one zip and its fields. It is stored once this answers, and graded soon after.

    With an Idempotency-Key, sending the same file again answers 200 with the submission that is there
    already; another file under the same key is refused with 409.
    """
    user = user_with(request, Scope.SUBMIT)
    benchmark = benchmark_or_404(request, name)
    _require_known_fields(request, set(Details.model_fields))
    _within_size(file)
    row = Submission(
        owner=user,
        benchmark=benchmark,
        retry_key=idempotency_key,
        began=upload_started_at(request),
        **details.dict(exclude_unset=True, exclude={"reproduces"}),
    )
    if details.reproduces is not None:
        row.reproduces = reproducible(user, details.reproduces)
        if row.reproduces.benchmark_id != benchmark.pk:
            raise not_found(f"{details.reproduces} is of another benchmark.")
        if row.public or not row.team:
            message = "A reproduction is never public, and says in `team` who made it."
            raise invalid([FieldError(field="public" if row.public else "team", message=message)])
    if earlier_attempt(row) is None:
        row.clean_fields(exclude={field.name for field in row._meta.fields} - set(Details.model_fields))
        row.clean()
    stored = accept_once(row, file)
    if stored is not row and (stored.benchmark_id, stored.sha256) != (benchmark.pk, digest(file)):
        raise ProblemError(
            409,
            "retry-key",
            f"This Idempotency-Key was used for another upload, submission {stored.key}. Choose a new one.",
        )
    answer = JsonResponse(facts(stored), status=201 if stored is row else 200)
    answer["Location"] = reverse("api:submission", args=[stored.key])
    return answer


def _require_known_fields(request: HttpRequest, fields: set[str]) -> None:
    """Refuse fields that are mistyped, that only the site sets, or that come twice."""
    unknown = sorted(set(request.POST) - fields) + sorted(set(request.FILES) - {"file"})
    if unknown:
        raise invalid([FieldError(field=name, message="There is no such field.") for name in unknown])
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
