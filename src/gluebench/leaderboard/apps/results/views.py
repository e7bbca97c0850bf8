"""Pages of final results: the organizer's, and the public one with its archive."""

from typing import Any

from django import forms
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, find_version
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, OrganizerPage, for_organizers
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.page_cache import as_download
from gluebench.leaderboard.apps.ranks.places import LEGEND
from gluebench.leaderboard.apps.results import acts
from gluebench.leaderboard.apps.results.models import Results
from gluebench.leaderboard.apps.results.pack import pack
from gluebench.leaderboard.apps.submissions.forms import reason_field


class AnnounceForm(ActForm):
    """End the benchmark."""

    labels = forms.BooleanField(
        required=False,
        label="Publish the test labels in the archive",
        help_text="Once published, they cannot be taken back, and later scores prove less.",
    )
    reason = reason_field("Note", required=False, help_text="Kept in the log.")
    sure = forms.BooleanField(label="No more submissions are taken from now on")

    def __init__(self, row: Benchmark | None, *arguments: Any, **options: Any) -> None:
        super().__init__(row, *arguments, **options)
        if row is not None and not row.gold:
            del self.fields["labels"]
        if row is not None and (ended := acts.extensions_ended(row)):
            sure = self.fields["sure"]
            sure.label = f"{sure.label}. This ends extensions that still run: {ended}."
            sure.error_messages["required"] = f"Confirm this: it ends extensions that still run: {ended}."

    def arguments(self) -> tuple[Any, dict[str, Any]]:
        """The benchmark, whether its labels are released, and a note."""
        return self.row, {
            "labels": self.cleaned_data.get("labels", False),
            "reason": self.cleaned_data["reason"],
        }


class TakeBackForm(ActForm):
    """Remove the final results."""

    reason = reason_field(help_text="Kept in the log with your name.")


def _context(benchmark: Benchmark, viewer: User) -> Values:
    row = Results.objects.filter(benchmark=benchmark).first()
    if row is None:
        return {"form": AnnounceForm(benchmark)}
    waiting = acts.waiting_for(benchmark) if row.made is None else ""
    return {"results": row, "form": TakeBackForm(benchmark), "waiting": waiting}


RESULTS = OrganizerPage.from_toml(
    "organize-results",
    {"announce": (acts.announce, AnnounceForm), "take-back": (acts.take_back, TakeBackForm)},
    context=_context,
)


@for_organizers(require_safe)
def draft(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """The archive as it would be now, without labels."""
    data = pack(benchmark, timezone.now(), labels=False).data
    response = HttpResponse(data, content_type="application/zip")
    return as_download(response, f"{benchmark.name}-draft.zip")


@require_safe
def results(request: HttpRequest, name: str) -> HttpResponse:
    """The final results, with who is first and the archive."""
    row = _find_results(request, name)
    context = {"benchmark": row.benchmark, "results": row, "legend": LEGEND}
    return render(request, "results/results.html", context)


@require_safe
def archive(request: HttpRequest, name: str) -> FileResponse:
    """The archive of the final results."""
    row = _find_results(request, name)
    return FileResponse(
        storages["data"].open(row.file),
        as_attachment=True,
        filename=f"{name}-results.zip",
        content_type="application/zip",
    )


def _find_results(request: HttpRequest, name: str) -> Results:
    benchmark = find_version(name, request.user).benchmark()
    row = Results.objects.filter(benchmark=benchmark).exclude(made=None).select_related("benchmark").first()
    if row is None:
        raise Http404("This benchmark has no final results yet.")
    return row
