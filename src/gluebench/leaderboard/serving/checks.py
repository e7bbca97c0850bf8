"""Checks of settings and files on this machine, before a site is served. Imports no Django.

`health.py` checks the database, the storage and the mail server.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gluebench.leaderboard.keeping.folder import SiteError, SiteFolder
from gluebench.leaderboard.serving import environment

FREE_BYTES = 200 * 1024**2
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph", "lustre")


class Check(NamedTuple):
    """The result of one check: a state and, if it fails, how to fix it."""

    name: str
    state: str
    fix: str = ""

    @property
    def ok(self) -> bool:
        """Whether the check passes."""
        return not self.fix


def require(checks: Iterable[Check]) -> None:
    """Raise SiteError with each check that fails."""
    failures = [f"{check.name}: {check.state} {check.fix}" for check in checks if not check.ok]
    if failures:
        raise SiteError("\n".join(failures))


def examine(site: SiteFolder) -> list[Check]:
    """Run all checks that need no Django."""
    running, problems = environment.read()
    hosts = ", ".join(running.hosts) or "this machine only"
    scheme = "https" if running.https else "http"
    summary = (
        f"{scheme} for {hosts}{running.path}; {running.web} web and {running.workers} worker processes; "
        f"uploads to {running.upload_mb} MB, grading to {running.grading_seconds} s, {running.grading_mb} MB."
    )
    results = [Check("settings", problem, "See docs/how-to/deploy.md.") for problem in problems]
    if not problems:
        results.append(Check("settings", summary))
    results.append(_check_key(site, running.key))
    results += _check_privacy(site)
    results += _check_folders(site)
    results += [disk(site), _check_file_system(site, running)]
    return results


def _check_key(site: SiteFolder, given: str) -> Check:
    if given:
        return Check("secret key", "from the environment.")
    weak = environment.weakness(site.secret_key().strip())
    if not weak:
        return Check("secret key", f"from {site.key_file}.")
    fix = f"Write a new one, after which everybody signs in anew: {environment.NEW_KEY} > {site.key_file}"
    return Check("secret key", f"The key in {site.key_file} {weak}.", fix)


def _check_privacy(site: SiteFolder) -> list[Check]:
    """Check the folder and each of its parts, so that a part that is moved or shared later stays closed."""
    parts = {
        "folder": [site.root],
        "labels": [site.labels] + sorted(site.labels.rglob("*")),
        "submissions": [site.submissions],
        "uploads": [site.uploads],
        "mail": [site.mail],
        "key file": [site.key_file],
        "database": site.database_files,
    }
    failures = []
    for name, paths in parts.items():
        for path in paths:
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0
            if mode & stat.S_IRWXO:
                state = f"Everybody on this machine may use {path} (mode {mode:o})."
                closed = f"{paths[0]}*" if name == "database" else paths[0]
                failures.append(Check(name, state, f"Run: chmod -R o= {closed}"))
                break
    return failures or [Check("privacy", f"{site.root} and what is in it is closed to others.")]


def _check_folders(site: SiteFolder) -> Iterator[Check]:
    for path in (site.submissions, site.labels, site.uploads):
        if not path.is_dir():
            state = f"{path} is not there." if not path.exists() else f"{path} is not a folder."
            yield Check(path.name, state, f"Run: gluebench leaderboard init --site {site.root}")
        elif not os.access(path, os.W_OK | os.X_OK):
            state = f"This account may not write into {path}."
            yield Check(path.name, state, "Give it the folder: chown -R ACCOUNT …")


def uploads(site: SiteFolder) -> Check:
    """Whether the folder of uploads on their way in may be written."""
    return next(
        (each for each in _check_folders(site) if each.name == "uploads"), Check("uploads", "writable.")
    )


def disk(site: SiteFolder) -> Check:
    """Whether there is room for uploads and the database."""
    free = shutil.disk_usage(site.uploads if site.uploads.is_dir() else site.root).free
    state = f"{free / 1024**3:.1f} GB free for {site.root}."
    return Check("disk", state, "" if free > FREE_BYTES else "Make room: at least 200 MB are needed.")


def _check_file_system(site: SiteFolder, running: environment.RunSettings) -> Check:
    """Refuse network file systems for SQLite: its write-ahead log needs shared memory."""
    if running.database:
        return Check("database place", "another program's.")
    kind = ""
    with suppress(OSError):  # only Linux has this file
        mounts = [line.split()[1:3] for line in Path("/proc/self/mounts").read_text().splitlines()]
        over = [(len(point), kind) for point, kind in mounts if site.root.is_relative_to(point)]
        kind = max(over)[1] if over else ""
    if kind in _NETWORK:
        state = f"{site.root} is on a network file system ({kind}), where SQLite loses data."
        return Check("database place", state, "Move the site to a local disk, or set GLUEBENCH_DATABASE.")
    return Check("database place", f"{site.database.name} on a local disk ({kind or 'kind unknown'}).")
