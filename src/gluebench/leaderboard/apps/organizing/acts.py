"""Acts of an organizer's setup: open a benchmark, give and end roles, duplicate it."""

import re
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.files.storage import storages
from django.db import transaction
from django.http import Http404
from django.urls import reverse

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import account, may_create, require_vouched
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.adding import store
from gluebench.leaderboard.apps.benchmarks.contents import Manifest, Prepared, PublicFile
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActResult
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.signals import submissions_changed
from gluebench.leaderboard.apps.organizing.dry_runs import NO_LABELS
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping.folder import SiteError

_NAME = re.compile(r"^([^\S\n]*name[^\S\n]*=[^\S\n]*)(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)


def open_to_public(benchmark: Benchmark, actor: User) -> str:
    """Show it to everybody. Raises ActError for one without labels, or with tasks that not everybody sees."""
    _show(benchmark, actor, "open to the public", draft=False, restricted=False)
    return f"{benchmark.title} is open to the public."


def open_to_participants(benchmark: Benchmark, actor: User) -> str:
    """Show it to those who are registered, and accepted. Raises ActError for one without labels."""
    _show(benchmark, actor, "open to participants", draft=False, restricted=True)
    page = reverse("join", args=[benchmark.name])
    return f"Only registered participants see {benchmark.title}. They register at {page}."


def make_draft(benchmark: Benchmark, actor: User) -> str:
    """Show it only to those who run it. Raises ActError if a phase that everybody sees uses its tasks."""
    _show(benchmark, actor, "draft", draft=True)
    return f"{benchmark.title} is a draft: only you, its other organizers and admins see it."


def _show(benchmark: Benchmark, actor: User, act: str, **values: bool) -> None:
    """Change who sees it; the ledger has the entries of public boards alone."""
    if benchmark.gold_digest == NO_LABELS and not values["draft"]:
        raise ActError("It has no labels, so nothing could be graded. Add them under Files first.", "labels")
    with transaction.atomic():
        row = Benchmark.objects.lock(benchmark.pk)
        for name, value in values.items():
            setattr(row, name, value)
        _require_tasks_seen(row)
        others = Benchmark.objects.filter(pk=benchmark.pk).exclude(**values)
        if others.touch(**values):
            pks = list(benchmark.submissions.values_list("pk", flat=True))
            submissions_changed.send(Submission, submissions=pks)
            record(act, actor=actor, benchmark=benchmark, sealed=seals_of_parts(benchmark, *values))


def _require_tasks_seen(benchmark: Benchmark) -> None:
    """Raise ActError if everybody would see a phase, but not the benchmark whose tasks it uses."""
    public = Benchmark.objects.public().values("pk")
    if benchmark.is_public:
        phase = benchmark.phases.exclude(tasks_of=None).exclude(tasks_of__in=public).first()
        if phase is not None:
            reason = f"Its phase {phase} uses the tasks of {phase.tasks_of}, which not everybody sees."
            raise ActError(f"{reason} Open that one first.", "phase")
        return
    phase = benchmark.phases_elsewhere.filter(benchmark__in=public).first()
    if phase is not None:
        reason = f"The phase {phase} of {phase.benchmark}, which everybody sees, uses its tasks."
        raise ActError(f"{reason} Change that phase first.", "phase")


def give_role(benchmark: Benchmark, actor: User | None, *, email: User, role: str) -> str:
    """Let a person organize or review it. Without an actor, it is the operator of the site."""
    with transaction.atomic():
        holders_of(benchmark, role).add(email)
        record(f"{role} added", actor=actor, benchmark=benchmark, account=email.pk, **_actor_note(actor))
    return f"{role.capitalize()} added."


def take_role(benchmark: Benchmark, actor: User | None, *, role: str, account: int) -> str | ActResult:
    """End a person's role. Raises Http404, and ActError where no organizer would be left.

    Without an actor, it is the operator of the site, who may leave it without one, as admins.
    """
    holders = {holder.pk: holder for holder in holders_of(benchmark, role).all()}
    if account not in holders:
        raise Http404("This account has no such role.")
    is_admin = actor is None or actor.is_superuser
    if role == "organizer" and not is_admin and len(holders) == 1:
        raise ActError("You are its last organizer. Add another one first.", "role")
    with transaction.atomic():
        holders_of(benchmark, role).remove(holders[account])
        record(f"{role} removed", actor=actor, benchmark=benchmark, account=account, **_actor_note(actor))
    done = f"{role.capitalize()} removed."
    if actor is None or benchmark.has_organizer(actor):
        return done
    return ActResult(done, reverse("my-submissions"))


def set_organizer(email: str, benchmark: str, *, remove: bool = False, unconfirmed: bool = False) -> None:
    """Let this account organize a benchmark, or no longer, as the operator of the site.

    Raises SiteError for an unknown account or benchmark, and for an address that is not confirmed; Http404.
    """
    user = account(email)
    if not (remove or unconfirmed):
        require_vouched(user)
    row = Benchmark.objects.get_by_name(benchmark)
    if not remove:
        give_role(row, None, email=user, role="organizer")
    elif row.organizers.filter(pk=user.pk).exists():
        take_role(row, None, role="organizer", account=user.pk)


def _actor_note(actor: User | None) -> Values:
    return {} if actor else {"by": "command line"}


def holders_of(benchmark: Benchmark, role: str) -> Any:
    """The accounts that organize or review it."""
    if role == "organizer":
        return benchmark.organizers
    return benchmark.reviewers


def duplicate(benchmark: Benchmark, actor: User, *, name: str, title: str, labels: bool) -> ActResult:
    """Make a draft with the same manifest, policy, texts and public files; the labels if asked for.

    Raises PermissionDenied for an account that may create none, and ActError.
    """
    if not may_create(actor):
        raise PermissionDenied
    files = []
    for file in benchmark.data_files.all():
        content = storages["data"].open(file.file).read()
        files.append(PublicFile(file.path, content, file.task, file.split, file.rows))
    text = _NAME.sub(rf'\g<1>"{name}"', benchmark.manifest, count=1)
    manifest = Manifest(text, tuple(benchmark.parents))
    if load_benchmark(manifest.write_below(settings.FOLDER.manifests)).name != name:
        raise ActError(
            "Its manifest does not give the name on a line of its own: duplicate it by hand.", "manifest"
        )
    try:
        with tempfile.TemporaryDirectory(dir=settings.FOLDER.uploads) as nothing, transaction.atomic():
            gold = benchmark.gold_path if labels else Path(nothing)
            ready = Prepared(name, title, manifest, gold, files, True)
            copy = store(ready, by=actor, draft=True, must_be_new=True)
            same = {field: getattr(benchmark, field) for field in ("settings", "texts", "looks")}
            Benchmark.objects.filter(pk=copy.pk).update(**same)
            record("duplicate", actor=actor, benchmark=benchmark, copy=name)
            seals = seals_of_parts(copy, *same)
            record("copied", actor=actor, benchmark=copy, of=benchmark.name, sealed=seals)
    except SiteError as error:
        raise ActError(str(error), "name") from None
    return ActResult(
        f"{title} is a draft: a copy of {benchmark.title}.", reverse("organize-setup", args=[name])
    )
