"""Whether stored files, results, public rows, ledger and log are what the site wrote. For a set-up Django."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import Count
from django.test import Client

from gluebench.leaderboard.apps.audit.models import SEAL, Entry, record
from gluebench.leaderboard.apps.benchmarks.adding import digest_of
from gluebench.leaderboard.apps.benchmarks.contents import manifest_of
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, DataFile
from gluebench.leaderboard.apps.benchmarks.seals import ALL, LABEL_KEY, PARTS, seals_of_parts
from gluebench.leaderboard.apps.common.formats import portable
from gluebench.leaderboard.apps.ledger import models as ledger
from gluebench.leaderboard.apps.ledger.notes import Key
from gluebench.leaderboard.apps.ledger.verify import Verification, verify_ledger
from gluebench.leaderboard.apps.organizing.models import FrozenCopy
from gluebench.leaderboard.apps.phases.models import PhaseFile
from gluebench.leaderboard.apps.results.models import Results
from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.acts import orphans
from gluebench.leaderboard.apps.submissions.models import Result, Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping.freeze import snapshot
from gluebench.leaderboard.serving.checks import Check

NAMED = 20
"""Most rows or files that one check names."""
UPLOAD_TIME = timedelta(hours=1)
"""How long a file may be stored before its row."""
INPUTS = ("revealed", "overrides", "extensions", "organizers", "reviewers", LABEL_KEY)
"""The parts of a benchmark that earlier versions did not seal."""
RESEAL = "Or, if you replaced the secret key: gluebench leaderboard doctor --reseal"


def examine(*, files: bool = False) -> list[Check]:
    """The results, what the boards show of them, and the log; with `files`, every submitted file too."""
    parts = [_results, _check_board_columns, _inputs, _log, _benchmarks, _check_ledger_entries, _ledger]
    if files:
        parts.append(_files)
    checks: list[Check] = []
    for part in parts:
        try:
            checks += part()
        except Exception as error:  # an alteration may have any shape
            name = part.__name__.strip("_")
            checks.append(Check(name, f"cannot be read: {error!r:.200}", "Restore a backup."))
    return checks


def reseal(reason: str = "The site has a new secret key.") -> None:
    """Seal every result, log row and benchmark, and sign the ledger, as they are: for a new secret key."""
    before = ""
    for entry in Entry.objects.order_by("pk").iterator():
        before = entry.digest(before)
        Entry.objects.filter(pk=entry.pk).update(seal=before)
    for pk in list(Result.objects.values_list("pk", flat=True)):
        result = Result.objects.get(pk=pk)
        Result.objects.filter(pk=pk).update(seal=result.digest(result.before()))
    _seal_submissions()
    ledger.sign_anew(reason)
    for benchmark in Benchmark.objects.all():
        record("sealed", benchmark=benchmark, reason=reason, sealed=seals_of_parts(benchmark, *PARTS))


def seal_inputs() -> None:
    """Seal what versions before 28 November 2026 did not, once: the log then has a seal of `revealed`."""
    if Entry.objects.filter(detail__sealed__has_key="revealed").exists():
        return
    with transaction.atomic():
        _seal_submissions()
        for benchmark in Benchmark.objects.all():
            record(SEAL, benchmark=benchmark, sealed=seals_of_parts(benchmark, *INPUTS))


def _seal_submissions() -> None:
    for row in Submission.objects.only(*Submission.SEALED):
        Submission.objects.filter(pk=row.pk).update(seal=row.digest())


def verify(result: Verification, *, key: Key | None = None, kept: str = "") -> None:
    """Check all of the site: `examine` with its files, and its ledger as anybody reads it."""
    with snapshot():
        for check in examine(files=True):
            lines = result.checked if check.ok else result.findings
            lines.append(f"{check.name}: {check.state}")
        verify_ledger(result, read_page, key=key, kept=kept)


def read_page(path: str) -> bytes | None:
    """What the site answers to a visitor at an address; None where there is nothing."""
    answer = Client(SERVER_NAME="localhost", raise_request_exception=False).get(f"/{path}")
    if answer.status_code != 200:
        return None
    return b"".join(answer)


def _results() -> Iterator[Check]:
    rows = Result.objects.select_related("submission").defer("submission__report", "submission__problems")
    edited = []
    before = Result()
    for row in rows.order_by("submission", "pk").iterator(chunk_size=50):
        earlier = before.created if before.submission_id == row.submission_id else None
        if row.seal != row.digest(earlier):
            edited.append(f"result {row.pk} of submission {row.submission.key}")
        before = row
    fix = f"Restore a backup, or grade these submissions again. {RESEAL}"
    yield _check("results", edited, "edited in the database", fix, rows.count())


def _check_board_columns() -> Iterator[Check]:
    """Check the columns that a board reads: they must match the submission's latest result."""
    rows = Submission.objects.filter(status__in=(Status.GRADED, Status.INVALID))
    rows = rows.select_related("benchmark", "phase")
    edited = [f"submission {row.key}" for row in rows.iterator(chunk_size=50) if not _is_as_graded(row)]
    fix = "Restore a backup, or grade these submissions again."
    yield _check("listed scores", edited, "not what their results say", fix, rows.count())


