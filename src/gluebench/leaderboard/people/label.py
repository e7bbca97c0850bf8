"""The annotators' pages: instructions, then one pair a page."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from gluebench.leaderboard.people import studies
from gluebench.leaderboard.people.models import BLANK, Annotator


def start(request: HttpRequest, code: str) -> HttpResponse:
    """What to do, how far one is, and where to go on."""
    annotator = _invited(request, code)
    if isinstance(annotator, HttpResponse):
        return annotator
    context = _context(annotator, annotator.given())
    return render(request, "people/start.html", context)


def place(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """One pair; an answer leads to the next one without an answer."""
    annotator = _invited(request, code)
    if isinstance(annotator, HttpResponse):
        return annotator
    given = annotator.given()
    shown = studies.place_of(annotator, number, given)
    if shown is None:
        raise Http404("There is no such place.")
    if not annotator.study.open:
        return redirect("label", code)
    label = request.POST.get("label") if request.method == "POST" else None
    if label is not None and label in (*annotator.study.record.words, BLANK):
        studies.answer(annotator, shown["item"], label)
        following = studies.progress_of(annotator, {**given, shown["item"]: label}, after=number)["next"]
        return redirect("label-place", code, following) if following else redirect("label", code)
    missing = request.method == "POST"
    context = _context(annotator, given) | {"place": shown, "missing": missing}
    return render(request, "people/place.html", context, status=422 if missing else 200)


def _context(annotator: Annotator, given: dict[int, str]) -> dict[str, Any]:
    task = annotator.study.record
    return {
        "annotator": annotator,
        "study": annotator.study,
        "task": task,
        "first": task.columns[0],
        "second": task.columns[-1],
        "progress": studies.progress_of(annotator, given),
    }


def _invited(request: HttpRequest, code: str) -> Annotator | HttpResponse:
    """The annotator of that link; or the way to sign in, where an account was invited."""
    rows = Annotator.objects.select_related("study__benchmark")
    found = rows.filter(code=code).first()
    if found is None:
        raise Http404("This link is not valid; ask whoever sent it for the present one.")
    if found.user_id is not None and not request.user.is_authenticated:
        return redirect_to_login(reverse("label", args=[code]))
    if found.user_id is not None and found.user_id != request.user.pk:
        raise Http404("This link belongs to another account.")
    return found
