"""Sending a submission, following it, reading its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.report import expected_files, flat, report_tables
from gluebench.leaderboard.submissions.accept import accept
from gluebench.leaderboard.submissions.findings import findings_of
from gluebench.leaderboard.submissions.forms import SubmissionForm, UploadForm
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.process import GraderError, run_check


class SignedInRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: User


@login_required
def submit(request: SignedInRequest, name: str) -> HttpResponse:
    """The form; sends the submission, or only checks its file."""
    benchmark = get_object_or_404(Benchmark, name=name)
    if request.POST.get("action") == "check":
        return _check(request, benchmark)
    instance = Submission(owner=request.user, benchmark=benchmark)
    form = SubmissionForm(request.POST or None, request.FILES or None, instance=instance)
    if request.method == "POST" and form.is_valid():
        return redirect(accept(form.save(commit=False), form.cleaned_data["upload"]))
    return _form(request, benchmark, form)


def _check(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The validator's findings on the uploaded file, which is then forgotten."""
    form = UploadForm(request.POST, request.FILES)
    found: dict[str, Any] = {"found": None, "failure": ""}
    if form.is_valid():
        found = _findings(benchmark, form.cleaned_data["upload"])
    else:
        found["failure"] = " ".join(map(str, form.errors.get("upload", [])))
    if request.POST.get("fragment"):
        return render(request, "submissions/findings.html", found)
    again = SubmissionForm(instance=Submission(benchmark=benchmark), initial=request.POST.dict())
    return _form(request, benchmark, again, checked=True, **found)


def _findings(benchmark: Benchmark, upload: TemporaryUploadedFile) -> dict[str, Any]:
    try:
        check = run_check(benchmark.manifest_path, Path(upload.temporary_file_path()))
    except GraderError as failure:
        return {"found": None, "failure": str(failure)}
    return {"found": findings_of(check), "failure": ""}


def _form(request: HttpRequest, benchmark: Benchmark, form: SubmissionForm, **more: Any) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "files": expected_files(benchmark.record),
        "form": form,
        "here": "submit",
    }
    status = 422 if form.errors else 200
    return render(request, "submissions/submit.html", {**context, **more}, status=status)


@login_required
@require_safe
def mine(request: HttpRequest) -> HttpResponse:
    """One's own submissions, newest first."""
    found = Submission.objects.owned_by(request.user).select_related("benchmark").defer("report", "problems")
    return render(request, "submissions/mine.html", {"submissions": found[:200], "here": "mine"})


@require_safe
def submission(request: HttpRequest, key: str) -> HttpResponse:
    """A submission's page: where it stands, then its report."""
    found = _visible(request, key)
    owned = found.owner_id == request.user.pk
    tables = report_tables(found.benchmark.record, found.report) if found.report else None
    context = {"submission": found, "benchmark": found.benchmark, "owned": owned, "tables": tables}
    context["found"] = findings_of(found.problems) if owned and found.problems else None
    context["provenance"] = flat(found.report["provenance"]) if found.report else []
    return render(request, "submissions/submission.html", context)


@require_safe
def submission_json(request: HttpRequest, key: str) -> HttpResponse:
    """The page's JSON twin; the findings are for its author alone."""
    found = _visible(request, key)
    owned = found.owner_id == request.user.pk
    return JsonResponse(public_facts(found) | (private_facts(found) if owned else {}))


@require_safe
def detail(request: HttpRequest, key: str) -> HttpResponse:
    """What an expanded row of the board shows."""
    return render(request, "boards/detail.html", {"submission": _visible(request, key)})


@require_safe
def status_json(request: HttpRequest, key: str) -> HttpResponse:
    """Where it stands, for the page that waits."""
    found = _visible(request, key)
    position = found.queue_position() if found.is_open else 0
    facts = {"status": found.status, "label": found.get_status_display(), "position": position}
    return JsonResponse({**facts, "final": not found.is_open})


@login_required
@require_POST
def publish(request: HttpRequest, key: str) -> HttpResponse:
    """Show it on the board, or take it off."""
    found = get_object_or_404(Submission.objects.owned_by(request.user), key=key)
    public = request.POST.get("public") == "1"
    with transaction.atomic():
        Submission.objects.filter(pk=found.pk).update(public=public)
        Benchmark.objects.filter(pk=found.benchmark_id).touch()
    messages.success(request, "It is on the board now." if public else "It is private now.")
    return redirect(found)


@login_required
@require_safe
def download(request: HttpRequest, key: str) -> FileResponse:
    """The submitted file, to its owner alone."""
    found = get_object_or_404(Submission.objects.owned_by(request.user), key=key)
    return FileResponse(
        found.file.open("rb"), as_attachment=True, filename=found.filename, content_type="application/zip"
    )


def public_facts(submission: Submission) -> dict[str, Any]:
    """What anybody who may see a submission may know of it."""
    return {
        "key": submission.key,
        "benchmark": submission.benchmark.name,
        "name": submission.name,
        "model": submission.model,
        "team": submission.team,
        "link": submission.link,
        "description": submission.description,
        "regime": submission.regime,
        "parameters": {"total": submission.parameters, "shared": submission.shared_parameters},
        "submitted": submission.submitted.isoformat(timespec="seconds"),
        "status": submission.status,
        "public": submission.public,
        "report": submission.report,
    }


def private_facts(submission: Submission) -> dict[str, Any]:
    """What only its author sees besides."""
    return {
        "filename": submission.filename,
        "sha256": submission.sha256,
        "verdict": submission.verdict,
        "check": submission.problems or None,
        "failure": submission.failure,
    }


def _visible(request: HttpRequest, key: str) -> Submission:
    """The submission, or 404 for whoever may not know of it."""
    found = Submission.objects.visible_to(request.user).select_related("benchmark").filter(key=key).first()
    if found is None:
        raise Http404("There is no such submission, or it is not public.")
    return found
