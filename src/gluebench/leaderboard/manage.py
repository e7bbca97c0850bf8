"""Django's own commands on a site: GLUEBENCH_SITE=FOLDER python -m gluebench.leaderboard.manage COMMAND."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
