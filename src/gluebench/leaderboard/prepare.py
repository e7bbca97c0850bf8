"""Checks what a site must reach and brings its database up to date. To serve a site, that is a process of its
own, so that the supervisor stays small; there `--as-it-is` refuses a database that is behind.
"""

from __future__ import annotations

import os
import sys

from gluebench.leaderboard.folder import SiteError

REFUSED = 3
"""Exit status when the organiser has something to mend; standard error says what."""


def main() -> int:
    """Prepare the site that the environment names."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
    import django

    try:
        django.setup()
        prepare(change="--as-it-is" not in sys.argv)
    except SiteError as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


def prepare(*, change: bool) -> None:
    """Prepare the site that Django is set up on. Raises SiteError."""
    from django.core.management import call_command
    from django.db import DatabaseError

    from gluebench.leaderboard import checks, health

    checks.insist(health.examine())
    tables = health.pending()
    if not change:
        checks.insist([tables])
    if tables.ok:  # with nothing to do, `migrate` takes longer than to ask
        return
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise SiteError(
            f"The database could not be brought up to date: {error}. "
            "Each step is done whole or not at all: mend what stopped it, then run it again."
        ) from error
    from gluebench.leaderboard.submissions.feedback import round_earlier

    round_earlier()


if __name__ == "__main__":
    sys.exit(main())
