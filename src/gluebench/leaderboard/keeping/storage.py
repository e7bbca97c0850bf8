"""Database and storages of a site: SQLite and a folder, or PostgreSQL and a bucket; static files."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.contrib.staticfiles.apps import StaticFilesConfig
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.keeping.folder import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    STORAGE,
    SiteError,
    SiteFolder,
    need,
)
from gluebench.leaderboard.serving.environment import Bucket

_POSTGRESQL_DISK_FULL = "53100"
_POSTGRESQL_READ_ONLY = "25006"
CONNECT_SECONDS = 10
PARTS = ("submissions", "labels", "data")
"""Storages: a folder of the site or a prefix in the bucket, each of this name."""

# Without IMMEDIATE and the wait, a third of concurrent uploads fail with "database is locked".
_SQLITE = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        # FULL: a submission that was confirmed to its sender survives a power cut.
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA mmap_size=134217728;"
        "PRAGMA journal_size_limit=27103364;PRAGMA cache_size=-20000;"
    ),
}


def database(address: str, site: SiteFolder) -> Values:
    """Django's settings of the database at an address; without one, of the site's own. Raises SiteError."""
    if not address:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(site.database),
            "CONN_MAX_AGE": None,
            "OPTIONS": _SQLITE,
        }
    need("psycopg", "postgres", "GLUEBENCH_DATABASE")
    import dj_database_url

    values: Values = {**dj_database_url.parse(address, conn_max_age=None, conn_health_checks=True)}
    if not values["NAME"]:
        raise SiteError(
            "GLUEBENCH_DATABASE names no database. Write postgres://user:password@host:5432/database."
        )
    values["OPTIONS"] = {"connect_timeout": CONNECT_SECONDS, **values.get("OPTIONS", {})}
    return values


def is_full(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, means a full disk or disk quota, for files or the database."""
    codes = {errno.ENOSPC, errno.EDQUOT}
    return _is_caused_by(error, codes, sqlite3.SQLITE_FULL, _POSTGRESQL_DISK_FULL)


def is_read_only(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, means that files or the database may not be written."""
    codes = {errno.EROFS, errno.EACCES, errno.EPERM}
    return _is_caused_by(error, codes, sqlite3.SQLITE_READONLY, _POSTGRESQL_READ_ONLY)


def _is_caused_by(error: BaseException | None, codes: set[int], sqlite: int, postgresql: str) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in codes:
            return True
        code = getattr(error, "sqlite_errorcode", 0)
        if code & 0xFF == sqlite or getattr(error, "sqlstate", "") == postgresql:  # it has extended codes
            return True
        error = error.__cause__ or error.__context__
    return False


class Folder(FileSystemStorage):
    """A folder whose files survive a power cut once they are saved."""

    def _save(self, name: str, content: File[bytes]) -> str:
        try:
            name = super()._save(name, content)  # type: ignore[misc]
            path = self.path(name)
            for place in (path, os.path.dirname(path), self.location):
                opened = os.open(place, os.O_RDONLY)
                try:
                    os.fsync(opened)
                finally:
                    os.close(opened)
        except OSError:
            with suppress(OSError):  # a partly written file would stay
                self.delete(name)
            raise
        return name


def storages_of(bucket: Bucket | None, site: SiteFolder) -> dict[str, Values]:
    """Django's storages of submitted files, labels and files to download. Raises SiteError."""
    if bucket is None:
        modes = {"file_permissions_mode": PRIVATE_FILE, "directory_permissions_mode": PRIVATE_FOLDER}
        backend = f"{__name__}.{Folder.__name__}"
        options: dict[str, Values] = {part: {"location": str(getattr(site, part)), **modes} for part in PARTS}
    else:
        need("storages", "s3", STORAGE)
        backend = "storages.backends.s3.S3Storage"
        shared = {
            "bucket_name": bucket.name,
            "endpoint_url": bucket.endpoint,
            "region_name": bucket.region,
            "file_overwrite": False,
            "default_acl": None,
        }
        options = {}
        for part in PARTS:
            location = f"{bucket.prefix}/{part}" if bucket.prefix else part
            options[part] = {"location": location, **shared}
    return {part: {"BACKEND": backend, "OPTIONS": values} for part, values in options.items()}


_LANGUAGES = "admin/js/vendor/select2/i18n"
UNUSED = [
    "*.map",
    "redoc*",
    "LICENSE*",
    "README*",
    "jquery.js",
    "xregexp.js",
    f"{_LANGUAGES}/[!e]*",
    f"{_LANGUAGES}/e[!n]*",
]
"""Source maps, another documentation page, other languages, texts, scripts that are not minified."""


class StaticFiles(StaticFilesConfig):
    """Django's application, which collects no unused files."""

    ignore_patterns = StaticFilesConfig.ignore_patterns + UNUSED


def _without_source_maps(patterns: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for files, rules in patterns:
        yield files, tuple(rule for rule in rules if "sourceMappingURL" not in str(rule))


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names by content, compressed once; a reference to a map for debuggers is left as it is."""

    patterns = tuple(_without_source_maps(CompressedManifestStaticFilesStorage.patterns))
