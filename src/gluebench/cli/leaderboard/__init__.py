"""`gluebench leaderboard`: the group and, once it is imported, its commands."""

from gluebench.cli.leaderboard import accounts, keeping, site
from gluebench.cli.leaderboard.group import leaderboard

__all__ = ["accounts", "keeping", "leaderboard", "site"]
