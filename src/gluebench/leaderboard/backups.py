"""A whole site as one archive, taken while it serves, and a site made from such an archive.

The database comes first and then the files that its rows name: a file is written before its row and never
changes, so that the archive is the site at the moment of the database's snapshot.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sqlite3
import subprocess
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from gluebench.leaderboard import storage
from gluebench.leaderboard.folder import PRIVATE_FOLDER, SiteError, SiteFolder, make_private
from gluebench.version import __version__

FORMAT = "gluebench.backup/1"
FACTS, SUMS, SETTINGS, DUMP = "backup.json", "SHA256SUMS", "settings.env", "database.dump"
_ROWS = (
    "SELECT key, 'submissions', file, sha256 FROM submissions_submission WHERE file <> '' "
    "UNION SELECT '', 'data', file, sha256 FROM benchmarks_datafile ORDER BY 2, 3"
)
"""Files that the database names: key of the submission, storage, name and SHA-256."""


class Backup(NamedTuple):
    """What an archive holds."""

    files: int
    """Submitted files."""
    size: int
    """Bytes of the archive."""
    facts: dict[str, Any]
    problems: tuple[str, ...] = ()
    """Files that are missing, or not as they were sent or published."""


class _Archive:
    """An archive that is being written, with the SHA-256 of each file so far in `sums`."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.sums: dict[str, str] = {}

    def add(self, name: str, file: IO[bytes] | bytes) -> str:
        """Add a file; returns its SHA-256."""
        file = io.BytesIO(file) if isinstance(file, bytes) else file
        info = tarfile.TarInfo(name)
        info.size = file.seek(0, os.SEEK_END)
        info.mode, info.mtime = 0o600, int(time.time())
        file.seek(0)
        self.sums[name] = hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
        file.seek(0)
        self._tar.addfile(info, file)
        return self.sums[name]


def take(file: Path) -> Backup:
    """Write the site that Django is set up on into a new archive, whole or not at all. Raises SiteError."""
    if file.exists():
        raise SiteError(f"{file} already exists, and a backup replaces no file. Give another file name.")
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.absolute().parent) as name:
        scratch = Path(name)
        database, rows, log = _snapshot(scratch)
        submitted = sum(part == "submissions" for _, part, *_ in rows)
        facts: dict[str, Any] = {
            "format": FORMAT,
            "gluebench": __version__,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "database": database,
            "submitted_files": submitted,
            "log": log,
        }
        with tarfile.open(scratch / "archive", "w:gz", compresslevel=1) as tar:
            archive = _Archive(tar)
            archive.add(FACTS, json.dumps(facts).encode())
            _add_site(archive, scratch / database)
            problems = [(row[1], problem) for row in rows if (problem := _add_stored(archive, *row))]
            sums = "".join(f"{digest}  {name}\n" for name, digest in archive.sums.items())
            archive.add(SUMS, sums.encode())
        (scratch / "archive").chmod(0o600)
        (scratch / "archive").rename(file)
    submitted -= sum(part == "submissions" for part, _ in problems)
    return Backup(submitted, file.stat().st_size, facts, tuple(problem for _, problem in problems))


def _add_site(archive: _Archive, database: Path) -> None:
    """Add the database, the settings and the folders of the site."""
    from django.conf import settings

    from gluebench.leaderboard.benchmarks.models import Benchmark, labels_at_hand

    site: SiteFolder = settings.FOLDER
    with open(database, "rb") as file:
        archive.add(database.name, file)
    archive.add(site.key_file.name, settings.SECRET_KEY.encode())
    # How the site runs, passwords too, but not where its folder is.
    names = [name for name in sorted(os.environ) if name.startswith("GLUEBENCH_")]
    names = [name for name in names if not name.startswith(("GLUEBENCH_SITE", "GLUEBENCH_SECRET_KEY"))]
    archive.add(SETTINGS, "".join(f"{name}={os.environ[name]}\n" for name in names).encode())
    for benchmark in Benchmark.objects.all():
        labels_at_hand(benchmark.gold)  # fetched where labels are in a bucket
    for folder in (site.manifests, site.pages, site.mail, site.labels):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            with suppress(FileNotFoundError), open(path, "rb") as file:  # mail is deleted after a while
                archive.add(f"{folder.name}/{path.relative_to(folder)}", file)


def _snapshot(scratch: Path) -> tuple[str, list[tuple[str, str, str, str]], Any]:
    """The database at one moment as a file: its name, the files that its rows name, the end of its log."""
    from django.db import connection, transaction

    last = "SELECT id, seal FROM audit_entry ORDER BY id DESC LIMIT 1"
    if connection.vendor == "sqlite":
        name = "site.sqlite3"
        connection.ensure_connection()
        with sqlite3.connect(scratch / name) as copy:
            connection.connection.backup(copy)
            rows, end = copy.execute(_ROWS).fetchall(), copy.execute(last).fetchone()
        copy.close()
        return name, rows, end
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        _postgres("pg_dump", "--format=custom", f"--snapshot={snapshot}", f"--file={scratch / DUMP}")
        cursor.execute(_ROWS)
        rows = cursor.fetchall()
        cursor.execute(last)
        return DUMP, rows, cursor.fetchone()


