"""Submissions: one's own, those that are public, and what their authors may do with them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from ninja import Query, Router

from gluebench.leaderboard.accounts.models import Scope
from gluebench.leaderboard.api import schemas
from gluebench.leaderboard.api.callers import ANYBODY, PUBLIC, SIGNED_IN, reader, user_with
from gluebench.leaderboard.api.paging import Asked
from gluebench.leaderboard.api.schemas import answers
from gluebench.leaderboard.common.problems import not_found
from gluebench.leaderboard.submissions import acts
from gluebench.leaderboard.submissions.facts import (
    facts_in_brief,
    private_facts,
    private_in_brief,
    public_facts,
    report_of,
    standing,
)
from gluebench.leaderboard.submissions.models import Result, Submission
from gluebench.leaderboard.submissions.requests import owned, visible

router = Router(tags=["Submissions"], auth=ANYBODY)

ZIP = {
    "responses": {200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}}
}
ACT = answers(schemas.SubmissionFacts, 403, 404)


@router.get("", response=answers(schemas.SubmissionList, 403, 422), auth=SIGNED_IN)
def submissions(request: HttpRequest, asked: Query[Asked], only: Query[schemas.Only]) -> HttpResponse:
    """One's own submissions, newest first; of one benchmark, or of one status."""
    mine = Submission.objects.owned_by(user_with(request, Scope.READ)).current().select_related("benchmark")
    if only.benchmark is not None:
        mine = mine.filter(benchmark__name=only.benchmark)
    if only.status is not None:
        mine = mine.filter(status=only.status)
    rows = mine.defer("report", "problems")
    page, found = asked.page_of(request, rows, rows.count(), **only.dict(exclude_none=True))
    return JsonResponse({**found, "items": [_line(each) for each in page]})


@router.get("/{slug:key}", response=answers(schemas.SubmissionFacts, 404), openapi_extra=PUBLIC)
def submission(request: HttpRequest, key: str) -> HttpResponse:
    """A submission with its report. Its author is told the findings of the check too."""
    found = visible(reader(request), key)
    return JsonResponse(facts(found, owned=found.owner_id == reader(request).pk))


@router.get("/{slug:key}/status", response=answers(schemas.StatusFacts, 404), openapi_extra=PUBLIC)
def status(request: HttpRequest, key: str) -> dict[str, Any]:
    """Where it stands in the queue; made to be asked for again and again."""
    return {"key": key, **standing(visible(reader(request), key))}


@router.get("/{slug:key}/report", response=answers(schemas.Report, 404), openapi_extra=PUBLIC)
def report(request: HttpRequest, key: str) -> HttpResponse:
    """The full report, as `gluebench grade --json` prints one; the policy may hold a part of it back."""
    found = visible(reader(request), key)
    whole = report_of(found)
    if whole is None:
        raise not_found(f"There is no report of {key} to show: {found.get_status_display().lower()}.")
    return JsonResponse(whole)


@router.get("/{slug:key}/history", response=answers(schemas.History, 403, 404), auth=SIGNED_IN)
def history(request: HttpRequest, key: str) -> dict[str, Any]:
    """Every grading of one's own submission and every edit, newest first."""
    found = owned(user_with(request, Scope.READ), key)
    return {
        "results": [_result(each) for each in found.results.all()],
        "edits": [{"at": each.at, "changes": each.changes} for each in found.revisions.all()],
    }


@router.get("/{slug:key}/file", response=answers(None, 403, 404), auth=SIGNED_IN, openapi_extra=ZIP)
def file(request: HttpRequest, key: str) -> FileResponse:
    """The file of one's own submission, as it was sent."""
    found = owned(user_with(request, Scope.READ), key)
    if not found.file:
        raise not_found(f"The file of {key} is no longer kept; its scores are.")
    return FileResponse(
        found.file.open("rb"), as_attachment=True, filename=found.filename, content_type="application/zip"
    )


@router.patch("/{slug:key}", response=answers(schemas.SubmissionFacts, 400, 403, 404, 422), auth=SIGNED_IN)
def edit(request: HttpRequest, key: str, changes: schemas.Changes) -> HttpResponse:
    """Say something else of one's own submission. What stood there before is kept in its history."""
    user = user_with(request, Scope.SUBMIT)
    acts.edit(owned(user, key), user, changes.dict(exclude_unset=True))
    return _again(key)


@router.post("/{slug:key}/publish", response=ACT, auth=SIGNED_IN)
def publish(request: HttpRequest, key: str) -> HttpResponse:
    """Show it on the board, once it is graded and, where the policy says so, approved."""
    acts.publish(owned(user_with(request, Scope.SUBMIT), key), public=True)
    return _again(key)


@router.post("/{slug:key}/unpublish", response=ACT, auth=SIGNED_IN)
def unpublish(request: HttpRequest, key: str) -> HttpResponse:
    """Take it off the board; it stays to be seen by its author."""
    acts.publish(owned(user_with(request, Scope.SUBMIT), key), public=False)
    return _again(key)


@router.post("/{slug:key}/withdraw", response=ACT, auth=SIGNED_IN)
def withdraw(request: HttpRequest, key: str) -> HttpResponse:
    """Take it back. It still counts against the quota, unless its grading had not begun."""
    acts.withdraw(owned(user_with(request, Scope.SUBMIT), key))
    return _again(key)


@router.post("/{slug:key}/restore", response=ACT, auth=SIGNED_IN)
def restore(request: HttpRequest, key: str) -> HttpResponse:
    """Undo a withdrawal, where its grading had begun."""
    acts.restore(owned(user_with(request, Scope.SUBMIT), key))
    return _again(key)


def _again(key: str) -> HttpResponse:
    """It as it stands after an act."""
    return JsonResponse(facts(Submission.objects.select_related("benchmark").get(key=key)))


def facts(submission: Submission, *, owned: bool = True) -> dict[str, Any]:
    """All that its author may know of a submission, or whoever else may see it."""
    return public_facts(submission) | (private_facts(submission) if owned else {}) | _where_it_is(submission)


def _line(submission: Submission) -> dict[str, Any]:
    """A submission in its author's list, with its score alone of all the report."""
    found = facts_in_brief(submission) | private_in_brief(submission) | _where_it_is(submission)
    return found | {"score": (submission.scores or {}).get("score")}


def _where_it_is(submission: Submission) -> dict[str, Any]:
    return {
        "url": submission.get_absolute_url(),
        "listed": submission.is_listed,
        "published": _moment(submission.published),
        "withdrawn": _moment(submission.withdrawn),
        "why": submission.why,
    }


def _moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def _result(result: Result) -> dict[str, Any]:
    """A grading. Which labels it was graded on is not told: of a small set, a digest tells them."""
    return {
        "at": result.created,
        "why": result.why,
        "package": result.package,
        "verdict": result.verdict,
        "score": (result.scores or {}).get("score"),
    }
