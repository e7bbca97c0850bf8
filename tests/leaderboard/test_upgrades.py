"""Sites made by earlier versions: brought up to date, or refused with what to do instead.

`older/site-COMMIT.tar.gz` is the folder of a site that the code of that commit made, with four submissions to
the benchmark of tests/tiny.toml; `older/export-COMMIT.tar.gz` is its export. Each release keeps a site of its
own there, as `site-0.1.0.tar.gz` (release/cut.py).
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from gluebench.leaderboard.apps.submissions import grading

HERE = Path(__file__).parent
SOURCE = str(HERE.parents[1] / "src")
COMMITS = ["4764144e", "6cc45a9b", "d07be43f", "d16cc92a"]
RELEASES = [
    path.name.removeprefix("site-").removesuffix(".tar.gz")
    for path in sorted((HERE / "older").glob("site-*.*.*.tar.gz"))
]
LASTING = [COMMITS[-1], *RELEASES]
"""Those that `init` must bring up to date: from here on no migration is written anew."""
REFUSED = "Export the site with the version that made it: gluebench leaderboard export"
BOARD = """
import os, sys
os.environ.update(GLUEBENCH_SITE=sys.argv[1], DJANGO_SETTINGS_MODULE="gluebench.leaderboard.settings")
import django
django.setup()
from django.apps import apps
from django.test import Client
for model in apps.get_models(include_auto_created=True):
    list(model._base_manager.all())
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.apps.ledger.verify import Verification
verified = Verification()
integrity.verify(verified)
print(verified.findings)
page = Client(SERVER_NAME="localhost").get("/benchmarks/tiny.json").json()
print([(row["rank"], row["name"], row["score"]["value"]) for row in page["rows"]])
"""
ROWS = "[(1, 'System 0', 0.9634), (2, 'System 2', 0.6509), (3, 'System 1', 0.198225)]"


def older_site(folder: Path, commit: str) -> Path:
    return site_in(HERE / "older" / f"site-{commit}.tar.gz", folder)


def site_in(archive_path: Path, folder: Path) -> Path:
    site = folder / "site"
    with tarfile.open(archive_path) as archive:
        archive.extractall(site, filter="data")
    for path in (site, *site.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return site


def put_into_a_team(site: Path) -> tuple[int, int, str, None]:
    """Let a person be in a team by the column of then; return the membership that this must become."""
    with closing(sqlite3.connect(site / "site.sqlite3")) as database:
        user, joined = database.execute("SELECT id, date_joined FROM accounts_user ORDER BY id").fetchone()
        team = "INSERT INTO accounts_team (id, name, code, created) VALUES (7, 'Owls', 'c', ?)"
        database.execute(team, [joined])
        database.execute("UPDATE accounts_user SET team_id = 7 WHERE id = ?", [user])
        database.commit()
    return user, 7, joined, None


def content(site: Path) -> list[str]:
    """All of the database, as SQL."""
    with closing(sqlite3.connect(site / "site.sqlite3")) as database:
        return list(database.iterdump())


def run(*arguments: str, source: str = SOURCE, **more: str) -> subprocess.CompletedProcess[str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("GLUEBENCH", "DJANGO"))}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**mine, "PYTHONPATH": source, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def command(*arguments: str, source: str = SOURCE, **more: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "gluebench", "leaderboard", *arguments, source=source, **more)


def require_as_before(site: Path, source: str = SOURCE) -> None:
    """See that every table can be read, the board is the one of then, and nothing counts as altered."""
    board = run("-c", BOARD, str(site), source=source)
    assert board.stdout.splitlines() == ["[]", ROWS], board.stdout + board.stderr


@pytest.mark.parametrize("commit", [*COMMITS, *RELEASES])
def test_an_older_site_is_brought_up_to_date_or_refused_with_what_to_do(commit: str, tmp_path: Path) -> None:
    site = older_site(tmp_path, commit)
    joined = put_into_a_team(site) if commit == COMMITS[-1] else None
    before = content(site)
    done = command("init", "--site", str(site))
    assert done.returncode == 0 or commit not in LASTING, done.stderr
    if done.returncode == 0 and commit != "4764144e":
        require_as_before(site)
        with closing(sqlite3.connect(site / "site.sqlite3")) as database:
            members = database.execute("SELECT user_id, team_id, since, until FROM accounts_membership")
            assert members.fetchall() == ([] if joined is None else [joined])
        return
    refusals = [done]
    if commit == COMMITS[0]:
        refusals.append(command("serve", "--port", "8999", "--site", str(site)))
        refusals.append(command("doctor", "--site", str(site)))
    for refused in refusals:
        said = refused.stdout + refused.stderr
        assert (refused.returncode, REFUSED in said, "Traceback" in said) == (1, True, False), said
    assert content(site) == before


def test_the_export_of_an_older_version_is_imported_and_no_row_is_accused(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = command("import", str(HERE / "older" / "export-4764144e.tar.gz"), "--site", str(site))
    assert done.returncode == 0, done.stderr
    require_as_before(site)


def later_version(folder: Path) -> str:
    """The source of a version whose news have one more column, with its migration."""
    source = folder / "later"
    shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("__pycache__"))
    models = source / "gluebench/leaderboard/apps/news/models.py"
    text = models.read_text()
    field = '    tone = models.CharField(max_length=20, default="plain")\n    title ='
    assert text.count("    title =") == 1
    models.write_text(text.replace("    title =", field))
    made = folder / "made"
    assert command("init", "--site", str(made), source=str(source)).returncode == 1, (
        "no migration is there yet"
    )
    django = {"DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings", "GLUEBENCH_SITE": str(made)}
    done = run("-m", "django", "makemigrations", "news", "--name", "tone", source=str(source), **django)
    assert "Add field tone" in done.stdout, done.stdout + done.stderr
    return str(source)


@pytest.mark.slow
def test_the_site_that_this_version_keeps_is_opened_by_a_later_one_with_more_columns(tmp_path: Path) -> None:
    archive = tmp_path / "kept.tar.gz"
    assert run(str(HERE / "older_site.py"), str(archive)).returncode == 0
    site = site_in(archive, tmp_path)
    require_as_before(site)
    later = later_version(tmp_path)
    done = command("init", "--site", str(site), source=later)
    assert done.returncode == 0, done.stderr
    require_as_before(site, source=later)
    with closing(sqlite3.connect(site / "site.sqlite3")) as database:
        names = [column for _, column, *_ in database.execute("PRAGMA table_info(news_announcement)")]
    assert "tone" in names
    earlier = command("init", "--site", str(site))
    assert (earlier.returncode, REFUSED in earlier.stderr) == (1, True), "the earlier version touches nothing"


def test_what_waits_in_the_queue_of_an_older_site_is_still_done(tmp_path: Path) -> None:
    """A queued task names its function by its module, and modules have moved since."""
    site = older_site(tmp_path, LASTING[0])
    select = "SELECT DISTINCT task_path FROM django_tasks_database_dbtaskresult ORDER BY task_path"
    with closing(sqlite3.connect(site / "site.sqlite3")) as database:
        (old,) = database.execute(select).fetchone()
    assert old == "gluebench.leaderboard.submissions.grading.grade_next"
    assert command("init", "--site", str(site)).returncode == 0
    with closing(sqlite3.connect(site / "site.sqlite3")) as database:
        paths = [path for (path,) in database.execute(select)]
    assert paths == ["gluebench.leaderboard.apps.submissions.grading.grade_next"]
    assert callable(grading.grade_next.func)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    ["ALTER TABLE benchmarks_benchmark ADD COLUMN other", "ALTER TABLE accounts_team RENAME name TO title"],
)
def test_a_site_whose_tables_are_not_those_of_its_steps_is_refused(change: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert command("init", "--site", str(site)).returncode == 0
    assert command("init", "--site", str(site)).returncode == 0
    with sqlite3.connect(site / "site.sqlite3") as database:
        database.execute(change)
    refused = command("init", "--site", str(site))
    assert (refused.returncode, REFUSED in refused.stderr) == (1, True)


@pytest.mark.slow
def test_a_site_on_postgresql_whose_tables_are_others_is_refused(tmp_path: Path, postgres: str) -> None:
    import psycopg

    site = tmp_path / "site"
    here = {"GLUEBENCH_DATABASE": postgres}
    assert command("init", "--site", str(site), **here).returncode == 0
    assert command("init", "--site", str(site), **here).returncode == 0
    with psycopg.connect(postgres) as database:
        database.execute("ALTER TABLE accounts_team RENAME name TO title")
    refused = command("init", "--site", str(site), **here)
    assert (refused.returncode, REFUSED in refused.stderr) == (1, True)


@pytest.mark.slow
def test_an_import_does_not_date_a_grading_whose_successor_was_deleted(tmp_path: Path) -> None:
    """Only a moment before that of the result is of an older version; one after it is another grading's."""
    site = tmp_path / "site"
    assert (
        command("import", str(HERE / "older" / "export-4764144e.tar.gz"), "--site", str(site)).returncode == 0
    )
    later = "strftime('%Y-%m-%d %H:%M:%f', finished, '+0.5 seconds')"
    with sqlite3.connect(site / "site.sqlite3") as database:
        database.execute(f"UPDATE submissions_submission SET finished = {later} WHERE name = 'System 1'")
    archive = tmp_path / "again.tar.gz"
    assert command("export", "--secrets", str(archive), "--site", str(site)).returncode == 0
    assert command("import", str(archive), "--site", str(tmp_path / "new")).returncode == 0
    verified = command("verify", str(tmp_path / "new"))
    assert verified.returncode == 1
    assert "1 not what their results say" in verified.stdout + verified.stderr
