"""The page of a frozen copy: ask for one, download it, delete it. `copying.py` makes it in a worker."""

from functools import partial
from typing import Any

from django import forms
from django.core.files.storage import storages
from django.db import transaction
from django.http import FileResponse, Http404, HttpRequest
from django.utils import timezone
from django.views.decorators.http import require_safe

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, OrganizerPage, for_organizers
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.organizing.models import FrozenCopy
from gluebench.leaderboard.apps.phases.moments import require_own_labels
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.results.models import Results


class FrozenForm(ActForm):
    """What is in a frozen copy."""

    labels = forms.BooleanField(
        required=False,
        label="With the test labels and the files that the public systems were scored on",
        help_text="Whoever has the copy can grade them again, and has the label key (gold/.label-key).",
    )

    def __init__(self, row: Benchmark | None, *arguments: Any, **options: Any) -> None:
        super().__init__(row, *arguments, **options)
        if row is not None and not _is_released(row):
            del self.fields["labels"]


def _is_released(benchmark: Benchmark) -> bool:
    """Whether final results with the labels are public, under the names of their authors."""
    rows = Results.objects.filter(benchmark=benchmark, labels=True).exclude(made=None)
    return bool(benchmark.gold) and benchmark.names_hidden_until is None and rows.exists()


def _state(benchmark: Benchmark, viewer: User) -> Values:
    row = FrozenCopy.objects.filter(benchmark=benchmark).first()
    return {"copy": row, "working": row is not None and row.made is None and not row.failure}


def request_copy(benchmark: Benchmark, actor: User, *, labels: bool = False) -> str:
    """Let a worker make a copy. Raises ActError while one is being made, and for one that may not be made."""
    if _state(benchmark, actor)["working"]:
        raise ActError("A copy is being made already.", "copy")
    if not benchmark.is_public:
        raise ActError("It has no public pages to copy: open it to the public first.", "copy")
    if labels:
        require_own_labels(benchmark, actor)
    values = {"labels": labels, "worker": "", "attempts": 0, "failure": "", "made": None}
    with transaction.atomic():
        FrozenCopy.objects.update_or_create({**values, "requested": timezone.now()}, benchmark=benchmark)
        record("frozen copy", actor=actor, benchmark=benchmark, labels=labels)
    return "A worker of the site makes the copy."


def delete_copy(benchmark: Benchmark, actor: User) -> str:
    """Delete the copy with its file, if there is one."""
    delete(benchmark)
    record("frozen copy deleted", actor=actor, benchmark=benchmark)
    return "The copy is deleted."


COPY = OrganizerPage.from_toml(
    "organize-copy",
    {"": (request_copy, FrozenForm), "delete": (delete_copy, ActForm)},
    context=_state,
)


def delete(benchmark: Benchmark) -> None:
    """Delete the copy of a benchmark and its file, if there is one."""
    with transaction.atomic():
        for row in FrozenCopy.objects.select_for_update().filter(benchmark=benchmark):
            row.delete()
            if row.file:
                transaction.on_commit(partial(storages["data"].delete, row.file))


def copy_response(request: HttpRequest, benchmark: Benchmark) -> FileResponse:
    """The frozen copy; while a worker makes another, the earlier one."""
    row = FrozenCopy.objects.filter(benchmark=benchmark).exclude(file="").first()
    if row is None:
        raise Http404("There is no frozen copy.")
    name = f"{benchmark.name}-frozen.zip"
    file = storages["data"].open(row.file)
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


download = for_organizers(require_safe)(copy_response)
