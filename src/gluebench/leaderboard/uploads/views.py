"""The pages that take a file: to submit it, to check it only, and to replace one that is not valid."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_http_methods

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.benchmarks.data_files import named_for_commands
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.problems import ProblemError
from gluebench.leaderboard.limits import quota
from gluebench.leaderboard.submissions import feedback
from gluebench.leaderboard.submissions.acts import ReplaceError, require_replaceable
from gluebench.leaderboard.submissions.forms import SubmissionForm, UploadForm
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.process import GraderError
from gluebench.leaderboard.submissions.report import expected_files
from gluebench.leaderboard.submissions.requests import owned, wants_json
from gluebench.leaderboard.uploads.accept import accept_once, digest, sent_before
from gluebench.leaderboard.uploads.checking import Held, Question, look, objection, place_of

Page = Callable[..., HttpResponse]
"""Shows the form again, with what else the page says."""


@login_required
def submit(request: SignedInRequest, name: str) -> HttpResponse:
    """The form; sends the submission, or only checks its file."""
    benchmark = get_object_or_404(Benchmark, name=name)
    instance = Submission(owner=request.user, benchmark=benchmark, group=request.user.team)

    def page(form: SubmissionForm, **more: Any) -> HttpResponse:
        context: dict[str, Any] = {
            "files": expected_files(benchmark.record),
            "policy_sentences": feedback.explained(benchmark),
            "organised": benchmark.organised_by(request.user),
            "named": named_for_commands(benchmark, request.build_absolute_uri(benchmark.get_absolute_url())),
        }
        return _page(request, "submissions/submit.html", benchmark, form, **context, **more)

    if request.POST.get("action") == "check":
        again = SubmissionForm(instance=Submission(benchmark=benchmark), initial=request.POST.dict())
        return _check(request, benchmark, lambda **more: page(again, **more))
    if request.method != "POST":
        return page(SubmissionForm(instance=instance))
    form = SubmissionForm(request.POST, _files(request), instance=instance)
    return _send(request, form, instance, page)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def replace(request: SignedInRequest, key: str) -> HttpResponse:
    """Send another file in the place of one that is not valid."""
    earlier = owned(request.user, key)
    benchmark = earlier.benchmark

    def page(form: UploadForm, **more: Any) -> HttpResponse:
        return _page(request, "submissions/replace.html", benchmark, form, submission=earlier, **more)

    if request.POST.get("action") == "check":
        return _check(request, benchmark, lambda **more: page(UploadForm(), **more))
    if request.method == "POST":
        instance = Submission(owner=request.user, benchmark=benchmark, group=request.user.team)
        form = UploadForm(request.POST, _files(request))
        return _send(request, form, instance, page, replaces=earlier)
    if not earlier.is_replaceable:
        raise Http404("Only a file that is not valid can be replaced.")
    return page(UploadForm())


def _files(request: SignedInRequest) -> MultiValueDict[str, UploadedFile[Any]] | None:
    """The files that were sent or, if a button or an empty field asks for them, those kept for this page."""
    use = request.POST.get("use")
    held = Held.find(request.user.pk, request.POST.get("kept", ""))
    if held is None or (request.FILES and use != "fixed"):
        return request.FILES or None
    file = held.file("fixed" if use == "fixed" else "own")
    return MultiValueDict({"upload": [file]} if file else {})


def _send(
    request: SignedInRequest,
    form: UploadForm,
    submission: Submission,
    page: Page,
    replaces: Submission | None = None,
) -> HttpResponse:
    """Take the upload in, or say what keeps it out."""
    if not form.is_valid():
        return _refused(request, form, page)
    upload = form.cleaned_data["upload"]
    try:
        _name(form, submission, upload)
        taken = sent_before(submission)
        if taken is None:
            if replaces is not None:
                require_replaceable(replaces)
            quota.ask(submission)
            question = objection(submission, upload, sure=request.POST.get("use") == "own")
            if question is not None:
                return _ask(request, form, page, question, submission.benchmark)
            taken = accept_once(submission, upload, replaces=replaces)
    except quota.QuotaError as refusal:
        form.add_error(None, str(refusal))
        return quota.refused(_refused(request, form, page), refusal)
    except ReplaceError as refusal:
        form.add_error(None, str(refusal))
        return _refused(request, form, page)
    if wants_json(request):
        return JsonResponse({"url": taken.get_absolute_url()}, status=201)
    return redirect(taken)


def _name(form: UploadForm, submission: Submission, upload: UploadedFile[Any]) -> None:
    """Fill in the row, and name the upload: a page sends a file to a benchmark once."""
    if isinstance(form, SubmissionForm):
        form.save(commit=False)
    submission.sha256 = digest(upload)
    if page := form.cleaned_data["retry_key"]:
        key = f"{page} {submission.benchmark_id} {submission.sha256}"
        submission.retry_key = hashlib.sha256(key.encode()).hexdigest()


def _refused(request: SignedInRequest, form: UploadForm, page: Page) -> HttpResponse:
    """What is wrong, beside each field; to the page's script as JSON, so that the file stays chosen."""
    if wants_json(request):
        return JsonResponse({"errors": form.errors}, status=422)
    upload = form.cleaned_data.get("upload")
    if upload is None or not place_of(upload).exists():  # the storage has moved it
        return page(form)
    held = Held.new(request.user.pk)
    held.keep(upload, own=True)
    return page(form, held=held)


def _ask(
    request: SignedInRequest, form: UploadForm, page: Page, question: Question, benchmark: Benchmark
) -> HttpResponse:
    """Show the findings of the check, or a twin, and what its sender may choose."""
    context = {"asked": question, "found": question.found}
    if wants_json(request):
        html = render_to_string("submissions/findings.html", {**context, "benchmark": benchmark}, request)
        return JsonResponse({"findings": html}, status=422)
    return page(form, status=422, held=Held.find(request.user.pk, question.kept), **context)


def _check(request: SignedInRequest, benchmark: Benchmark, page: Page) -> HttpResponse:
    """The validator's findings on the uploaded file, of which only a fixed copy is kept."""
    form = UploadForm(request.POST, _files(request))
    context: dict[str, Any] = {"found": None, "failure": " ".join(map(str, form.errors.get("upload", [])))}
    refusal: ProblemError | None = None
    if form.is_valid():
        try:
            question = look(benchmark, form.cleaned_data["upload"], request.user.pk, own=False)
            context |= {"asked": question, "found": question.found}
        except GraderError as failure:
            context["failure"] = str(failure)
        except ProblemError as error:
            refusal = error
            context["failure"] = error.detail
    if request.POST.get("fragment"):
        answer = render(request, "submissions/findings.html", {**context, "benchmark": benchmark})
    else:
        answer = page(checked=True, **context)
    if refusal is not None:
        answer.status_code = refusal.status
        answer["Retry-After"] = refusal.headers["Retry-After"]
    return answer


def _page(
    request: HttpRequest,
    template: str,
    benchmark: Benchmark,
    form: UploadForm,
    *,
    status: int = 200,
    held: Held | None = None,
    **context: Any,
) -> HttpResponse:
    """The form's page. A kept file need not be chosen again."""
    form.fields["upload"].required = held is None or held.file("own") is None
    context |= {"benchmark": benchmark, "form": form, "held": held, "here": "submit"}
    return render(request, template, context, status=422 if form.errors else status)
