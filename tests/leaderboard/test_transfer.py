"""An export is the whole site at one moment, and a site made from it is that site, on any database."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.test import override_settings
from leaderboard import postgres as postgres_server
from leaderboard.material import PREDICTIONS, zip_bytes
from leaderboard.sealing import catch_up
from leaderboard.served import Served
from leaderboard.test_integrity import OTHER_KEY
from leaderboard.test_running import Machine, clean_environment, gluebench

from gluebench.leaderboard.apps.accounts.models import Membership, Token, User
from gluebench.leaderboard.apps.benchmarks.adding import keep_public
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.ledger.models import Leaf, signer
from gluebench.leaderboard.apps.organizing.models import FrozenCopy
from gluebench.leaderboard.apps.results.models import Results
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping import integrity, storage, transfer
from gluebench.leaderboard.keeping.folder import SiteError, SiteFolder


def restore(archive: Path, root: Path, *, replace: bool = True) -> SiteFolder:
    """Import it into the same database and another folder."""
    site = SiteFolder(root)
    with override_settings(STORAGES={**settings.STORAGES, **storage.storages_of(None, site)}):
        done = transfer.import_site(site, str(archive), lambda: None, replace=replace)
    assert done.problems == ()
    return site


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables."""
    tables = apps.get_models(include_auto_created=True)
    return {
        model._meta.label_lower: list(model._base_manager.order_by("pk").values_list()) for model in tables
    }


