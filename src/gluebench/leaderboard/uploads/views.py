"""The page that takes a submission: the form, the free check, and sending."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.benchmarks.data_files import named_for_commands
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.problems import ProblemError
from gluebench.leaderboard.limits.gate import QuotaError, refused
from gluebench.leaderboard.submissions import feedback
from gluebench.leaderboard.submissions.findings import findings_of
from gluebench.leaderboard.submissions.forms import SubmissionForm, UploadForm
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.process import GraderError
from gluebench.leaderboard.submissions.report import expected_files
from gluebench.leaderboard.submissions.requests import wants_json
from gluebench.leaderboard.uploads.accept import accept_once, digest, free_check


@login_required
def submit(request: SignedInRequest, name: str) -> HttpResponse:
    """The form; sends the submission, or only checks its file."""
    benchmark = get_object_or_404(Benchmark, name=name)
    if request.POST.get("action") == "check":
        return _check(request, benchmark)
    instance = Submission(owner=request.user, benchmark=benchmark, group=request.user.team)
    form = SubmissionForm(request.POST or None, request.FILES or None, instance=instance)
    if request.method != "POST":
        return _form(request, benchmark, form)
    if not form.is_valid():
        return _refused(request, benchmark, form)
    try:
        taken = _take(form, instance)
    except QuotaError as refusal:
        form.add_error(None, str(refusal))
        return refused(_refused(request, benchmark, form), refusal)
    if wants_json(request):
        return JsonResponse({"url": taken.get_absolute_url()}, status=201)
    return redirect(taken)


def _refused(request: HttpRequest, benchmark: Benchmark, form: SubmissionForm) -> HttpResponse:
    """What is wrong, beside each field; to the page's script as JSON, so that the file stays chosen."""
    if wants_json(request):
        return JsonResponse({"errors": form.errors}, status=422)
    return _form(request, benchmark, form)


def _take(form: SubmissionForm, submission: Submission) -> Submission:
    """Take it in, unless this very page and file were sent before: then it is the one that is there."""
    upload, page = form.cleaned_data["upload"], form.cleaned_data["retry_key"]
    form.save(commit=False)
    submission.sha256 = digest(upload)
    if page:  # one key for each file that a page sends to a benchmark
        key = f"{page} {submission.benchmark_id} {submission.sha256}"
        submission.retry_key = hashlib.sha256(key.encode()).hexdigest()
    return accept_once(submission, upload)


def _check(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """The validator's findings on the uploaded file, which is then forgotten."""
    form = UploadForm(request.POST, request.FILES)
    found: dict[str, Any] = {"found": None, "failure": ""}
    refusal: ProblemError | None = None
    if form.is_valid():
        try:
            check = free_check(benchmark, form.cleaned_data["upload"], request.user.pk)
            found["found"] = findings_of(check)
        except GraderError as failure:
            found["failure"] = str(failure)
        except ProblemError as error:
            refusal = error
            found["failure"] = error.detail
    else:
        found["failure"] = " ".join(map(str, form.errors.get("upload", [])))
    if request.POST.get("fragment"):
        answer = render(request, "submissions/findings.html", found)
    else:
        again = SubmissionForm(instance=Submission(benchmark=benchmark), initial=request.POST.dict())
        answer = _form(request, benchmark, again, checked=True, **found)
    if refusal is not None:
        answer.status_code = refusal.status
        answer["Retry-After"] = refusal.headers["Retry-After"]
    return answer


def _form(request: HttpRequest, benchmark: Benchmark, form: SubmissionForm, **more: Any) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "files": expected_files(benchmark.record),
        "form": form,
        "policy_sentences": feedback.explained(benchmark),
        "organised": benchmark.organised_by(request.user),
        "named": named_for_commands(benchmark, request.build_absolute_uri(benchmark.get_absolute_url())),
        "here": "submit",
    }
    status = 422 if form.errors else 200
    return render(request, "submissions/submit.html", {**context, **more}, status=status)
