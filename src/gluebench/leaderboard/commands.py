"""What the command line does with a site. Django is imported inside, when a command needs it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.leaderboard import folder as folders
from gluebench.leaderboard.environment import Running, require
from gluebench.leaderboard.folder import SiteError, SiteFolder

if TYPE_CHECKING:
    from gluebench.leaderboard.accounts.people import Link
    from gluebench.leaderboard.backups import Backup
    from gluebench.leaderboard.checks import Finding


def init(folder: str | os.PathLike[str]) -> SiteFolder:
    """Make a site in a new or empty folder; one that is there is brought up to date and keeps all it has.

    Raises SiteError if the folder holds something else.
    """
    from gluebench.leaderboard import checks
    from gluebench.leaderboard.accounts import pages
    from gluebench.leaderboard.prepare import prepare
    from gluebench.leaderboard.supervisor import collected

    site = folders.at(folder)
    site.create()
    pages.write_missing(site.root)
    checks.require(site)
    with collected(site):
        _open(folder, ready=False)
        prepare(change=True)
    return site


def add(
    folder: str | os.PathLike[str],
    manifest_name_or_path: str,
    gold_folder: str | os.PathLike[str],
    policy_file: str | os.PathLike[str] | None = None,
) -> str:
    """Take a benchmark into a site, with a copy of its labels that only the grader opens; returns its name.

    The same again changes nothing. Another manifest or other labels under the same name replace them, and
    every submission is graded anew. A policy replaces the one it has; without, it keeps that. Raises
    SiteError, ManifestError, PolicyError, or scoring's error about the labels.
    """
    _open(folder)
    from gluebench.leaderboard.benchmarks.adding import add_benchmark
    from gluebench.leaderboard.benchmarks.policy import read_policy

    if policy_file is not None:
        read_policy(Path(policy_file))  # before anything is changed
    name = add_benchmark(manifest_name_or_path, Path(gold_folder))
    if policy_file is not None:
        policy(folder, name, policy_file)
    return name


def policy(
    folder: str | os.PathLike[str],
    benchmark: str,
    file: str | os.PathLike[str] | None = None,
    changes: Mapping[str, str] | None = None,
) -> list[str]:
    """Change a benchmark's policy: all of it by a file, then single settings; returns it as lines of TOML.

    A change is in the site's log. Raises SiteError, or PolicyError with all that is wrong.
    """
    _open(folder)
    from gluebench.leaderboard.limits.settle import settle

    return settle(benchmark, None if file is None else Path(file), changes or {})


def serve(
    folder: str | os.PathLike[str], *, host: str = "127.0.0.1", port: int = 8000, open: bool = False
) -> None:
    """Run a site until SIGINT or SIGTERM; prints its address when it answers. Raises SiteError."""
    running = require()
    _run(folder, (host, port), running, change=True, open=open)


def web(folder: str | os.PathLike[str], *, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Run only a site's web processes, as `serve`; workers run elsewhere. Raises SiteError."""
    _run(folder, (host, port), require()._replace(workers=0), change=False)


def worker(folder: str | os.PathLike[str]) -> None:
    """Run only a site's workers until SIGINT or SIGTERM. Raises SiteError."""
    _run(folder, None, require(), change=False)


def doctor(folder: str | os.PathLike[str], *, files: bool = False, reseal: bool = False) -> list[Finding]:
    """Check all that a site needs: its folder, what it must reach, and that nobody edited what it wrote.

    `files` compares every submitted file too; `reseal` first seals what is there, for a new secret key.
    """
    from gluebench.leaderboard import checks

    site = folders.at(folder)
    site.require()
    found = checks.examine(site)
    if any(each.what == "settings" and not each.ok for each in found):
        return found
    _open(folder, ready=False)
    from gluebench.leaderboard import health

    found += [*health.examine(), health.mail()]
    if all(each.ok for each in found if each.what == "database"):
        found.append(health.pending())
        if found[-1].ok:
            from gluebench.leaderboard import integrity

            if reseal:
                integrity.reseal()
            found += [health.queue(), health.roles(), *integrity.examine(files=files)]
    return found


def backup(folder: str | os.PathLike[str], file: str | os.PathLike[str]) -> Backup:
    """Write all that a site is into one new archive, also while it serves. Raises SiteError."""
    _open(folder)
    from gluebench.leaderboard import backups

    return backups.take(Path(file))


def restore(folder: str | os.PathLike[str], file: str | os.PathLike[str], *, replace: bool = False) -> Backup:
    """Make a site from such an archive, in a new or empty folder. Raises SiteError."""
    from gluebench.leaderboard import backups

    site = folders.at(folder)
    return backups.restore(site, Path(file), lambda: _open(folder, ready=False), replace=replace)


