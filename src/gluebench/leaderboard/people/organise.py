"""The organiser's pages of studies: draw, invite, follow, score, give back."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from gluebench.data import DataError
from gluebench.leaderboard.accounts.models import SignedInRequest, account_name
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.page_cache import as_download
from gluebench.leaderboard.people import studies
from gluebench.leaderboard.people.forms import StudyForm
from gluebench.leaderboard.people.models import BLANK, Annotator, Study
from gluebench.leaderboard.people.work import score_study
from gluebench.leaderboard.submissions.requests import organised

SETTINGS = {
    "open": ("open", True, "Annotators may answer again."),
    "close": ("open", False, "It is closed: nobody may answer any more."),
    "publish": ("public", True, "Everybody sees what came of it."),
    "hide": ("public", False, "Only organisers see what came of it."),
}
"""Buttons that set a column of a study, and what is said then."""


@login_required
def overview(request: SignedInRequest, name: str) -> HttpResponse:
    """The benchmark's studies, and the form that draws another."""
    benchmark = organised(request, name)
    sent = request.method == "POST"
    form = StudyForm(benchmark, request.POST if sent else None, request.FILES if sent else None)
    if sent and form.is_valid():
        made = _make(benchmark, form, request)
        if made is not None:
            return redirect("organise-study", benchmark.name, made.key)
    context = {"form": form, "studies": benchmark.studies.all(), "possible": bool(form.tasks)}
    return _render(request, benchmark, "overview", context, status=422 if form.errors else 200)


def _make(benchmark: Benchmark, form: StudyForm, request: SignedInRequest) -> Study | None:
    values = form.cleaned_data
    try:
        study = studies.make(
            benchmark,
            values["table"],
            pairs=values["pairs"],
            annotators=values["annotators"],
            seed=values["seed"],
            invited=values["accounts"],
            by=request.user,
        )
    except DataError as error:
        form.add_error("examples", list(error.problems))
        return None
    unsent = [each for each in study.annotators.exclude(user=None) if not _invite(each, request)]
    messages.success(request, f"{study.items} examples are drawn for {values['annotators']} annotators.")
    if unsent:
        messages.warning(request, f"{len(unsent)} messages could not be sent; send the links yourself.")
    return study


def _invite(annotator: Annotator, request: HttpRequest) -> bool:
    """Send an invited account its link; returns whether that could be done."""
    assert annotator.user is not None
    title = annotator.study.benchmark.title
    address = request.build_absolute_uri(annotator.get_absolute_url())
    text = (
        f"An organiser of {title} asks you to label {annotator.study.items} pairs of sentences, to find out "
        "how well people do. You can stop at any time and go on later. Sign in with this email address "
        f"here:\n\n{address}\n"
    )
    try:
        return send_mail(f"Labelling for {title}", text, None, [annotator.user.email]) == 1
    except OSError:  # smtplib's errors are such too
        return False


@login_required
def one(request: SignedInRequest, name: str, key: str) -> HttpResponse:
    """A study: how far its annotators are, their links, and what can be done with it."""
    benchmark = organised(request, name)
    study = get_object_or_404(benchmark.studies.select_related("benchmark"), key=key)
    if request.method == "POST":
        return _act(request, study)
    blanks = Count("answers", filter=Q(answers__label=BLANK))
    progress = study.annotators.annotate(done=Count("answers"), blanks=blanks, last=Max("answers__at"))
    rows: list[Any] = list(progress.select_related("user"))
    for row in rows:
        row.address = request.build_absolute_uri(row.get_absolute_url())
        row.account = account_name(row.user, request.user) if row.user else ""
    answered = any(row.done for row in rows)
    context = {"study": study, "annotators": rows, "answered": answered, "task": study.record}
    return _render(request, benchmark, "study", context)


def _act(request: SignedInRequest, study: Study) -> HttpResponse:
    """Do what a button asks for; an unknown one does nothing."""
    act = request.POST.get("act", "")
    with transaction.atomic():
        said = _done(study, act, request.POST.get("number", ""))
        if said:
            record(f"people {act}", actor=request.user, benchmark=study.benchmark, study=study.key)
            Benchmark.objects.filter(pk=study.benchmark_id).touch()
            messages.success(request, said)
    if act == "delete":
        return redirect("organise-people", study.benchmark.name)
    return redirect("organise-study", study.benchmark.name, study.key)


def _done(study: Study, act: str, number: str) -> str:
    """Do it, and say what was done; nothing for an unknown act."""
    if act in SETTINGS:
        name, value, said = SETTINGS[act]
        Study.objects.filter(pk=study.pk).update(**{name: value})
        return said
    if act == "score":
        score_study.enqueue(study.pk)
        return "It is being scored; load this page again in a few seconds."
    if act == "renew":
        found = study.annotators.filter(number=int(number) if number.isdecimal() else 0).first()
        if found is None:
            return "There is no such annotator."
        found.renew()
        return f"{found} has another link; the old one is not valid any more."
    if act == "delete":
        study.delete()
        return "The study is deleted, with all its answers."
    return ""


@login_required
@require_safe
def download(request: SignedInRequest, name: str, key: str) -> HttpResponse:
    """The sheets with the answers so far, as `gluebench annotate score` reads them."""
    study = get_object_or_404(organised(request, name).studies, key=key)
    response = HttpResponse(studies.as_zip(study), content_type="application/zip")
    return as_download(response, f"{study.task}-people-{study.key}.zip")


def _render(
    request: HttpRequest, benchmark: Benchmark, page: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    context |= {"benchmark": benchmark, "here": "organise", "tab": "people", "mail": settings.RUNNING.mail}
    return render(request, f"people/{page}.html", context, status=status)
