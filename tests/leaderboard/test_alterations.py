"""A thousand alterations, one at a time: `verify` finds each, and nothing before it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, connection, transaction
from leaderboard.material import PREDICTIONS, write_data, zip_bytes
from leaderboard.sealing import catch_up

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.ledger.models import Change, add
from gluebench.leaderboard.apps.ledger.verify import Verification
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.grading import grade, regrade
from gluebench.leaderboard.apps.submissions.models import Submission, submission_storage
from gluebench.leaderboard.apps.submissions.queries import Kind
from gluebench.leaderboard.keeping import integrity, transfer
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.keeping.freeze import freeze

COLUMNS = {
    "submissions_submission": [
        *("key", "name", "model", "team", "link", "paper", "code", "description", "model_id", "evaluator"),
        *("latency_ms", "regime", "parameters", "kind", "verified", "public", "approved", "withdrawn"),
        *("sha256", "status", "why", "report", "scores", "value", "submitted", "benchmark_id"),
        *("owner_id", "began", "late", "chosen", "public_value", "seal"),
    ],
    "submissions_result": [
        *("created", "why", "labels", "package", "verdict", "report", "diagnosis", "scores", "best", "seal"),
        "submission_id",
    ],
    "audit_entry": ["at", "action", "benchmark", "submission", "reason", "detail", "seal"],
    "ledger_leaf": ["benchmark", "submission", "data", "texts", "note", "index"],
    "ledger_node": ["level", "index", "hash"],
    "benchmarks_benchmark": [
        *("gold_digest", "title", "manifest", "parents", "settings", "open", "draft", "restricted", "texts"),
        "looks",
    ],
    "benchmarks_datafile": ["path", "task", "split", "rows", "file", "size", "sha256"],
}
"""What is altered in the database; of submissions, what boards and their pages show of those on a board."""
DELETED = [
    *("audit_entry", "ledger_leaf", "ledger_node", "submissions_submission", "submissions_result"),
    "benchmarks_datafile",
]


def findings() -> list[str]:
    caches["pages"].clear()  # as in a process of its own
    result = Verification()
    integrity.verify(result)
    return result.findings


@pytest.fixture
def site(
    tiny: Any, graded: Callable[..., Submission], gold_folder: Path, tmp_path: Path, ada: Any
) -> Submission:
    """Systems with a history, in a ledger of more than one tile."""
    from leaderboard.material import MANIFEST

    catch_up()
    add_benchmark(str(MANIFEST), gold_folder, write_data(tmp_path / "data"))
    rows = [
        graded(
            zip_bytes({**PREDICTIONS, "Para": f"10110{at % 2}"}),
            name=f"System {at}",
            team="Owls",
            description="Of owls.",
            link="https://example.org/a",
            paper="https://example.org/b",
            code="https://example.org/c",
            model_id="acme/tiny",
            evaluator="first_party",
            latency_ms=1.5,
            parameters=12,
        )
        for at in range(3)
    ]
    regrade(rows[0].benchmark, "Read again")
    for row in rows:
        assert grade(row.pk)
        row.refresh_from_db()
    acts.edit(rows[0], ada, {"name": "Another name"})
    acts.mark(rows[1], ada, kind=Kind.BASELINE, verified=True, reason="Read")
    acts.withdraw(rows[2])
    add([Change({"kind": "test", "number": at}) for at in range(270)])
    record("quota", benchmark=rows[0].benchmark, reason="The last", per_day=0.5)
    for name in acts.orphans(timedelta(0)):  # of tests that ran before in this folder
        submission_storage().delete(name)
    assert findings() == []
    return rows[0]


def changed(value: Any, chance: random.Random) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool | None):
        return not value
    if isinstance(value, datetime):
        return value + timedelta(hours=1)
    if value in ("{}", "[]"):
        return {"{}": '{"x": 1}', "[]": '["x"]'}[value]
    if isinstance(value, int):
        return value + chance.choice([1000, 7000])
    if isinstance(value, float):
        return value * 0.75 + 0.01
    if isinstance(value, memoryview | bytes):
        return flipped(bytes(value), chance)
    at = chance.randrange(len(value)) if value else 0
    digits = [place for place, letter in enumerate(value) if letter.isdigit()]
    at = chance.choice(digits) if digits and value[0] in "{[0123456789" else at
    letter = (
        str((int(value[at]) + 1) % 10)
        if value and value[at].isdigit()
        else "x"
        if value[at : at + 1] != "x"
        else "y"
    )
    return value[:at] + letter + value[at + 1 :]


def flipped(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def in_database(chance: random.Random) -> str:
    """Change or delete one value or row; returns what, "" where the database does not take it."""
    quote = connection.ops.quote_name
    table = chance.choice(list(COLUMNS))
    shown = "WHERE withdrawn IS NULL" if table == "submissions_submission" else ""
    key = "index" if table == "ledger_leaf" else "id"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {quote(key)} FROM {table} {shown} ORDER BY 1")
        pks = [pk for (pk,) in cursor.fetchall()]
        pk = chance.choice(pks)
        if table in DELETED and chance.random() < 0.1:
            cursor.execute(f"DELETE FROM {table} WHERE {quote(key)} = %s", [pk])
            return f"{table} {pk} deleted"
        column = chance.choice(COLUMNS[table])
        cursor.execute(f"SELECT {quote(column)} FROM {table} WHERE {quote(key)} = %s", [pk])
        before = cursor.fetchone()[0]
        cursor.execute(f"SELECT {quote(column)} FROM {table} WHERE {quote(key)} = %s", [chance.choice(pks)])
        other = cursor.fetchone()[0]  # as of another row, where that differs
        swapped = other != before and column != "submitted" and chance.random() < 0.3  # times differ by less
        after = other if swapped else changed(before, chance)
        if column == "withdrawn":
            after = "2026-01-01 00:00:00"
        if column == "texts" and before is None:
            after = '{"names": {}, "salt": "0"}'
        cursor.execute(f"UPDATE {table} SET {quote(column)} = %s WHERE {quote(key)} = %s", [after, pk])
    return f"{table} {pk} {column}: {before!r:.40} to {after!r:.40}"


def in_file(root: Path, chance: random.Random, *, names: bool = True) -> tuple[str, Callable[[], None]]:
    """Change, cut, delete or add a file; returns what, and how to undo it."""
    file = chance.choice(sorted(path for path in root.rglob("*") if path.is_file()))
    data, what = (
        file.read_bytes(),
        chance.choice(["flip", "cut", "append", "swap", *(["delete", "add"] if names else [])]),
    )
    if what == "add":
        other = file.with_name(f"{file.name}-more")
        other.write_bytes(data)
        return f"{other} added", other.unlink
    if what == "delete":
        file.unlink()
    else:
        others = [
            each for path in file.parent.iterdir() if path.is_file() and (each := path.read_bytes()) != data
        ]
        texts = {"cut": data[:-1], "append": data + b"\n", "swap": chance.choice(others or [b"x"])}
        file.write_bytes(texts.get(what) or flipped(data, chance))
    return f"{file} {what}", lambda: file.write_bytes(data) and None


class UndoError(Exception):
    """Ends a transaction that must leave nothing."""


def accepted(chance: random.Random) -> str:
    """An alteration that the database takes: not two rows of one key, nor JSON that is none."""
    while True:
        try:
            with transaction.atomic():
                return in_database(chance)
        except DatabaseError:
            continue


def missed_in_database(chance: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        what, right = "", []
        try:
            with transaction.atomic():
                what = accepted(chance)
                right = findings()
                raise UndoError
        except UndoError:
            pass
        if not right:
            yield what


def missed_in_files(chance: random.Random, count: int) -> Iterator[str]:
    """Submitted files, labels, manifests, and files to download."""
    roots = [settings.FOLDER.root / part for part in ("submissions", "labels", "manifests", "data")]
    own = {str(row.file) for row in Submission.objects.all()}
    for _ in range(count):
        root = chance.choice(roots)
        if root.name == "submissions":
            file = root / chance.choice(sorted(own))
            data = file.read_bytes()
            file.write_bytes(flipped(data, chance))
            what, undo = str(file), lambda file=file, data=data: file.write_bytes(data)
        else:
            what, undo = in_file(root, chance, names=False)
        if not findings():
            yield what
        undo()


def missed_in_copy(folder: Path, chance: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        what, undo = in_file(folder, chance)
        try:
            found = commands.verify(str(folder), None, None, None, recompute=False).findings
        except SiteError:  # without its signed list it is no copy
            found = ["refused"]
        undo()
        if not found:
            yield what


def missed_in_export(file: Path, chance: random.Random, count: int) -> Iterator[str]:
    """Flips within members; the padding between them holds nothing."""
    import tarfile

    with tarfile.open(file) as tar:
        places = [(info.offset_data, info.size) for info in tar if info.size]
    data = file.read_bytes()
    for _ in range(count):
        start, size = chance.choice(places)
        at = start + chance.randrange(size)
        file.write_bytes(data[:at] + flipped(data[at : at + 1], chance) + data[at + 1 :])
        try:
            transfer.read_archive(str(file))
        except SiteError:
            continue
        yield f"byte {at} of the export"
    file.write_bytes(data)


def all_missed(tmp_path: Path, seed: int, count: int) -> list[str]:
    """What `verify` does not find of as many alterations, half of them in the database."""
    chance = random.Random(seed)
    freeze(tmp_path / "frozen", ["tiny"])
    transfer.export_site(str(tmp_path / "export.tar"))
    missed = [*missed_in_database(chance, count // 2)]
    missed += missed_in_files(chance, count // 5)
    missed += missed_in_copy(tmp_path / "frozen", chance, count // 5)
    missed += missed_in_export(tmp_path / "export.tar", chance, count // 10)
    assert findings() == []
    return missed


@pytest.fixture
def own_labels(site: Submission) -> None:
    """Only what this site's rows name: other tests leave their labels and manifests."""
    row, root = site.benchmark, settings.FOLDER.root
    kept = {row.gold_path, row.manifest_path.parent}
    for folder in [*(root / "labels").glob("*/*"), *(root / "manifests").iterdir()]:
        if folder not in kept:
            shutil.rmtree(folder)
    named = {root / "data" / name for name in row.data_files.values_list("file", flat=True)}
    for file in [path for path in (root / "data").rglob("*") if path.is_file() and path not in named]:
        file.unlink()


def test_thirty_alterations_are_found(own_labels: None, tmp_path: Path) -> None:
    assert all_missed(tmp_path, 1, 30) == []


@pytest.mark.slow
def test_a_thousand_alterations_are_found(own_labels: None, tmp_path: Path) -> None:
    assert all_missed(tmp_path, 2, 1000) == []
