"""The site functions of the command line. Django is imported inside, when a command needs it.

As a process, it prepares the site that the environment names, so that the supervisor stays small.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.leaderboard.apps.common.fields import FIELDS
from gluebench.leaderboard.keeping import folder as folders
from gluebench.leaderboard.keeping.folder import SiteError, SiteFolder
from gluebench.leaderboard.serving import checks
from gluebench.leaderboard.serving.checks import Check
from gluebench.leaderboard.serving.environment import require, site_address

if TYPE_CHECKING:
    from gluebench.leaderboard.apps.ledger.verify import Verification

PathLike = str | os.PathLike[str]


def init(folder: PathLike) -> SiteFolder:
    """Create a site in a new or empty folder, or bring an existing one up to date and keep its data.

    Raises SiteError if the folder holds something else.
    """
    site = folders.site_in(folder)
    site.create()
    checks.require(checks.examine(site))
    prepare(folder, change=True)
    from gluebench.leaderboard.keeping import integrity

    integrity.seal_inputs()
    return site


def prepare(folder: PathLike, *, change: bool, web: bool = True) -> None:
    """Check what a site must reach, and bring its database and static files up to date. Raises SiteError.

    Without `change`, a database that is behind is refused; without `web`, static files are left alone.
    """
    open_site(folder, ready=False)
    from gluebench.leaderboard.serving import health

    checks.require(health.examine())
    tables = health.pending()
    if not change or tables.fix == health.OTHER_VERSION:
        checks.require([tables])
    if not tables.ok:  # with nothing to do, `migrate` takes longer than this check
        migrate_database()
    if web:
        collect_static_files()


def migrate_database() -> None:
    """Bring the database of this process's site up to date. Raises SiteError."""
    from django.core.management import call_command
    from django.db import DatabaseError

    from gluebench.leaderboard.serving import health

    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise SiteError(
            f"The database could not be brought up to date: {error}. "
            "Each step is done whole or not at all: fix what stopped it, then run it again."
        ) from error
    checks.require([health.pending()])


def collect_static_files() -> None:
    """Bring the static files of this process's site up to date. Raises SiteError."""
    from django.core.management import call_command

    try:
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    except OSError as error:
        raise SiteError(
            f"The static files could not be written: {error}. Make room or give this account the right to "
            "write there, then run it again."
        ) from error


def add(
    folder: PathLike,
    manifest_name_or_path: str,
    gold_folder: PathLike | None,
    policy_file: PathLike | None = None,
    data_folder: PathLike | None = None,
) -> str:
    """Add a benchmark to a site, with a copy of its labels that only the grader opens; returns its name.

    Without a gold folder, a machine of the organizer grades (`gluebench leaderboard work`).

    Adding the same again changes nothing. A new manifest or new labels under the same name replace the old,
    and every submission is graded again. A policy replaces the old one, and a data folder the examples that
    anybody may download; without these, the old ones stay. Raises SiteError, ManifestError, PolicyError, or
    scoring's error about the labels.
    """
    open_site(folder)
    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
    from gluebench.leaderboard.apps.benchmarks.policy import read_policy
    from gluebench.leaderboard.apps.limits.acts import set_policy

    # Before anything is changed: the file may be wrong.
    policy = None if policy_file is None else read_policy(Path(policy_file))
    data = None if data_folder is None else Path(data_folder)
    gold = None if gold_folder is None else Path(gold_folder)
    name = add_benchmark(manifest_name_or_path, gold, data)
    if policy is not None:
        set_policy(name, policy)
    return name


def settle(folder: PathLike, benchmark: str, phase: str, reason: str) -> None:
    """Show the results of a phase although submissions wait to be graded. Raises SiteError."""
    open_site(folder)
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.common.problems import ProblemError
    from gluebench.leaderboard.apps.limits.phase_acts import settle_phase

    phases = {row.name: row for row in Benchmark.objects.get_by_name(benchmark).phases.all()}
    if phase not in phases:
        known = ", ".join(phases) or "none"
        raise SiteError(f"{benchmark} has no phase {phase!r}. It has: {known}.")
    try:
        settle_phase(phases[phase], None, reason)
    except ProblemError as error:
        raise SiteError(str(error)) from None


