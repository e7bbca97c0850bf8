"""`gluebench leaderboard`: the group and, once it is imported, its commands."""

from gluebench.cli.leaderboard import keeping, site
from gluebench.cli.leaderboard.group import leaderboard

__all__ = ["keeping", "leaderboard", "site"]