def _inputs() -> Iterator[Check]:
    """Check what decides of each submission whether it counts."""
    rows = Submission.objects.only("seal", *Submission.SEALED)
    edited = [f"submission {row.key}" for row in rows.iterator(chunk_size=500) if row.seal != row.digest()]
    fix = f"Restore a backup. {RESEAL}"
    yield _check("submissions", edited, "edited in the database", fix, rows.count())


def _is_as_graded(row: Submission) -> bool:
    """Whether a graded submission shows what its latest result says, and none after that was deleted."""
    result = row.results.first()
    if result is None or (row.finished, row.why) != (result.created, result.why):
        return False
    shown = feedback.values_to_show(row, result)
    return all(portable(getattr(row, name)) == portable(value) for name, value in shown.items())


def _last_seals() -> dict[str, dict[str, str]]:
    """By benchmark, the last seal that the log has of each part of it."""
    last: dict[str, dict[str, str]] = {}
    for name, detail in Entry.objects.order_by("pk").values_list("benchmark", "detail").iterator():
        if isinstance(detail, dict) and isinstance(detail.get("sealed"), dict):
            new = detail["sealed"]
            # A seal of a whole table replaces those of its rows, "phases 7".
            kept = {part: seal for part, seal in last.get(name, {}).items() if part.split()[0] not in new}
            last[name] = kept | new
    return last


def _benchmarks() -> Iterator[Check]:
    """Check what pages show of each benchmark against what the log says of the last act that wrote it."""
    logged = _last_seals()
    rows = {row.name: row for row in Benchmark.objects.all()}
    edited = [f"{name} as a whole" for name in sorted(logged.keys() - rows.keys())]
    for name in logged.keys() & rows.keys():
        tables = {part.split()[0] for part in logged[name]}
        present = _without_tables(seals_of_parts(rows[name], *tables.intersection(PARTS)))
        expected = _without_tables(logged[name])
        for part in sorted(present.keys() | expected.keys()):
            if present.get(part) != expected.get(part):
                edited.append(f"{part} of {name}")
    yield _check(
        "benchmarks", edited, "differ from what the log recorded", f"Restore a backup. {RESEAL}", len(rows)
    )


def _without_tables(seals: Mapping[str, str]) -> dict[str, str]:
    """The seals of columns and single rows that exist; a deleted row has an empty one."""
    return {part: seal for part, seal in seals.items() if seal and seal != ALL}


def _log() -> Iterator[Check]:
    edited = []
    before = ""
    last = None
    for last in Entry.objects.order_by("pk").iterator():
        if last.seal != last.digest(before):
            edited.append(f"row {last.pk} ({last.action})")
        before = last.seal
    number = Entry.objects.count()
    leaf = ledger.log_leaf()
    if leaf and (leaf.entry["rows"], leaf.entry["seal"]) != (number, last and last.seal):
        edited.append(f"its end (it has {number} rows, and the ledger says {leaf.entry['rows']})")
    ends = ""
    if last:
        ends = f", the last is {last.pk} with the seal {last.seal[:16]}"
    fix = f"Each of them, or the row before it, was edited, taken out or put in. {RESEAL}"
    yield _check("log", edited, "not in the chain of seals", fix, number, ends)


