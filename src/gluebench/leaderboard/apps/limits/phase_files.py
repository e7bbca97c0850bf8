"""Files that a phase releases: the form of one, and the acts that add and delete it."""

import hashlib
import re
import secrets
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.contents import SAMPLE
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.limits.phase_forms import TIME, moment_in_utc
from gluebench.leaderboard.apps.phases.models import Phase, PhaseFile, Release
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.grading import follow_clock

FILES_OF_BENCHMARK = 100
_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_PATH = re.compile(rf"({_PART}/)*{_PART}\.(tsv|csv|txt|md|json|jsonl|conllu|zip)")
"""Names that mean the same to every system. No type that a browser would run from a frozen copy."""


class PhaseFileForm(ActForm):
    """A file and when a phase releases it."""

    upload = forms.FileField(label="File")
    path = forms.CharField(
        required=False,
        max_length=200,
        label="Name",
        help_text="What people download it as, such as test/inputs.tsv. Empty: the file's own name.",
    )
    release = forms.ChoiceField(label="Everybody may download it", choices=Release, widget=forms.RadioSelect)
    moment = forms.CharField(
        required=False,
        widget=TIME,
        label="Time of the release",
        help_text="On the clocks of the phase's zone. Needed for that choice only.",
    )

    def present(self, row: Phase) -> Values:
        """The usual release."""
        return {"release": Release.OPENS}

    def clean_upload(self) -> "UploadedFile[bytes]":
        """The file, of the size that the site takes."""
        file: UploadedFile[bytes] = self.cleaned_data["upload"]
        if (file.size or 0) > settings.UPLOAD_BYTES:
            limit = settings.UPLOAD_BYTES // 1024**2
            raise forms.ValidationError(f"The file is larger than {limit} MB. Compress it as a zip.")
        return file

    def clean(self) -> Values:
        """Return the values with the file's name and the time in UTC; add an error where they do not fit."""
        values = self.cleaned_data
        upload = values.get("upload")
        if upload is not None and "path" in values:
            values["path"] = values["path"] or upload.name
            self._check_path(values["path"])
        release, entered = values.get("release"), values.get("moment")
        if release == Release.TIME and not entered:
            self.add_error("moment", "Give the time of the release.")
        if release == Release.RESULTS and self.row.closes is None:
            self.add_error("release", f"{self.row} stays open: it has no results at a close.")
        zone = self.row.zone if release == Release.TIME else ""
        values["moment"] = moment_in_utc(self, "moment", zone)
        return values

    def _check_path(self, path: str) -> None:
        benchmark = self.row.benchmark
        if not _PATH.fullmatch(path):
            self.add_error(
                "path",
                f"{path!r} is no name for it: expected letters, digits, - and _, folders with /, and one of "
                "the endings .tsv, .csv, .txt, .md, .json, .jsonl, .conllu, .zip.",
            )
        elif path == SAMPLE or any(
            files.filter(path=path).exists() for files in (benchmark.data_files, benchmark.phase_files)
        ):
            self.add_error(
                "path", f"There is a file {path} already. Delete it first, or name this otherwise."
            )


def add_file(
    phase: Phase,
    actor: User | None,
    *,
    upload: "UploadedFile[bytes]",
    path: str,
    release: str,
    moment: datetime | None,
) -> str:
    """Keep a file that a phase releases. Raises ActError for too many, and for a name that was just taken."""
    digest = hashlib.sha256()
    for piece in upload.chunks():
        digest.update(piece)
    storage, benchmark = storages["data"], phase.benchmark
    # A name of its own, and not its content's: what is deleted with one row is then no other row's file.
    name = storage.save(f"{benchmark.name}/phases/{secrets.token_hex(16)}", upload)
    row = PhaseFile(benchmark=benchmark, phase=phase, path=path, release=release, moment=moment, file=name)
    row.size, row.sha256 = upload.size or 0, digest.hexdigest()
    try:
        with transaction.atomic():
            Benchmark.objects.lock(benchmark.pk)
            if benchmark.phase_files.filter(path=path).exists():
                raise ActError(f"There is a file {path} already.", "file")
            if benchmark.phase_files.count() >= FILES_OF_BENCHMARK:
                raise ActError(f"A benchmark has at most {FILES_OF_BENCHMARK} files of phases.", "file")
            row.save()
            _record("phase file", row, row.pk, actor, size=row.size)
    except BaseException:
        storage.delete(name)
        raise
    return f"{path} is kept; it comes {row.release_text}."


def delete_file(row: PhaseFile, actor: User | None, reason: str) -> str:
    """Delete a file of a phase; who downloaded it keeps it."""
    with transaction.atomic():
        Benchmark.objects.lock(row.benchmark_id)
        number = row.pk
        row.delete()
        _record("phase file deleted", row, number, actor, reason)
        transaction.on_commit(partial(storages["data"].delete, row.file))
    return f"{row.path} is deleted."


def _record(
    action: str, row: PhaseFile, number: int, actor: User | None, reason: str = "", **more: Any
) -> None:
    facts = {"path": row.path, "release": row.release_text, "sha256": row.sha256, **more}
    seals = seals_of_parts(row.benchmark, "phase_files", row=number)
    record(
        action,
        actor=actor,
        benchmark=row.benchmark,
        reason=reason,
        phase=row.phase.name,
        **facts,
        sealed=seals,
    )
    follow_clock(row.benchmark)
