"""What must be right before a site is served, as far as this machine's files tell. Imports no Django.

`health.py` looks further: at the database, the storage and the mail server.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from gluebench.leaderboard import environment
from gluebench.leaderboard.folder import SiteError, SiteFolder

FREE_BYTES = 200 * 1024**2
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph", "lustre")


class Check(NamedTuple):
    """One thing looked at: its state and, where that will not do, how to fix it."""

    what: str
    state: str
    fix: str = ""

    @property
    def ok(self) -> bool:
        """Whether it will do."""
        return not self.fix


def require(checks: Iterable[Check]) -> None:
    """Raise SiteError with each check that fails."""
    failures = [f"{check.what}: {check.state} {check.fix}" for check in checks if not check.ok]
    if failures:
        raise SiteError("\n".join(failures))


def examine(site: SiteFolder) -> list[Check]:
    """All that can be seen without Django."""
    running, problems = environment.read()
    hosts = ", ".join(running.hosts) or "this machine only"
    scheme = "https" if running.https else "http"
    summary = f"{scheme} for {hosts}; {running.web} web and {running.workers} worker processes."
    return [
        *(Check("settings", problem, "See docs/how-to/deploy.md.") for problem in problems),
        *[Check("settings", summary)] * (not problems),
        _key(site, running.key),
        *_private(site),
        *_writable(site),
        disk(site),
        _place(site, running),
    ]


def _key(site: SiteFolder, given: str) -> Check:
    if given:
        return Check("secret key", "from the environment.")
    weak = environment.weakness(site.secret_key().strip())
    if not weak:
        return Check("secret key", f"from {site.key_file}.")
    fix = f"Write a new one, after which everybody signs in anew: {environment.NEW_KEY} > {site.key_file}"
    return Check("secret key", f"The key in {site.key_file} {weak}.", fix)


def _private(site: SiteFolder) -> list[Check]:
    """The folder and what is in it, each by itself: a folder that is moved or shared later stays closed."""
    parts = {
        "folder": [site.root],
        "labels": [site.labels, *sorted(site.labels.rglob("*"))],
        "submissions": [site.submissions],
        "uploads": [site.uploads],
        "mail": [site.mail],
        "key file": [site.key_file],
        "database": site.database_files,
    }
    failures = []
    for what, paths in parts.items():
        path = next((path for path in paths if path.exists() and _mode(path) & stat.S_IRWXO), None)
        if path:
            state = f"Everybody on this machine may use {path} (mode {_mode(path):o})."
            fix = f"Run: chmod -R o= {paths[0]}{'*' * (what == 'database')}"
            failures.append(Check(what, state, fix))
    return failures or [Check("privacy", f"{site.root} and what is in it is closed to others.")]


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _writable(site: SiteFolder) -> Iterator[Check]:
    for path in (site.submissions, site.labels, site.uploads):
        if not path.is_dir():
            state = f"{path} is not there." if not path.exists() else f"{path} is no folder."
            yield Check(path.name, state, f"Run: gluebench leaderboard init --site {site.root}")
        elif not os.access(path, os.W_OK | os.X_OK):
            state = f"This account may not write into {path}."
            yield Check(path.name, state, "Give it the folder: chown -R ACCOUNT …")


def disk(site: SiteFolder) -> Check:
    """Whether there is room for uploads and the database."""
    free = shutil.disk_usage(site.uploads if site.uploads.is_dir() else site.root).free
    state = f"{free / 1024**3:.1f} GB free for {site.root}."
    return Check("disk", state, "" if free > FREE_BYTES else "Make room: at least 200 MB are needed.")


def _place(site: SiteFolder, running: environment.Running) -> Check:
    """SQLite's write-ahead log needs shared memory, which network file systems do not give."""
    if running.database:
        return Check("database place", "another program's.")
    kind = _file_system(site.root)
    if kind in _NETWORK:
        return Check(
            "database place",
            f"{site.root} is on a network file system ({kind}), where SQLite loses data.",
            "Move the site to a local disk, or set GLUEBENCH_DATABASE.",
        )
    return Check("database place", f"{site.database.name} on a local disk ({kind or 'kind unknown'}).")


def _file_system(path: Path) -> str:
    """The kind of file system a path is on, where the system says (Linux)."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return ""
    mounts = [(parts[1], parts[2]) for parts in map(str.split, lines)]
    over = [(len(point), kind) for point, kind in mounts if path.is_relative_to(point)]
    return max(over)[1] if over else ""
