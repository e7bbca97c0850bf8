"""Which database a site uses: SQLite in its folder, or the PostgreSQL whose address is given."""

from __future__ import annotations

from typing import Any

from gluebench.leaderboard.folder import SiteError, SiteFolder, need

CONNECT_SECONDS = 10

# Without IMMEDIATE and the wait, a third of concurrent uploads fail with "database is locked".
_SQLITE = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        # FULL: a submission that was answered outlasts a power cut.
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA mmap_size=134217728;"
        "PRAGMA journal_size_limit=27103364;PRAGMA cache_size=-20000;"
    ),
}


def of(address: str, site: SiteFolder) -> dict[str, Any]:
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

    found: dict[str, Any] = {**dj_database_url.parse(address, conn_max_age=None, conn_health_checks=True)}
    if not found["NAME"]:
        raise SiteError(
            "GLUEBENCH_DATABASE names no database. Write postgres://user:password@host:5432/database."
        )
    found["OPTIONS"] = {"connect_timeout": CONNECT_SECONDS, **found.get("OPTIONS", {})}
    return found
