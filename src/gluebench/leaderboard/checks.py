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


class Finding(NamedTuple):
    """One thing looked at: what was found and, where that will not do, how to mend it."""

    what: str
    found: str
    mend: str = ""

    @property
    def ok(self) -> bool:
        """Whether it will do."""
        return not self.mend


def require(site: SiteFolder) -> None:
    """Raise SiteError with everything that keeps a site from being served."""
    insist(examine(site))


def insist(findings: Iterable[Finding]) -> None:
    """Raise SiteError with each finding that will not do."""
    bad = [f"{each.what}: {each.found} {each.mend}" for each in findings if not each.ok]
    if bad:
        raise SiteError("\n".join(bad))


def examine(site: SiteFolder) -> list[Finding]:
    """All that can be seen without Django."""
    running, problems = environment.read()
    findings = [Finding("settings", problem, "See docs/deploy.md.") for problem in problems]
    if not problems:
        findings.append(Finding("settings", _told(running)))
    return [
        *findings,
        _key(site, running.key),
        *_private(site),
        *_writable(site),
        disk(site),
        _place(site, running),
    ]


def _told(running: environment.Running) -> str:
    reached = ", ".join(running.hosts) or "this machine only"
    scheme = "https" if running.https else "http"
    return f"{scheme} for {reached}; {running.web} web and {running.workers} worker processes."


def _key(site: SiteFolder, given: str) -> Finding:
    if given:
        return Finding("secret key", "from the environment.")
    weak = environment.weakness(site.secret_key().strip())
    if weak:
        return Finding(
            "secret key",
            f"The key in {site.key_file} {weak}.",
            f"Write a new one, after which everybody signs in anew: {environment.NEW_KEY} > {site.key_file}",
        )
    return Finding("secret key", f"from {site.key_file}.")


def _private(site: SiteFolder) -> Iterator[Finding]:
    """The folder and what is in it, each by itself: a folder that is moved or shared later stays closed."""
    bad = False
    for what, path in {
        "folder": site.root,
        "labels": site.labels,
        "submissions": site.submissions,
        "uploads": site.uploads,
        "mail": site.mail,
        "key file": site.key_file,
        "database": site.database,
    }.items():
        inside = sorted(path.rglob("*")) if path == site.labels else []
        inside += site.database_files if path == site.database else []
        opened = next(
            (each for each in (path, *inside) if each.exists() and _mode(each) & stat.S_IRWXO), None
        )
        if opened:
            bad = True
            told = f"Everybody on this machine may use {opened} (mode {_mode(opened):o})."
            yield Finding(what, told, f"Run: chmod -R o= {path}{'*' * (path == site.database)}")
    if not bad:
        yield Finding("privacy", f"{site.root} and what is in it is closed to others.")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _writable(site: SiteFolder) -> Iterator[Finding]:
    for what, path in {
        "submissions": site.submissions,
        "labels": site.labels,
        "uploads": site.uploads,
    }.items():
        if not path.is_dir():
            where = f"{path} is not there." if not path.exists() else f"{path} is no folder."
            yield Finding(what, where, f"Run: gluebench leaderboard init --site {site.root}")
        elif not os.access(path, os.W_OK | os.X_OK):
            yield Finding(
                what, f"This account may not write into {path}.", "Give it the folder: chown -R ACCOUNT …"
            )


def disk(site: SiteFolder) -> Finding:
    """Whether there is room for uploads and the database."""
    free = shutil.disk_usage(site.uploads if site.uploads.is_dir() else site.root).free
    told = f"{free / 1024**3:.1f} GB free for {site.root}."
    return Finding("disk", told, "" if free > FREE_BYTES else "Make room: at least 200 MB are needed.")


def _place(site: SiteFolder, running: environment.Running) -> Finding:
    """SQLite's write-ahead log needs shared memory, which network file systems do not give."""
    if running.database:
        return Finding("database place", "another program's.")
    kind = _file_system(site.root)
    if kind in _NETWORK:
        return Finding(
            "database place",
            f"{site.root} is on a network file system ({kind}), where SQLite loses data.",
            "Move the site to a local disk, or set GLUEBENCH_DATABASE.",
        )
    return Finding("database place", f"{site.database.name} on a local disk ({kind or 'kind unknown'}).")


def _file_system(path: Path) -> str:
    """The kind of file system a path is on, where the system says (Linux)."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return ""
    mounts = [(parts[1], parts[2]) for parts in map(str.split, lines)]
    over = [(len(point), kind) for point, kind in mounts if path.is_relative_to(point)]
    return max(over)[1] if over else ""
