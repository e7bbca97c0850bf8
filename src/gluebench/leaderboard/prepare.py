"""Checks what a site must reach and brings its database up to date: a process of its own, so that the
supervisor stays small. With `--as-it-is`, a database that is behind is refused instead of changed.
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
    try:
        _prepare(change="--as-it-is" not in sys.argv)
    except SiteError as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


def _prepare(*, change: bool) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from gluebench.leaderboard import checks, reach

    checks.insist(reach.examine())
    if not change:
        checks.insist([reach.pending()])
        return
    call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)


if __name__ == "__main__":
    sys.exit(main())
