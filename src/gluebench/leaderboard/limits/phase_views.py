"""Pages of phases: the organizer's timeline with its forms, and the author's choice of what counts."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from gluebench.leaderboard.accounts.models import SignedInRequest, account_name
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.limits.forms import RemovalForm
from gluebench.leaderboard.limits.phase_acts import PhaseError, delete_phase, extend, save_phase
from gluebench.leaderboard.limits.phase_forms import ExtensionForm, PhaseForm
from gluebench.leaderboard.phases.models import Phase
from gluebench.leaderboard.phases.wording import described, phase_sentences
from gluebench.leaderboard.submissions import acts
from gluebench.leaderboard.submissions.feedback import explained
from gluebench.leaderboard.submissions.views import for_organizers, owned, render_tab


@for_organizers()
def phases(request: SignedInRequest, benchmark: Benchmark, pk: int | None = None) -> HttpResponse:
    """The phases in their order, and the forms that add or change one, extend its deadline, or delete it."""
    row = Phase(benchmark=benchmark)
    if pk is not None:
        row = get_object_or_404(benchmark.phases.select_related("benchmark"), pk=pk)
    if request.method != "POST":
        return _page(request, row)
    act = _ACTS.get(request.POST.get("act", "")) if pk is not None else None
    return (act or _save)(request, row)


def _extend(request: SignedInRequest, row: Phase) -> HttpResponse:
    form = ExtensionForm(row, request.POST)
    if not form.is_valid():
        return _page(request, row, extension_form=form)
    extend(row, actor=request.user, **form.cleaned_data)
    messages.success(request, f"The new deadline is {row.text_of(form.cleaned_data['closes'])}.")
    return redirect("phase", row.benchmark.name, row.pk)


def _delete(request: SignedInRequest, row: Phase) -> HttpResponse:
    form = RemovalForm(request.POST)
    problem = "" if form.is_valid() else f"Nothing was deleted: {' '.join(map(str, form.errors['reason']))}"
    try:
        if not problem:
            delete_phase(row, request.user, form.cleaned_data["reason"])
    except PhaseError as error:
        problem = str(error)
    (messages.error if problem else messages.success)(request, problem or f"The phase {row} is deleted.")
    return redirect("phases", row.benchmark.name)


_ACTS = {"extend": _extend, "delete": _delete}


@login_required
@require_POST
def choose(request: HttpRequest, key: str) -> HttpResponse:
    """The author chooses a submission to count in its phase, or no longer."""
    row, chosen = owned(request.user, key), request.POST.get("chosen") == "1"
    try:
        acts.choose(row, row.owner, chosen=chosen)
    except acts.ChoiceError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "You chose it to count." if chosen else "It is not chosen any more.")
    return redirect(row)


def _save(request: SignedInRequest, row: Phase) -> HttpResponse:
    """Save a phase, or show what participants will read."""
    form = PhaseForm(request.POST, instance=row)
    if not form.is_valid():
        return _page(request, row, form=form)
    changed = form.save(commit=False)
    if request.POST.get("act") == "preview":
        lines = [changed.span, *phase_sentences(changed), *explained(changed.benchmark, changed)]
        return _page(request, row, form=form, preview=lines)
    changes = save_phase(changed, request.user, form.cleaned_data.get("reason", ""))
    messages.success(request, f"{changed} is saved." if changes else "Nothing was changed.")
    return redirect("phases", changed.benchmark.name)


def _page(request: SignedInRequest, row: Phase, **context: Any) -> HttpResponse:
    benchmark, stored = row.benchmark, row.pk is not None
    listed = described(benchmark, planned=True)
    for line in listed:
        line["count"] = line["phase"].submissions.filter(late=False).count()
        line["late"] = line["phase"].submissions.filter(late=True).count()
    extensions: list[Any] = list(row.extensions.select_related("user", "team", "by")) if stored else []
    for extension in extensions:
        person = account_name(extension.user, request.user) if extension.user else extension.team
        extension.whose = "Everybody" if extension.for_all else person
        extension.until = row.text_of(extension.closes)
    context = {
        "form": PhaseForm(instance=row),
        "extension_form": ExtensionForm(row) if stored and row.closes else None,
        **context,
        "phases": listed,
        "extensions": extensions,
        "phase": Phase.objects.get(pk=row.pk) if stored else None,
    }
    return render_tab(request, benchmark, "phases", context, template="limits/phases.html")