def _check_ledger_entries() -> Iterator[Check]:
    """Check each submission against its last entry of the ledger: what boards show, and how it was graded."""
    edited: list[str] = []
    pks = list(Submission.objects.order_by("pk").values_list("pk", flat=True))
    for at in range(0, len(pks), ledger.BATCH):
        with snapshot():
            changes = ledger.changes_of(pks[at : at + ledger.BATCH])
        edited += [change.values["submission"] for change in changes]
    known = Submission.objects.values("key")
    gone = ledger.Leaf.objects.exclude(submission="").exclude(submission__in=known)
    edited += sorted(set(gone.values_list("submission", flat=True)))
    fix = "Restore a backup. Each of them was changed, added or deleted in the database."
    yield _check("public rows", edited, "not as the ledger says", fix, len(pks))


def _ledger() -> Iterator[Check]:
    """Check what is stored beside the entries of the ledger; `verify_ledger` checks the tree itself."""
    edited = []
    key: Key | None = ledger.signer().key
    size = 0
    for leaf in ledger.Leaf.objects.order_by("-index").iterator(chunk_size=500):
        size = max(size, leaf.index + 1)
        if leaf.fault(key):
            edited.append(f"entry {leaf.index}")
        if '"kind":"new key"' in leaf.data:
            key = None  # earlier entries, which follow here, have another one
    tiles = ledger.Node.objects.values_list("level").annotate(Count("pk")).order_by("level")
    if dict(tiles) != {level: size >> 8 * level for level in range(8) if size >> 8 * level}:
        edited.append("tiles")
    count = ledger.Leaf.objects.count()
    yield _check("ledger", edited, "edited in the database", f"Restore a backup. {RESEAL}", count)


def digests_of_data_files() -> Iterator[tuple[str, str]]:
    """Each file of the storage "data" that a row names, with its SHA-256; one may come twice."""
    models: tuple[Any, ...] = (DataFile, PhaseFile, Results, FrozenCopy)
    for model in models:
        yield from model.objects.exclude(file="").order_by("file").values_list("file", "sha256").distinct()
    for looks in Benchmark.objects.values_list("looks", flat=True):
        if logo := looks.get("logo"):
            yield logo["file"], logo["file"].rpartition("/")[2]


def _find_altered_files() -> Iterator[str]:
    """What is wrong with manifests, labels and files to download."""
    for home in settings.FOLDER.manifests.iterdir():
        if manifest_of(home).short_hash != home.name:
            yield f"{home.name} of the manifests"
    for home in settings.FOLDER.labels.glob("*/*"):
        if digest_of(home)[:16] != home.name:
            yield f"{home.parent.name}/{home.name} of the labels"
    for row in Benchmark.objects.exclude(gold=""):
        if digest_of(row.gold_path) != row.gold_digest:
            yield f"labels of {row.name}"
    for name, expected in digests_of_data_files():
        if _digest_in_storage("data", name) != expected:
            yield f"file to download {name}"


def _files() -> Iterator[Check]:
    fix = "Restore them from a backup."
    kept = sorted(set(_find_altered_files()))
    yield _check("kept files", kept, "missing or changed", fix, Benchmark.objects.count())
    rows = Submission.objects.exclude(file="")
    missing = []
    changed = []
    for key, name, expected in rows.values_list("key", "file", "sha256").iterator():
        digest = _digest_in_storage("submissions", name)
        if digest is None and rows.filter(key=key, file=name).exists():  # not deleted meanwhile
            missing.append(f"{name} of submission {key}")
        elif digest not in (None, expected):
            changed.append(f"{name} of submission {key}")
    yield _check("missing files", missing, "not there", "Restore them from a backup.", rows.count())
    yield _check("file contents", changed, "not what was sent", "Restore them from a backup.", rows.count())
    unnamed = orphans(UPLOAD_TIME)
    yield _check("orphan files", unnamed, "of no submission", "Delete them.", len(unnamed))


def _digest_in_storage(part: str, name: str) -> str | None:
    """The SHA-256 of a file in a storage; None where it is missing."""
    with suppress(FileNotFoundError), storages[part].open(name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return None


def _check(name: str, bad: Sequence[str], wrong: str, fix: str, count: int, also: str = "") -> Check:
    if not bad:
        return Check(name, f"{count} looked at{also}.")
    named = ", ".join(bad[:NAMED])
    if len(bad) > NAMED:
        named += f" and {len(bad) - NAMED} more"
    return Check(name, f"{len(bad)} {wrong}: {named}.", fix)