def _postgres(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL on the site's database; its password is not on the command line."""
    from django.db import connection

    values = connection.settings_dict
    options = {name: values[name] for name in ("HOST", "PORT", "USER", "PASSWORD")} | values["OPTIONS"]
    options["database"] = values["NAME"]
    # Each option of PostgreSQL, such as sslmode, has an environment variable: PGSSLMODE.
    env = os.environ | {f"PG{name.upper()}": str(value) for name, value in options.items() if value}
    try:
        done = subprocess.run([program, *arguments], env=env, capture_output=True, text=True)
    except FileNotFoundError:
        raise SiteError(f"{program} is not installed. Install PostgreSQL's client programs.") from None
    if done.returncode:
        raise SiteError(f"{program} failed: {done.stderr.strip()}")


def _add_stored(archive: _Archive, key: str, part: str, name: str, expected: str) -> str:
    """Add a file of a storage; return what is wrong with it, "" for nothing."""
    from django.core.files.storage import storages

    from gluebench.leaderboard.benchmarks.models import DataFile
    from gluebench.leaderboard.submissions.models import Submission

    whose = f"{name} of submission {key}" if key else f"{name} of the files to download"
    try:
        with storages[part].open(name) as file:
            digest = archive.add(f"{part}/{name}", cast(IO[bytes], file))
    except FileNotFoundError:
        rows = Submission.objects.filter(key=key) if key else DataFile.objects
        gone = not rows.filter(file=name).exists()
        return f"{whose} {'was deleted meanwhile' if gone else 'is missing'}"
    return "" if digest == expected else f"{whose} is not what was {'sent' if key else 'published'}"


def restore(site: SiteFolder, file: Path, open_site: Callable[[], Any], *, replace: bool = False) -> Backup:
    """Make a site from an archive, once all of its sums are verified; `open_site` sets Django up on it.

    A folder or database that is not empty is refused, unless `replace` says to move what is in the folder
    aside and to overwrite the database. Raises SiteError.
    """
    places = dict.fromkeys((site.root, *(getattr(site, part) for part in storage.PARTS)))
    existing = next((path for path in places if path.is_dir() and any(path.iterdir())), None)
    if existing and not replace:
        raise SiteError(f"{existing} is not empty. Name a new folder, or add --replace to move it aside.")
    make_private(site.root)
    with _unpacked(file, site.root) as scratch:
        facts = json.loads((scratch / FACTS).read_text())
        if (facts["database"] == DUMP) != bool(os.environ.get("GLUEBENCH_DATABASE", "").strip()):
            setting = "PostgreSQL: set" if facts["database"] == DUMP else "SQLite: unset"
            raise SiteError(f"The backup is of a site on {setting} GLUEBENCH_DATABASE. Nothing was restored.")
        for place in places:
            _move_aside(place, scratch)
        for path in sorted(scratch.iterdir()):
            if path.name not in (FACTS, SUMS, DUMP, *storage.PARTS):
                path.rename(site.root / path.name)
        site.create()
        open_site()
        if facts["database"] == DUMP:
            _restore_dump(scratch / DUMP, replace=replace)
        for part in storage.PARTS:
            _store(scratch / part, part)
    return Backup(facts["submitted_files"], file.stat().st_size, facts)


@contextmanager
def _unpacked(file: Path, root: Path) -> Iterator[Path]:
    """The archive's files in a folder beside where they go, once they are verified."""
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=root) as name:
        scratch = Path(name)
        try:
            with tarfile.open(file, "r:gz") as tar:
                tar.extractall(scratch, filter="data")
            _verify(scratch)
        except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
            raise SiteError(f"{file} is not a whole backup: {error}. Nothing was restored.") from error
        for folder in filter(Path.is_dir, scratch.rglob("*")):
            folder.chmod(PRIVATE_FOLDER)
        yield scratch


def _verify(scratch: Path) -> None:
    """Raise ValueError unless the files are those that the sums name, with those sums."""
    lines = (scratch / SUMS).read_text().splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    files = {str(path.relative_to(scratch)): path for path in scratch.rglob("*") if path.is_file()}
    del files[SUMS]
    if mismatches := sorted(sums.keys() ^ files.keys()):
        raise ValueError(f"{mismatches[0]} is missing or was added")
    for name, path in files.items():
        with open(path, "rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != sums[name]:
                raise ValueError(f"{name} is damaged")


def _move_aside(place: Path, scratch: Path) -> None:
    """Put what is in a folder into one within it; the folder itself may be a mount."""
    if place.is_dir():
        aside = place / f"before-{time.strftime('%Y%m%d-%H%M%S')}"
        for path in [path for path in place.iterdir() if path != scratch]:
            make_private(aside)
            path.rename(aside / path.name)


def _restore_dump(dump: Path, *, replace: bool) -> None:
    from django.db import connection

    if connection.introspection.table_names() and not replace:
        raise SiteError("The database is not empty. Name an empty one, or add --replace to overwrite it.")
    connection.close()
    options = ["--no-owner", "--exit-on-error", "--single-transaction", *["--clean", "--if-exists"] * replace]
    _postgres("pg_restore", *options, f"--dbname={connection.settings_dict['NAME']}", str(dump))


def _store(folder: Path, part: str) -> None:
    """Put the files of a storage where this machine's settings keep them."""
    from django.core.files import File
    from django.core.files.storage import storages

    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with open(path, "rb") as file:
            storages[part].save(str(path.relative_to(folder)), File(file))
