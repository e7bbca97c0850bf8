"""The page of a frozen copy: ask for one, download it, delete it. `copying.py` makes it in a worker."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.storage import storages
from django.db import transaction
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.pages import form_page
from gluebench.leaderboard.organizing.models import FrozenCopy
from gluebench.leaderboard.results.models import Results
from gluebench.leaderboard.submissions.views import for_organizers, render_tab


class FrozenForm(forms.Form):
    """What is in a frozen copy."""

    labels = forms.BooleanField(
        required=False,
        label="With the test labels and the files that the public systems were scored on",
        help_text="Whoever has the copy can grade them again, and has the label key (gold/.label-key).",
    )


@for_organizers(form_page)
def frozen_copy(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Ask for a frozen copy, see whether it is made, or delete it."""
    row = FrozenCopy.objects.filter(benchmark=benchmark).first()
    working = row is not None and row.made is None and not row.failure
    form: Any = FrozenForm(request.POST if request.POST.get("act") == "make" else None)
    released = Results.objects.filter(benchmark=benchmark, labels=True).exclude(made=None).exists()
    if not (released and benchmark.gold) or benchmark.named_from:
        del form.fields["labels"]
    if request.POST.get("act") == "delete":
        delete(benchmark)
        record("frozen copy deleted", actor=request.user, benchmark=benchmark)
        messages.success(request, "The copy is deleted.")
    elif form.is_bound and (working or benchmark.draft):
        why = "A copy is being made already." if working else "A draft has no public pages to copy."
        messages.error(request, why)
    elif form.is_valid():
        labels = bool(form.cleaned_data.get("labels"))
        values = {"labels": labels, "worker": "", "attempts": 0, "failure": "", "made": None}
        with transaction.atomic():
            FrozenCopy.objects.update_or_create({**values, "requested": timezone.now()}, benchmark=benchmark)
            record("frozen copy", actor=request.user, benchmark=benchmark, labels=labels)
        messages.success(request, "A worker of the site makes the copy.")
    elif request.method != "POST":
        context = {"copy": row, "form": form, "working": working}
        return render_tab(request, benchmark, "results", context, template="organize/copy.html")
    return redirect("organize-copy", benchmark.name)


def delete(benchmark: Benchmark) -> None:
    """Delete the copy of a benchmark and its file, if there is one."""
    with transaction.atomic():
        for row in FrozenCopy.objects.select_for_update().filter(benchmark=benchmark):
            row.delete()
            if row.file:
                transaction.on_commit(partial(storages["data"].delete, row.file))


@for_organizers(require_safe)
def download(request: SignedInRequest, benchmark: Benchmark) -> HttpResponseBase:
    """The frozen copy; while a worker makes another, the earlier one."""
    row = FrozenCopy.objects.filter(benchmark=benchmark).exclude(file="").first()
    if row is None:
        raise Http404("There is no frozen copy.")
    name = f"{benchmark.name}-frozen.zip"
    file = storages["data"].open(row.file)
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