def serve(
    folder: PathLike,
    listen_at: tuple[str, int] | None,
    *,
    workers: int | None = None,
    change: bool = False,
    prepared: bool = False,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Run a site until SIGINT or SIGTERM; prints its address when it answers, then calls `ready` with it.

    `listen_at`: host and port; None runs workers only. `workers`: how many, if not as the environment says.
    `change` brings the database up to date; without it, one that is behind is refused. With `prepared`, the
    caller has just run `init`, whose checks are not repeated. Raises SiteError.
    """
    from gluebench.leaderboard.serving import supervisor

    running = require()
    if workers is not None:
        running = running._replace(workers=workers)
    site = folders.site_in(folder)
    site.require()

    def announce(url: str) -> None:
        what = f"{running.workers} workers grade for {site.root}"
        if url:
            _keep_address(site, url)
            what = f"The leaderboard is at {url}"
        print(f"{what} (stop it with Ctrl-C)", flush=True)
        ready(url)

    with supervisor.listen(*listen_at) if listen_at else nullcontext() as listening:
        if not prepared:
            supervisor.prepare(site, change=change, web=listen_at is not None)
        supervisor.run(site, listening, running, announce)


def _keep_address(site: SiteFolder, url: str) -> None:
    try:
        folders.write_private(site.address_file, url.encode())
    except OSError as error:  # as of a full disk, which must not stop a site
        print(f"Links will not begin with {url}: {error}.", file=sys.stderr, flush=True)


def address(folder: PathLike, url: str | None = None) -> str:
    """What links begin with, before their paths; `url` is how people reach the site, if that is given."""
    running = require()
    if url is None:
        return site_address(running, folders.site_in(folder))
    return url.rstrip("/").removesuffix(running.path)


def doctor(folder: PathLike, *, files: bool = False, reseal: bool = False) -> list[Check]:
    """Check all that a site needs: its folder, its services, and that its records were not edited.

    `files` compares every submitted file too; `reseal` first seals existing records, for a new secret key.
    """
    site = folders.site_in(folder)
    site.require()
    results = checks.examine(site)
    if any(check.name == "settings" and not check.ok for check in results):
        return results
    open_site(folder, ready=False)
    from gluebench.leaderboard.serving import health

    results += health.examine()
    results.append(health.mail())
    if all(check.ok for check in results if check.name == "database"):
        results.append(health.pending())
        if results[-1].ok:
            from gluebench.leaderboard.keeping import integrity

            if reseal:
                integrity.reseal()
            results += [health.queue(), health.roles()]
            results += integrity.examine(files=files)
    return results


def verify(
    source: str,
    checkpoint: PathLike | None = None,
    key: str | None = None,
    receipt: PathLike | None = None,
    *,
    recompute: bool = False,
) -> Verification:
    """Check a site, a frozen copy, an export or an address; or a receipt with its key. Raises SiteError."""
    from gluebench.leaderboard.apps.ledger import notes, verify

    result = verify.Verification()
    folder = Path(source)
    kept = ""
    if checkpoint:
        kept = Path(checkpoint).read_text(encoding="utf-8", errors="replace")
    try:
        known = notes.read_key(key) if key else None
    except notes.NoteError as error:
        raise SiteError(f"The key cannot be used: {error}.") from None
    if receipt:
        if known is None:
            raise SiteError(
                "A receipt is checked with a key. Add --key with the one of the site's page /ledger."
            )
        note = Path(receipt).read_text(encoding="utf-8", errors="replace")
        verify.verify_receipt(result, note, known)
    elif folder.is_file() and folder.suffix.casefold() == ".zip":
        raise SiteError(f"{source} is a zip. Unzip it, and check the folder that it makes.")
    elif folder.is_file():
        from gluebench.leaderboard.keeping import transfer

        facts = transfer.read_archive(source, key=key or "")
        result.checked.append(f"{source} is as it was signed with {facts['key']} on {facts['at']}.")
    elif "://" in source:
        verify.verify_ledger(result, verify.from_address(source), key=known, kept=kept)
    elif (folder / verify.SUMS).is_file():
        verify.verify_copy(result, folder, key=known, kept=kept, recompute=recompute)
    else:
        if folder.is_dir() and not folders.site_in(folder).key_file.is_file():
            raise _neither_site_nor_copy(folder, verify.SUMS)
        open_site(folder)
        from gluebench.leaderboard.keeping import integrity

        integrity.verify(result, key=known, kept=kept)
    return result


def _neither_site_nor_copy(folder: Path, sums: str) -> SiteError:
    message = f"{folder} is not a site, and there is no {sums} in it; a frozen copy has one."
    lists = sorted(folder.glob(f"*/{sums}"))
    if lists:
        message += f" Check {lists[0].parent}, which has one."
    return SiteError(message)


def submit_local(
    folder: PathLike,
    benchmark: str,
    user_email: str,
    zip_path: PathLike,
    *,
    model: str,
    name: str,
    public: bool = True,
    wait: bool = True,
    **more: Any,
) -> str:
    """Submit a file as the page would, grade it (without `wait`, leave that to a worker); return its key.

    `more`: other fields of the submission, by the names of `fields.FIELDS`.
    The account is made if there is none, without a password. For the same file under the same name,
    return the existing submission. Raises SiteError for an unknown benchmark or values the form refuses.
    """
    open_site(folder)
    from django.core.files import File

    from gluebench.leaderboard.apps.accounts.models import User, team_for
    from gluebench.leaderboard.apps.accounts.trust import has_confirmed_address
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.common.text import require_fields
    from gluebench.leaderboard.apps.submissions.grading import grade
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.uploads.accept import accept, digest

    details = {"model": model, "name": name, "public": public, **more}
    if unknown := details.keys() - FIELDS.keys() - {"public"}:
        raise TypeError(f"A submission has no such field: {', '.join(sorted(unknown))}.")
    row = Benchmark.objects.get_by_name(benchmark)
    owner = User.objects.filter(email=user_email).first() or User.objects.create_user(user_email)
    if owner.has_usable_password() and not has_confirmed_address(owner):
        raise SiteError(
            f"Whoever signed up as {user_email} has not confirmed that address. Confirm it first, or use "
            f"another one: gluebench leaderboard confirm {user_email}"
        )
    with Path(zip_path).open("rb") as opened:
        file = File(opened, name=Path(zip_path).name)
        sha256 = digest(file)
        if existing := row.submissions.filter(owner=owner, name=name, sha256=sha256).first():
            return existing.key
        team = team_for(owner.pk, row.pk)
        submission = Submission(owner=owner, group_id=team, benchmark=row, sha256=sha256, **details)
        require_fields(submission, details, what=f"The submission {name!r}")
        accept(submission, file, limited=False)
    if wait:  # at once, not by a worker that may not be running; the task in the queue will find it done
        grade(submission.pk)
    return submission.key


def open_site(folder: PathLike, *, ready: bool = True) -> None:
    """Set Django up on this site. One process works on one site. Raises SiteError.

    With `ready`, also if the database does not answer or is not up to date.
    """
    site = folders.site_in(folder)
    site.require()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
    import django
    from django.conf import settings

    if not settings.configured:  # this folder takes precedence over the environment's
        os.environ[folders.VARIABLE] = str(site.root)
    if site.root != settings.FOLDER.root:
        raise SiteError(f"This process already works on the site {settings.FOLDER.root}, not {site.root}.")
    django.setup()
    if ready:
        from gluebench.leaderboard.serving import health

        checks.require([health.pending()])


def main() -> int:
    """Prepare the site that the environment names."""
    from gluebench.leaderboard.serving.supervisor import AS_IT_IS, REFUSED, WITHOUT_WEB

    change = AS_IT_IS not in sys.argv
    web = WITHOUT_WEB not in sys.argv
    try:
        prepare(folders.from_environment().root, change=change, web=web)
    except SiteError as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