@pytest.fixture
def archive(
    transactional_db: None, graded: Callable[..., Submission], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setenv("GLUEBENCH_HOSTS", "board.example.org")
    graded()
    catch_up()  # else the import takes it for a site of a version that sealed less, and seals it
    (settings.FOLDER.root / "pages").mkdir(exist_ok=True)
    (settings.FOLDER.root / "pages" / "terms.md").write_text("# Our own terms\n")
    file = tmp_path / "export.tar.gz"
    assert transfer.export_site(str(file), secrets=True).problems == ()
    return file


def test_everything_comes_back_and_is_private(archive: Path, tmp_path: Path) -> None:
    submission, before = Submission.objects.get(), everything()
    Submission.objects.update(name="Another name")
    User.objects.create_user("later@example.org")
    site = restore(archive, tmp_path / "new")
    assert everything() == before
    assert [check.name for check in integrity.examine() if check.fix] == []
    file = site.submissions / submission.file.name
    assert hashlib.sha256(file.read_bytes()).hexdigest() == submission.sha256
    for part in ("labels", "manifests"):
        kept = settings.FOLDER.root / part
        copied = {path.relative_to(kept): path.read_bytes() for path in kept.rglob("*") if path.is_file()}
        assert copied
        assert all((site.root / part / path).read_bytes() == data for path, data in copied.items())
    assert (site.root / "pages" / "terms.md").read_text() == "# Our own terms\n"
    assert site.secret_key() == settings.SECRET_KEY
    assert "GLUEBENCH_HOSTS=board.example.org" in (site.root / "settings.env").read_text()
    paths = [archive, *(path for path in site.root.rglob("*") if path != site.static)]
    assert [path for path in paths if path.stat().st_mode & 0o077] == []


def test_without_secrets_nobody_can_sign_in_with_it_and_all_is_sealed_anew(
    archive: Path, tmp_path: Path, ada: Any
) -> None:
    ada.set_password("a password of ada's")
    ada.save()
    Token.objects.create(user=ada, name="a token", digest="0" * 64, expires="2999-01-01T00:00Z")
    file = tmp_path / "open.tar"
    transfer.export_site(str(file))
    ada.refresh_from_db()
    with tarfile.open(file) as tar:
        texts = b"".join(member.read() for info in tar if (member := tar.extractfile(info)))
        names = tar.getnames()
    for secret in (settings.SECRET_KEY, ada.password, "0" * 64):
        assert secret.encode() not in texts
    assert not {"secret-key", "settings.env"} & set(names)
    before = str(signer().key)
    with override_settings(SECRET_KEY=OTHER_KEY):
        site = restore(file, tmp_path / "new")
        assert [check.name for check in integrity.examine() if check.fix] == []
        entry = Leaf.objects.get(data__contains='"new key"').entry
        assert (entry["kind"], entry["key"]) == ("new key", str(signer().key))
        assert str(signer().key) != before
    assert site.secret_key() not in ("", settings.SECRET_KEY)
    assert not User.objects.get(pk=ada.pk).has_usable_password()
    assert not Token.objects.exists()


def test_a_folder_that_is_not_empty_is_refused_or_moved_aside(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "thesis.tex").write_text("…")
    with pytest.raises(SiteError, match="not empty"):
        restore(archive, tmp_path / "new", replace=False)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["thesis.tex"]
    site = restore(archive, tmp_path / "new", replace=True)
    assert site.key_file.is_file()
    assert [path.read_text() for path in site.root.glob("before-*/thesis.tex")] == ["…"]


def changed(archive: Path, change: Callable[[Path], None]) -> Path:
    """The archive packed anew after a change."""
    inside = archive.parent / "inside"
    with tarfile.open(archive) as tar:
        tar.extractall(inside, filter="data")
    change(inside)
    other = archive.parent / "changed.tar.gz"
    with tarfile.open(other, "w:gz") as tar:
        for path in inside.iterdir():
            tar.add(path, path.name)
    return other


def damage(inside: Path) -> None:
    file = next(path for path in (inside / "submissions").rglob("*") if path.is_file())
    file.write_bytes(file.read_bytes()[:-1] + b"x")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (damage, "is damaged"),
        (lambda inside: shutil.rmtree(inside / "labels"), "is missing or was added"),
        (lambda inside: (inside / "more").write_text("more"), "is missing or was added"),
        (lambda inside: (inside / "SHA256SUMS").unlink(), "not a whole export"),
    ],
    ids=["a byte", "a file less", "a file more", "no sums"],
)
def test_a_damaged_export_restores_nothing(
    archive: Path, tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    with pytest.raises(SiteError, match=said):
        restore(changed(archive, change), tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_half_an_export_and_what_is_none_restore_nothing(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    for other in (data[: len(data) // 2], b"no archive", b""):
        (tmp_path / "other").write_bytes(other)
        with pytest.raises(SiteError, match="not a whole export"):
            restore(tmp_path / "other", tmp_path / "new")
        assert list((tmp_path / "new").iterdir()) == []


def test_an_export_names_files_that_are_missing_or_changed(
    transactional_db: None, graded: Callable[..., Submission], tmp_path: Path
) -> None:
    lost, rotten = graded(), graded(name="Another")
    (settings.FOLDER.submissions / lost.file.name).unlink()
    (settings.FOLDER.submissions / rotten.file.name).write_bytes(b"rotten")
    made = transfer.export_site(str(tmp_path / "export.tar.gz"))
    assert set(made.problems) == {
        f"{lost.file.name} of submission {lost.key} is missing",
        f"{rotten.file.name} of submission {rotten.key} is not what was sent",
    }


def test_an_export_has_results_logos_and_frozen_copies(tiny: Benchmark, tmp_path: Path) -> None:
    names = [keep_public("tiny", data) for data in (b"Results", b"A logo", b"A copy")]
    sums = [name.rpartition("/")[2] for name in names]
    Results.objects.create(benchmark=tiny, made=tiny.added, file=names[0], sha256=sums[0])
    FrozenCopy.objects.create(benchmark=tiny, made=tiny.added, file=names[2], sha256=sums[2])
    Benchmark.objects.update(looks={"logo": {"file": names[1], "type": "image/png"}})
    assert transfer.export_site(str(tmp_path / "site.tar")).problems == ()
    with tarfile.open(tmp_path / "site.tar") as archive:
        assert {f"data/{name}" for name in names} <= {*archive.getnames()}


def test_an_export_overwrites_nothing(db: None, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SiteError, match="already exists"):
        transfer.export_site(str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"


BOARD = ("/benchmarks/tiny", "/benchmarks/tiny.json", "/benchmarks/tiny.csv", "/api/v1/benchmarks/tiny/board")

CLIENT = """
import sys
from pathlib import Path
from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from django.core.files.base import ContentFile
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.uploads.accept import accept
from gluebench.leaderboard.apps.submissions.models import Submission
data, number = Path(sys.argv[2]).read_bytes(), sys.argv[3]
owner, benchmark = User.objects.create_user(f"{number}@example.org", "a password"), Benchmark.objects.get()
each = 0
while each < 3 or not Path(sys.argv[4]).exists():
    each += 1
    row = Submission(owner=owner, benchmark=benchmark, name=f"{number}-{each}", model="m")
    accept(row, ContentFile(data, name="a.zip"), limited=False)
"""
"""Submits privately, so that the board does not change meanwhile."""


def board(url: str) -> list[Any]:
    """What they show; of JSON the values, since PostgreSQL keeps no order of keys."""
    answers = [urllib.request.urlopen(url + path, timeout=60) for path in BOARD]
    return [
        json.load(answer) if answer.headers["Content-Type"] == "application/json" else answer.read()
        for answer in answers
    ]


@pytest.fixture(params=["sqlite", "postgres", "sqlite to postgres"])
def databases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Where a site and its copy keep their rows."""
    monkeypatch.delenv("GLUEBENCH_DATABASE", raising=False)
    if request.param == "sqlite":
        yield ["", ""]
        return
    with postgres_server.database() as one, postgres_server.database() as other:
        yield ["" if request.param.startswith("sqlite") else one, other]


@pytest.mark.slow
def test_an_export_while_eight_clients_submit_is_the_site_at_that_moment(
    databases: list[str], tmp_path: Path, gold_folder: Path
) -> None:
    here, there = ({"GLUEBENCH_DATABASE": each} for each in databases)
    site = Served(tmp_path / "site", gold_folder, here)
    files = [tmp_path / f"{at}.zip" for at in range(2)]
    for at, file in enumerate(files):
        file.write_bytes(zip_bytes({**PREDICTIONS, "Para": f"{at}01101"}))
        site.submit(file, f"Number {at}")
    while site.json("/benchmarks/tiny/rules.json")["status"] != "current":
        time.sleep(0.5)  # ranks are computed in the background after the gradings
    before = board(site.url)
    stop = tmp_path / "stop"
    arguments = (CLIENT, str(site.folder), str(files[0]))
    clients = [threading.Thread(target=site.python, args=(*arguments, str(at), str(stop))) for at in range(8)]
    for each in clients:
        each.start()
    while len(stored(site.folder)) < 12:
        time.sleep(0.05)
    archive = tmp_path / "export.tar.gz"
    done = gluebench("export", "--secrets", str(archive), site=site.folder, **here)
    after = board(site.url)
    stop.touch()
    for each in clients:
        each.join()
    site.stop()
    assert done.returncode == 0, done.stdout + done.stderr
    done = gluebench("import", str(archive), site=tmp_path / "new", **there)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 12 <= len(stored(tmp_path / "new")) < len(stored(site.folder))
    done = gluebench("doctor", "--files", site=tmp_path / "new", **there)
    # What waited is handed out once more by a worker; nothing else is wrong.
    assert [line.split()[1] for line in done.stdout.splitlines() if "WRONG" in line] in ([], ["queue"])
    again = gluebench("import", str(archive), site=tmp_path / "other", **there)
    assert ("not empty" in again.stderr) == bool(databases[1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    copy = Machine("web", "--port", str(port), site=tmp_path / "new", variables=there)
    try:
        assert before == after == board(f"http://127.0.0.1:{port}")
    finally:
        copy.stop()


def stored(root: Path) -> list[Path]:
    return [path for path in (root / "submissions").rglob("*") if path.is_file()]


MANY = """
import sys, os, time
from pathlib import Path
from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from django.core.files.base import ContentFile
from gluebench.leaderboard.apps.submissions.models import Result, Submission
first, result = Submission.objects.get(), Result.objects.get()
for each in range(999):
    data = os.urandom(100_000)
    first.pk, first.key, first.name = None, f"{each:012}", f"System {each}"
    first._state.adding = True
    first.file = None
    first.sha256 = __import__("hashlib").sha256(data).hexdigest()
    first.file.save("a.zip", ContentFile(data), save=False)
    first.save()
    result.pk, result.submission = None, first
    result._state.adding = True
    result.save()
from gluebench.leaderboard.apps.ledger.models import follow
follow([*Submission.objects.values_list("pk", flat=True)])
"""


@pytest.mark.slow
def test_how_long_an_export_of_a_thousand_submissions_takes(tmp_path: Path, gold_folder: Path) -> None:
    """100 kB each, which do not compress."""
    site = Served(tmp_path / "site", gold_folder, {"GLUEBENCH_DATABASE": ""})
    site.stop()
    (tmp_path / "a.zip").write_bytes(zip_bytes(PREDICTIONS))
    site.submit(tmp_path / "a.zip", "The first")
    site.python(MANY, str(site.folder))
    for words, folder in (
        (["export", str(tmp_path / "export.tar.gz")], site.folder),
        (["import", str(tmp_path / "export.tar.gz")], tmp_path / "new"),
        (["doctor", "--files"], tmp_path / "new"),
    ):
        start = time.monotonic()
        command = [sys.executable, "-m", "gluebench", "leaderboard", *words, "--site", str(folder)]
        done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True)
        print(f"{words[0]} at 1,000 submissions: {time.monotonic() - start:.1f} s")
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(stored(tmp_path / "new")) == 1000


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        "null",
        "[[]]",
        '{"model": "accounts.user"}',
        '{"model": "accounts.team", "pk": "x", "fields": {"name": "A"}}',
        '{"model": "accounts.team", "pk": 1, "fields": {"name": null}}',
        '{"model": "accounts.team", "pk": 1, "fields": []}',
        '{"model": "accounts.user", "pk": 1, "fields": {"email": "a@b.c", "date_joined": "soon"}}',
    ],
)
def test_malformed_rows_of_an_archive_are_named_and_change_nothing(
    line: str, tmp_path: Path, ada: Any
) -> None:
    table = tmp_path / "accounts.team"
    table.mkdir()
    (table / "000000.jsonl").write_text(line)
    with pytest.raises(SiteError, match=r"^accounts\.team: these are not rows of this version"):
        transfer._load(tmp_path, replace=True)
    assert User.objects.filter(pk=ada.pk).exists()


def test_the_teams_of_an_archive_that_had_them_with_the_people_become_memberships(
    tmp_path: Path, ada: Any, person: Any
) -> None:
    grace = person("grace@example.org")
    joined = "2026-01-02T03:04:05Z"
    rows = {
        "accounts.team": [
            (1, {"name": "Owls", "created": joined}),
            (2, {"name": "Larks", "created": joined}),
        ],
        "accounts.user": [
            (ada.pk, {"email": ada.email, "date_joined": joined, "team": 1}),
            (grace.pk, {"email": grace.email, "date_joined": joined, "team": 2}),
        ],
        "accounts.membership": [(5, {"user": grace.pk, "team": 2, "since": "2026-02-02T00:00:00Z"})],
    }
    for table, lines in rows.items():
        (tmp_path / table).mkdir()
        texts = [json.dumps({"model": table, "pk": pk, "fields": fields}) for pk, fields in lines]
        (tmp_path / table / "000000.jsonl").write_text("\n".join(texts))
    transfer._load(tmp_path, replace=True)
    kept = Membership.objects.order_by("user").values_list("user", "team", "since__month", "until")
    assert list(kept) == [(ada.pk, 1, 1, None), (grace.pk, 2, 2, None)]
