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
def phases(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """The phases in their order, and the form that adds one."""
    return _edited(request, Phase(benchmark=benchmark))


@for_organizers()
def phase(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The form that changes a phase."""
    return _edited(request, get_object_or_404(benchmark.phases.select_related("benchmark"), pk=pk))


@for_organizers(require_POST)
def phase_extend(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Give everybody, a person or a team a later deadline."""
    row = get_object_or_404(benchmark.phases.select_related("benchmark"), pk=pk)
    form = ExtensionForm(row, request.POST)
    if not form.is_valid():
        return _page(request, row, extension_form=form)
    closes, who, reason = (form.cleaned_data[name] for name in ("closes", "who", "reason"))
    extend(row, closes, who=who, actor=request.user, reason=reason)
    messages.success(request, f"The new deadline is {row.text_of(closes)}, and is announced on the board.")
    return redirect("phase", benchmark.name, pk)


@for_organizers(require_POST)
def phase_delete(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Delete a phase that has no submissions; a reason is required."""
    row = get_object_or_404(benchmark.phases.select_related("benchmark"), pk=pk)
    form = RemovalForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Nothing was deleted: {' '.join(map(str, form.errors['reason']))}")
        return redirect("phase", benchmark.name, pk)
    try:
        delete_phase(row, request.user, form.cleaned_data["reason"])
    except PhaseError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The phase {row} is deleted.")
    return redirect("phases", benchmark.name)


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


def _edited(request: SignedInRequest, row: Phase) -> HttpResponse:
    """The form of a phase; saves it, or shows what participants will read."""
    form = PhaseForm(request.POST or None, instance=row)
    if request.method != "POST" or not form.is_valid():
        return _page(request, row, form=form)
    changed = form.save(commit=False)
    if request.POST.get("act") == "preview":
        lines = [*phase_sentences(changed), *explained(changed.benchmark, changed)]
        times = {"previewed_opens": changed.text_of(changed.opens)}
        if changed.closes:
            times["previewed_closes"] = changed.text_of(changed.closes)
        return _page(request, row, form=form, preview=lines, previewed=changed, **times)
    changes = save_phase(changed, request.user, form.cleaned_data["reason"])
    messages.success(request, f"{changed} is saved." if changes else "Nothing was changed.")
    return redirect("phases", changed.benchmark.name)


def _page(request: SignedInRequest, row: Phase, **context: Any) -> HttpResponse:
    benchmark, stored = row.benchmark, row.pk is not None
    listed = described(benchmark)
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
    wrong = any(form.errors for form in (context["form"], context["extension_form"]) if form)
    status = 422 if wrong else 200
    return render_tab(
        request, benchmark, "phases", context, template_name="limits/phases.html", status=status
    )
