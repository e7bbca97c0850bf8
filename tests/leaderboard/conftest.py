"""A site in a temporary folder, with Django set up on it before any test module here is imported."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
import pytest
from django.conf import settings
from django.test import override_settings
from leaderboard import postgres as postgres_server
from leaderboard.in_process import InProcess
from leaderboard.material import MANIFEST, PREDICTIONS, write_data, write_gold, zip_bytes
from leaderboard.phased import Clock, Make, at
from leaderboard.served import Served, made_once

from gluebench.leaderboard.keeping.folder import VARIABLE, SiteFolder

_PLAIN = "django.contrib.staticfiles.storage.StaticFilesStorage"
_HOME = Path(tempfile.mkdtemp(prefix="gluebench-site-"))
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ[VARIABLE] = str(_HOME)
os.environ["DJANGO_SETTINGS_MODULE"] = "gluebench.leaderboard.settings"
SiteFolder(_HOME).create()

_UMASK = os.umask(0o022)
django.setup()  # which sets the umask of a site's processes; other tests of this one need the usual one
os.umask(_UMASK)
# Overridden and not set: a parallel worker may have been set up, and used, before this file is read.
override_settings(
    STORAGES={**settings.STORAGES, "staticfiles": {"BACKEND": _PLAIN}},
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
).enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Let each worker make a site of its own: with these it would set Django up on this one, and share it."""
    for name in (VARIABLE, "DJANGO_SETTINGS_MODULE"):
        os.environ.pop(name, None)


@pytest.fixture(autouse=True)
def _quick_grader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    from gluebench.leaderboard.apps.submissions import process

    if "own_grader" not in request.fixturenames:
        monkeypatch.setattr(process, "_start", InProcess)


@pytest.fixture(autouse=True, scope="session")
def _quick_disk() -> Iterator[None]:
    """Do not wait until the disk has what is written: no test survives a power failure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    """Put the tables of the site that is made for served ones into the database in memory.

    Migrations then find nothing to do; to apply them again takes seconds.
    """
    from django.db import connection

    if connection.vendor != "sqlite":
        yield
        return
    name = connection.creation._get_test_db_name()
    made = sqlite3.connect(made_once() / "site.sqlite3")
    in_memory = sqlite3.connect(name, uri=True)
    with contextlib.closing(made), contextlib.closing(in_memory):
        made.backup(in_memory)
        yield


@pytest.fixture
def own_grader() -> None:
    """Grade in a process of its own, with its limits, as a site does."""


@pytest.fixture(scope="session")
def gold_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gold(tmp_path_factory.mktemp("gold"))


@pytest.fixture
def good_zip() -> bytes:
    return zip_bytes(PREDICTIONS)


@pytest.fixture(scope="session")
def prepared_tiny(gold_folder: Path) -> Any:
    """The benchmark of tests/tiny.toml, checked and not yet added to a site."""
    from gluebench.leaderboard.apps.benchmarks.contents import prepare

    return prepare(str(MANIFEST), gold_folder)


@pytest.fixture
def tiny(db: None, prepared_tiny: Any) -> Any:
    """The benchmark of tests/tiny.toml, as if added by an organizer; its log is empty.

    Its rows are written without the checks and the log, which take most of the time of adding one.
    """
    from django.core.cache import caches

    from gluebench.leaderboard.apps.benchmarks import adding
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark, DataFile, publish_labels
    from gluebench.leaderboard.apps.submissions.acts import orphans
    from gluebench.leaderboard.apps.submissions.models import submission_storage

    caches["pages"].clear()
    caches["rates"].clear()
    # What other tests of this process left: the database forgot their rows, the disk keeps their files.
    for left in settings.FOLDER.uploads.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    for name in orphans(timedelta(0)):
        submission_storage().delete(name)
    place, digest = adding._keep_gold(prepared_tiny.name, prepared_tiny.gold)
    publish_labels(place)
    files = adding._save(prepared_tiny.name, prepared_tiny.files)
    made = Benchmark.objects.create(
        name=prepared_tiny.name,
        title=prepared_tiny.title,
        manifest=prepared_tiny.manifest.text,
        parents=list(prepared_tiny.manifest.parents),
        gold=place,
        gold_digest=digest,
        settings={"per_day": None, "at_once": None},  # tests of limits set their own
    )
    for file in files:
        file.benchmark = made
    DataFile.objects.bulk_create(files)
    return made


@pytest.fixture
def person(db: None) -> Callable[[str], Any]:
    """An account whose address is confirmed."""
    from allauth.account.models import EmailAddress

    from gluebench.leaderboard.apps.accounts.models import User

    def made(email: str) -> User:
        user = User.objects.create_user(email, "a long password")
        EmailAddress.objects.create(user=user, email=email, primary=True, verified=True)
        return user

    return made


@pytest.fixture
def ada(person: Callable[[str], Any]) -> Any:
    return person("ada@example.org")


@pytest.fixture
def owner(ada: Any) -> Any:
    """A browser in which ada is signed in."""
    from django.test import Client

    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def send(tiny: Any, ada: Any, good_zip: bytes) -> Callable[..., Any]:
    """Take a submission in without grading it; returns its row."""
    from django.core.files.base import ContentFile

    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.uploads.accept import accept

    def sent(data: bytes = good_zip, filename: str = "predictions.zip", **details: Any) -> Submission:
        values = {"owner": ada, "benchmark": tiny, "name": "A system", "model": "BiLSTM", "public": True}
        return accept(Submission(**{**values, **details}), ContentFile(data, name=filename))

    return sent


@pytest.fixture
def graded(send: Callable[..., Any]) -> Callable[..., Any]:
    """Take a submission in and grade it."""
    from gluebench.leaderboard.apps.submissions.grading import grade

    def done(*arguments: Any, **details: Any) -> Any:
        submission = send(*arguments, **details)
        grade(submission.pk)
        submission.refresh_from_db()
        return submission

    return done


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of this process, which a test moves."""
    from django.utils import timezone

    moved = Clock()
    monkeypatch.setattr(timezone, "now", lambda: moved.now)
    return moved


@pytest.fixture
def phase(tiny: Any) -> Make:
    """Add a phase as an organizer would."""
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.limits.phase_acts import save_phase
    from gluebench.leaderboard.apps.phases.models import Phase

    def made(name: str, opens: str, closes: str | None, **values: Any) -> Phase:
        times = {"opens": at(opens), "closes": at(closes) if closes else None}
        row = Phase(benchmark=Benchmark.objects.get(pk=tiny.pk), name=name, **times, **values)
        save_phase(row)
        return Phase.objects.get(pk=row.pk)

    return made


@pytest.fixture(scope="session")
def walked(django_db_setup: None, django_db_blocker: Any, gold_folder: Path) -> Any:
    """What everybody is answered everywhere: see leaderboard.walk."""
    from leaderboard.walk import walk

    with django_db_blocker.unblock():
        return walk(gold_folder)


@pytest.fixture
def postgres() -> Iterator[str]:
    """The address of an empty PostgreSQL database: what GLUEBENCH_DATABASE of a served site may be."""
    with postgres_server.database() as address:
        yield address


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, gold_folder: Path) -> Iterator[Served]:
    with contextlib.ExitStack() as stack:
        environment = {}
        if os.environ.get(postgres_server.VARIABLE):
            environment[postgres_server.VARIABLE] = stack.enter_context(postgres_server.database())
        data = write_data(tmp_path_factory.mktemp("data"))
        site = Served(tmp_path_factory.mktemp("served") / "site", gold_folder, environment, data)
        try:
            yield site
        finally:
            if site.process.poll() is None:
                site.stop()
