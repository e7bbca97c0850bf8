from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from gluebench.leaderboard.keeping import storage
from gluebench.leaderboard.keeping.folder import SiteError, SiteFolder
from gluebench.leaderboard.serving.environment import Bucket

SITE = SiteFolder(Path("/srv/site"))


def test_the_suite_runs_on_the_database_it_was_told(db: None) -> None:
    named = os.environ.get("GLUEBENCH_DATABASE", "")
    assert connection.vendor == ("postgresql" if named.startswith("postgres") else "sqlite")


def test_without_an_address_the_site_s_folder_holds_the_database() -> None:
    found = storage.database("", SITE)
    assert (found["ENGINE"], found["NAME"]) == ("django.db.backends.sqlite3", "/srv/site/site.sqlite3")


def test_an_address_is_read_part_by_part() -> None:
    found = storage.database("postgres://ada:p%40ss@db.example.org:5433/board?sslmode=require", SITE)
    parts = [found[key] for key in ("ENGINE", "USER", "PASSWORD", "HOST", "PORT", "NAME")]
    assert parts == ["django.db.backends.postgresql", "ada", "p@ss", "db.example.org", 5433, "board"]
    assert found["OPTIONS"]["sslmode"] == "require"


def test_an_address_without_a_database_is_refused() -> None:
    with pytest.raises(SiteError, match="names no database"):
        storage.database("postgres://ada:hidden@db.example.org", SITE)


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gluebench.leaderboard.keeping.folder.find_spec", lambda name: None)
    with pytest.raises(SiteError, match=r"gluebench\[postgres\]"):
        storage.database("postgres://db.example.org/board", SITE)
    with pytest.raises(SiteError, match=r"gluebench\[s3\]"):
        storage.storages_of(Bucket("board", "", None, None), SITE)


def test_the_tests_own_server_answers(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (0,)
