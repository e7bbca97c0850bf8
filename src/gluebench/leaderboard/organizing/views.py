"""Pages of an organizer's setup: opening a draft, roles, a copy of the benchmark."""

import re
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.storage import storages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.accounts.models import SignedInRequest, User, account_name
from gluebench.leaderboard.accounts.trust import may_create
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.adding import store
from gluebench.leaderboard.benchmarks.contents import Manifest, Prepared, PublicFile
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.seals import sealed
from gluebench.leaderboard.common.pages import redirect_with_error, redirect_with_success
from gluebench.leaderboard.common.signals import submissions_changed
from gluebench.leaderboard.folder import SiteError
from gluebench.leaderboard.organizing.dry_runs import NO_LABELS, shown
from gluebench.leaderboard.organizing.forms import CopyForm, RoleForm
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.views import for_organizers, render_tab

_NAME = re.compile(r"^([^\S\n]*name[^\S\n]*=[^\S\n]*)(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)


@for_organizers(require_safe)
def setup(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Whether it is public, its dry run, its files, its copies."""
    form = CopyForm() if may_create(request.user) else None
    return render_tab(request, benchmark, "setup", {"dry_run": shown(benchmark), "form": form})


@for_organizers(require_POST)
def opening(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Open a draft to the public, or make a benchmark a draft again."""
    draft = request.POST.get("draft") == "1"
    if not draft and benchmark.gold_digest == NO_LABELS:
        problem = "It has no labels, so nothing could be graded. Add them under Files first."
        return redirect_with_error(request, problem, "organize-setup", benchmark.name)
    with transaction.atomic():
        if Benchmark.objects.filter(pk=benchmark.pk, draft=not draft).touch(draft=draft):
            pks = list(benchmark.submissions.values_list("pk", flat=True))
            submissions_changed.send(Submission, submissions=pks)
            act, seals = "draft" if draft else "open to the public", sealed(benchmark, "draft")
            record(act, actor=request.user, benchmark=benchmark, sealed=seals)
    seen = "a draft: only you, its other organizers and admins see it" if draft else "open to the public"
    return redirect_with_success(request, f"{benchmark.title} is {seen}.", "organize-setup", benchmark.name)


@for_organizers()
def roles(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Who organizes and who reviews it; adding and removing them."""
    held: dict[str, Any] = {"organizer": benchmark.organizers, "reviewer": benchmark.reviewers}
    act = request.POST.get("act", "")
    form = RoleForm(request.POST if act == "add" else None)
    if form.is_valid():
        _change(request, benchmark, form.cleaned_data["role"], form.cleaned_data["email"], "added")
        return redirect("organize-roles", benchmark.name)
    if act in held:
        holders = {str(holder.pk): holder for holder in held[act].all()}
        user = holders.get(request.POST.get("account", ""))
        if user is None:
            raise Http404("This account has no such role.")
        if act == "organizer" and not request.user.is_superuser and len(holders) == 1:
            messages.error(request, "You are its last organizer. Add another one first.")
        else:
            _change(request, benchmark, act, user, "removed")
        still = benchmark.organized_by(request.user)
        return redirect("organize-roles", benchmark.name) if still else redirect("my-submissions")
    people = [
        {"role": role, "account": user.pk, "name": account_name(user, request.user)}
        for role in held
        for user in held[role].all()
    ]
    context = {"form": form, "people": people}
    return render_tab(request, benchmark, "roles", context)


def _change(request: SignedInRequest, benchmark: Benchmark, role: str, user: User, done: str) -> None:
    holders: Any = getattr(benchmark, f"{role}s")
    with transaction.atomic():
        (holders.add if done == "added" else holders.remove)(user)
        record(f"{role} {done}", actor=request.user, benchmark=benchmark, account=user.pk)
    messages.success(request, f"{role.title()} {done}.")


@for_organizers(require_POST)
def duplicate(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Make a draft with the same manifest, policy, texts and public files; the labels if asked for."""
    form = CopyForm(request.POST)
    if not may_create(request.user):
        raise PermissionDenied
    if not form.is_valid():
        context = {"dry_run": shown(benchmark), "form": form}
        return render_tab(request, benchmark, "setup", context)
    name, title = form.cleaned_data["name"], form.cleaned_data["title"]
    files = [
        PublicFile(file.path, storages["data"].open(file.file).read(), file.task, file.split, file.rows)
        for file in benchmark.data_files.all()
    ]
    text = _NAME.sub(rf'\g<1>"{name}"', benchmark.manifest, count=1)
    manifest = Manifest(text, tuple(benchmark.parents))
    if load_benchmark(manifest.write_below(settings.FOLDER.manifests)).name != name:
        problem = "Its manifest does not give the name on a line of its own: duplicate it by hand."
        return redirect_with_error(request, problem, "organize-setup", benchmark.name)
    try:
        with tempfile.TemporaryDirectory(dir=settings.FOLDER.uploads) as nothing, transaction.atomic():
            gold = benchmark.gold_path if form.cleaned_data["labels"] else Path(nothing)
            ready = Prepared(name, title, manifest, gold, files, True)
            copy = store(ready, by=request.user, draft=True, must_be_new=True)
            same = {field: getattr(benchmark, field) for field in ("settings", "texts", "looks")}
            Benchmark.objects.filter(pk=copy.pk).update(**same)
            record("duplicate", actor=request.user, benchmark=benchmark, copy=name)
            seals = sealed(copy, *same)
            record("copied", actor=request.user, benchmark=copy, of=benchmark.name, sealed=seals)
    except SiteError as error:
        return redirect_with_error(request, str(error), "organize-setup", benchmark.name)
    message = f"{title} is a draft: a copy of {benchmark.title}."
    return redirect_with_success(request, message, "organize-setup", name)
