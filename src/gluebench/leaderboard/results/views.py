"""Pages of final results: the organizer's, and the public one with its archive."""

from typing import Any

from django import forms
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.benchmarks.models import Benchmark, live
from gluebench.leaderboard.common.pages import form_page, redirect_with_error, redirect_with_success
from gluebench.leaderboard.ranks.places import LEGEND
from gluebench.leaderboard.results import acts
from gluebench.leaderboard.results.models import Results
from gluebench.leaderboard.results.pack import pack
from gluebench.leaderboard.submissions.forms import reason_field
from gluebench.leaderboard.submissions.views import for_organizers, render_tab


class AnnounceForm(forms.Form):
    """End the benchmark."""

    labels = forms.BooleanField(
        required=False,
        label="Publish the test labels in the archive",
        help_text="Once published, they cannot be taken back, and later scores prove less.",
    )
    reason = reason_field("Note", required=False, help_text="Kept in the log.")
    sure = forms.BooleanField(label="No more submissions are taken from now on")


class TakeBackForm(forms.Form):
    """Remove the final results."""

    reason = reason_field(help_text="Kept in the log with your name.")


@for_organizers(form_page)
def organize(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Announce the final results, see what they wait for, or take them back."""
    row = Results.objects.filter(benchmark=benchmark).first()
    if row is not None and "sure" in request.POST:
        message = "The results are announced already."
        return redirect_with_error(request, message, "organize-results", benchmark.name)
    data = request.POST if request.method == "POST" else None
    form: Any = (AnnounceForm if row is None else TakeBackForm)(data)
    if row is None and not benchmark.gold:
        del form.fields["labels"]
    if form.is_valid():
        values = form.cleaned_data
        if row is None:
            labels = bool(values.get("labels"))
            acts.announce(benchmark, request.user, labels=labels, reason=values["reason"])
            message = "The benchmark is closed. Its results are being made."
        else:
            acts.take_back(benchmark, request.user, values["reason"])
            message = "The results are removed. Open the benchmark again under its limits."
        return redirect_with_success(request, message, "organize-results", benchmark.name)
    context = {
        "results": row,
        "form": form,
        "waiting": acts.waiting_for(benchmark) if row is not None and row.made is None else "",
    }
    return render_tab(request, benchmark, "results", context, template="results/organize.html")


@for_organizers(require_safe)
def draft(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """The archive as it would be now, without labels."""
    data = pack(benchmark, timezone.now(), labels=False).data
    headers = {"Content-Disposition": f'attachment; filename="{benchmark.name}-draft.zip"'}
    return HttpResponse(data, content_type="application/zip", headers=headers)


@require_safe
def results(request: HttpRequest, name: str) -> HttpResponse:
    """The final results, with who is first and the archive."""
    row = _made(request, name)
    context = {"benchmark": row.benchmark, "results": row, "legend": LEGEND}
    return render(request, "results/results.html", context)


@require_safe
def archive(request: HttpRequest, name: str) -> FileResponse:
    """The archive of the final results."""
    row = _made(request, name)
    return FileResponse(
        storages["data"].open(row.file),
        as_attachment=True,
        filename=f"{name}-results.zip",
        content_type="application/zip",
    )


def _made(request: HttpRequest, name: str) -> Results:
    benchmark = live(name, request.user).benchmark()
    row = Results.objects.filter(benchmark=benchmark).exclude(made=None).select_related("benchmark").first()
    if row is None:
        raise Http404("This benchmark has no final results yet.")
    return row