def submit_local(
    folder: str | os.PathLike[str],
    benchmark: str,
    user_email: str,
    zip_path: str | os.PathLike[str],
    *,
    model: str,
    name: str,
    public: bool = True,
    **more: Any,
) -> str:
    """Submit a file as the page would, grade it, and return the key of its page.

    What more is said of it has the names of `fields.FIELDS`.
    The account is made if there is none, without a password. The same file under the same name again is
    the submission that is there. Raises SiteError for an unknown benchmark or for values the form refuses.
    """
    _open(folder)
    from gluebench.leaderboard.uploads.local import submit_file

    details = {"model": model, "name": name, "public": public, **more}
    return submit_file(benchmark, user_email, Path(zip_path), details=details)


def submitted_models(folder: str | os.PathLike[str], benchmark: str, user_email: str) -> frozenset[str]:
    """The models that an account has submitted to a benchmark. Raises SiteError."""
    _open(folder)
    from gluebench.leaderboard.submissions.models import Submission

    rows = Submission.objects.filter(benchmark__name=benchmark, owner__email=user_email)
    return frozenset(rows.values_list("model", flat=True))


def first_admin(folder: str | os.PathLike[str], email: str) -> str | None:
    """Make this account an admin if the site has none; returns its password then. Raises SiteError."""
    _open(folder)
    from gluebench.leaderboard.accounts import people

    return None if people.has_admin() else people.make_admin(email)


def make_admin(folder: str | os.PathLike[str], email: str, *, unconfirmed: bool = False) -> str:
    """Make this account an admin, and the account if there is none; returns its new random password.

    Its tokens, second factors and sessions end. Raises SiteError, also for an account whose address is not
    confirmed, unless `unconfirmed`.
    """
    _open(folder)
    from gluebench.leaderboard.accounts import people

    return people.make_admin(email, unconfirmed=unconfirmed)


def set_organiser(
    folder: str | os.PathLike[str],
    email: str,
    benchmark: str,
    *,
    remove: bool = False,
    unconfirmed: bool = False,
) -> None:
    """Let an account organise a benchmark, or no longer.

    A new role ends the account's tokens, second factors and sessions. Raises SiteError if either is
    unknown or, unless `unconfirmed`, if the address is not confirmed.
    """
    _open(folder)
    from gluebench.leaderboard.benchmarks import organisers

    organisers.set_organiser(email, benchmark, remove=remove, unconfirmed=unconfirmed)


def vouch(folder: str | os.PathLike[str], email: str) -> str:
    """Confirm an address for whoever gets the link that this returns; nobody else keeps the account.

    Makes the account if there is none. Raises SiteError.
    """
    _open(folder)
    from gluebench.leaderboard.accounts import people

    return people.vouch(email)


def pending_links(folder: str | os.PathLike[str]) -> Sequence[Link]:
    """A link for each address that nobody has confirmed. Raises SiteError."""
    _open(folder)
    from gluebench.leaderboard.accounts import people

    return people.pending_links()


def password_link(folder: str | os.PathLike[str], email: str) -> str:
    """Where an account gets a new password. Raises SiteError for an unknown one."""
    _open(folder)
    from gluebench.leaderboard.accounts import people

    return people.reset_path(people.account(email))


def _run(
    folder: str | os.PathLike[str],
    listen_at: tuple[str, int] | None,
    running: Running,
    *,
    change: bool,
    open: bool = False,
) -> None:
    from gluebench.leaderboard.supervisor import Address, listen, prepare, run

    site = folders.at(folder)
    site.require()

    def ready(address: Address | None) -> None:
        what = (
            f"The leaderboard is at {address.url}"
            if address
            else f"{running.workers} workers grade for {site.root}"
        )
        print(f"{what} (stop it with Ctrl-C)", flush=True)
        if open and address:
            import webbrowser

            webbrowser.open(address.url)

    with listen(*listen_at) if listen_at else nullcontext() as listening:
        prepare(site, change=change, web=listen_at is not None)
        counts = {"web": running.web, "workers": running.workers}
        run(site, listening, **counts, patience=running.stop_seconds, ready=ready)


def _open(folder: str | os.PathLike[str], *, ready: bool = True) -> None:
    """Set Django up on this site. One process works on one site. Raises SiteError.

    With `ready`, also where the database does not answer or is not up to date.
    """
    site = folders.at(folder)
    site.require()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
    import django
    from django.conf import settings

    if not settings.configured:  # what is named here goes before what the environment names
        os.environ[folders.VARIABLE] = str(site.root)
    if site.root != settings.FOLDER.root:
        raise SiteError(f"This process already works on the site {settings.FOLDER.root}, not {site.root}.")
    django.setup()
    if ready:
        from gluebench.leaderboard import checks, health

        checks.insist([health.pending()])
